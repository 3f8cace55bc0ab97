"""`python -m index_store add | list | search | people | audit | backup ...`: the index store from the command line.

With --json it prints one object per line, each at once. The exit status is 0 only if everything went well.
"""

import argparse
from collections.abc import Sequence

from index_store.access import commands as access
from index_store.base.command_line.commands import Commands, Output, drop_output, write_utf8
from index_store.base.command_line.interrupts import INTERRUPTED
from index_store.base.command_line.language import language_of_environment
from index_store.base.command_line.terminal import write_log
from index_store.base.errors import PlainError
from index_store.store import commands as store
from index_store.transfer import commands as transfer


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    write_utf8()
    write_log()
    out = Output(options.json, options.language or language_of_environment())
    try:
        all_well = options.run(options, out)
    except PlainError as error:
        out.refusal(error)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()  # its reader has ended
        return 1
    return 0 if all_well else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m index_store", description="Store documents and search them.")
    commands = Commands(parser)
    store.add_to(commands)
    transfer.add_to(commands)
    access.add_to(commands)
    return parser
