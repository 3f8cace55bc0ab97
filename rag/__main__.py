"""`python -m rag`. Its commands are in commands.py."""

from index_store.base import collector

if __name__ == "__main__":
    with collector.resting():
        from rag.commands import main
    collector.leave(main())
