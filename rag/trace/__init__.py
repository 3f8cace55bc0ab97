"""The typed events of a run. Pages, command line, history and benchmarks know a run only by these.

    run_started, (step_started, token*, step_finished, decision?)*, run_finished

Events of parallel steps are mixed; `step` and `attempt` distinguish them. Events contain data, no texts for people:
pages and command line have the texts, in the reader's language.
"""
