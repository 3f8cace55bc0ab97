"""People who ask, upload and delete at the same time, each through a UserEngine, with a model of fixed cost.

__main__.py    one person alone, then all of them; the checks after it; the report
person.py      what one person does, and which faults they find
watch.py       memory and threads of the process during the run
"""
