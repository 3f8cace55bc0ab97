"""The stages of a job, one after the other: admission (files; sites), then those of pipeline.py: reading, embedding and
saving. `completion.py` has the task that goes through them, and the ways in which it ends.
"""
