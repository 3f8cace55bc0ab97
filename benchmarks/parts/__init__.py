"""What several benchmarks use.

child.py          work in another process
clustered.py      a substitute for an embedding model
fixed_speed.py    a chat service that takes the same time for every call
machine.py        the machine, for the last line of a report, and used processor time and memory
recombined.py     any number of documents, made of real sentences
settings.py       settings of a benchmark that asks the environment's chat model
tab.py            one tab of a browser, as the server sees it
"""
