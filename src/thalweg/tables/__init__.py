"""Files in, numbers out: tables read for linear problems and networks, and how, remembered.

`read.py` is the way in; `encoding.py` does to later data what was done to the first.
"""
