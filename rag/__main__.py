"""`python -m rag`. Its commands are in commands.py."""

from index_store.base.command_line import collector
from index_store.base.command_line.interrupts import ending_at_once

if __name__ == "__main__":
    with ending_at_once(), collector.resting():
        from rag.commands import main
    collector.leave(main())
