"""Linear problems: `facts` of the data, the penalty and a run; `symptoms`, which judge them."""
