"""What people are told of an error that ends a job, or the work on a document."""

import logging

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import IndexStoreError, PlainError, StoreFailed

log = logging.getLogger(__name__)


def as_plain_error(error: Exception, what: str, name: str) -> PlainError:
    """The same error with a sentence for people: a thread that ends without one keeps somebody waiting for ever.

    Logs what the sentence does not tell: how a disk or a database failed, and a bug of ours with its traceback.
    `what`: what failed, for the log. `name`: the index or document, as people know it.
    """
    if isinstance(error, PlainError):
        return error
    if isinstance(error, (OSError, SQLAlchemyError)):
        log.warning("%s: %s", what, error)
        return StoreFailed(name=name)
    log.error(what, exc_info=error)
    return IndexStoreError(what=type(error).__name__)
