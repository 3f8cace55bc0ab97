"""People who ask, upload and delete at once, each through a UserEngine of their own, before a model of fixed cost.

__main__.py    one person alone, then all of them; what is looked at after it; the report
person.py      what one person does, and what they find amiss
watch.py       memory and threads of the process meanwhile
"""
