"""The setup for several machines at 100,000 and 1,000,000 chunks, with 1, 20 and 100 people: one subject per module.

python -m benchmarks.scale --help
"""
