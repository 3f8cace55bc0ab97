"""The stages of a job, in order: admission (admission.py, sites.py), then reading, embedding and saving (pipeline.py).
completion.py has the task that goes through them, and the ways in which it ends.
"""
