"""Networks: instruments around a training, facts, symptoms, remedies and their proof.

instruments   what looks at a network while it trains
watch         all of it around a loop, in two lines
facts         numbers about data, loss and outcome, and how the training went
symptoms      facts, judged: one question a file
remedies      changes of a recipe, by cause
treatment     remedies tried as paired experiments, and proved
"""
