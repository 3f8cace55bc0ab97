"""The typed events of a run. Pages, command line, history and benchmarks know a run only by these.

    run_started, (step_started, token*, step_finished, decision?)*, run_finished

Steps that run side by side interleave; `step` and `attempt` tell them apart. Events carry data, never words for a
person: whoever shows them finds the words in the reader's language.
"""
