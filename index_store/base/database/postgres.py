"""Databases as schemas of one Postgres database, which DATABASE_URL names.

Modules that import psycopg, such as this one, are imported only if that setting is set.
"""

import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    ExceptionContext,
    NullPool,
    Table,
    collate,
    create_engine,
    event,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, SQLAlchemyError

from index_store.base import errors
from index_store.base.database.advisory_locks import ALONE, CHANGING, MIGRATING, OWNING, USING
from index_store.base.database.backend import LOCK_SECONDS, MOVING, as_json, normalized
from index_store.base.database.pools import close_at_its_end

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10
"""after which a server counts as away"""

_KEEPALIVES = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3}
"""of TCP, in seconds and tries: either side notices within 20 s that the other machine is gone. Without them, the
server would hold the locks of a machine that lost its power for two hours."""

_UNANSWERED = 20_000
"""milliseconds that the app's machine waits for a machine that receives nothing any more"""

_SCHEMA = "rag_schema"
"""execution option of an engine: the name of its schema"""

OWN_SECONDS = 3
"""that a start waits for the process before it"""

CHECK_SECONDS = 0.1
"""seconds between checks whether that process has ended"""

_REFUSALS = (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.InsufficientPrivilege)
"""of a standby, and of a database that was restored for another account"""

_WRONG_VALUE = "connection is bad: invalid "
"""how psycopg begins to tell of a parameter of the address, such as sslmode, whose value does not exist"""

CHANGE_SECONDS = 600
"""that one of these processes waits for the others: the full text of a large index takes minutes"""


class ConnectionLost(errors.DatabaseAway, OperationalError):
    """DatabaseAway for people, which is also a driver's error for code. So catch DatabaseAway before PlainError and
    SQLAlchemyError: otherwise the order of these two decides.
    """

    def __init__(self, fault: BaseException) -> None:
        OperationalError.__init__(self, None, None, fault, hide_parameters=True)
        self.details = {}
        self.args = (self.sentence("en"),)

    @property
    def code(self) -> str:  # type: ignore[override]
        return errors.DatabaseAway().code

    def __str__(self) -> str:
        return self.sentence("en")


class Refused(errors.DatabaseRefuses, ConnectionLost):
    """The same for a server that answers, and does not let the app work."""

    def __init__(self, fault: psycopg.Error) -> None:
        OperationalError.__init__(self, None, None, fault, hide_parameters=True)
        self.details = {"reason": fault.diag.message_primary or str(fault).strip()}
        self.args = (self.sentence("en"),)

    @property
    def code(self) -> str:  # type: ignore[override]
        return errors.DatabaseRefuses(**self.details).code


class PostgresSchema:
    """`url`: the value of DATABASE_URL; `name`: of the schema, letters and _ only."""

    def __init__(self, url: str, name: str) -> None:
        self._url = driver_url(url)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def within(self) -> str:
        return self._url.set(query={}).render_as_string(hide_password=True)

    def exists(self) -> bool:
        return True

    def connect(self) -> Engine:
        engine = _engine(self._url, self._name, pool_pre_ping=True)
        event.listen(engine, "connect", self._say_that_it_is_used)
        return engine

    def _say_that_it_is_used(self, connection: psycopg.Connection[Any], _record: object) -> None:
        connection.execute("SELECT pg_advisory_lock_shared(%s, hashtext(%s))", (USING, self._name))
        connection.commit()

    def for_migration(self) -> Engine:
        return _engine(self._url, self._name, poolclass=NullPool)

    def begin_migration(self, connection: Connection) -> None:
        connection.execute(func.pg_advisory_xact_lock(MIGRATING))
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            en, ja = "a database whose encoding is UTF8", "文字コードが UTF8 のデータベース"
            raise errors.InvalidSetting(variable="DATABASE_URL", allowed_en=en, allowed_ja=ja)
        there = connection.exec_driver_sql("SELECT to_regnamespace(%s)", (self._name,)).scalar()
        if there is None:
            if not connection.exec_driver_sql("SELECT has_database_privilege(current_database(), 'CREATE')").scalar():
                en, ja = "of an account that may make schemas", "スキーマを作成できるアカウントのもの"
                raise errors.InvalidSetting(variable="DATABASE_URL", allowed_en=en, allowed_ja=ja)
            connection.exec_driver_sql(f"CREATE SCHEMA {self._name}")
            connection.exec_driver_sql(f"COMMENT ON SCHEMA {self._name} IS '{uuid.uuid4().hex}'")

    def wait_until_unused(self, connection: Connection) -> None:
        until = time.monotonic() + OWN_SECONDS
        # Tried again and again: while this waited for the lock, a process with the schema open could not connect.
        asked = "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))"
        while not connection.exec_driver_sql(asked, (USING, self._name)).scalar_one():
            if time.monotonic() > until:
                raise errors.OlderVersionRuns()
            time.sleep(CHECK_SECONDS)

    def claim(self, identity: str, *, moving: bool) -> None:
        with self.for_migration().begin() as connection:
            there = connection.exec_driver_sql("SELECT to_regnamespace(%s)", (self._name,)).scalar()
            if there is None:
                self.begin_migration(connection)
            elif POSTGRES.identity_within(connection) not in (identity, f"{MOVING} {identity}"):
                raise errors.SchemaTaken(place=self.within, name=self._name)
            noted = f"{MOVING} {identity}" if moving else identity
            connection.exec_driver_sql(f"COMMENT ON SCHEMA {self._name} IS '{noted}'")

    def keep(self, version: str | None) -> None:
        """Does nothing: Postgres undoes a failed migration, and its administrator makes copies."""
        log.warning("The schema %s of version %s is updated to the current version", self._name, version or "0000")

    def drop_kept(self) -> None:
        """Does nothing: there are none."""


def driver_url(url: str) -> URL:
    """The URL with psycopg 3 as its driver."""
    return make_url(url).set(drivername="postgresql+psycopg")


def conninfo(url: URL) -> str:
    """The same for psycopg itself. Not the URL as a text: SQLAlchemy writes a space of a password or a path so that
    libpq refuses it, quoting the password, or reads a +; and of several hosts it writes the last one.
    """
    _, arguments = url.get_dialect()().create_connect_args(url)
    return make_conninfo(**arguments)


def session(schema: str, *, wait: float = LOCK_SECONDS) -> dict[str, Any]:
    """Arguments of psycopg for a connection to the tables of the schema. `wait`: seconds that it waits for a writer."""
    options = f"-c search_path={schema} -c lock_timeout={int(wait * 1000)} -c timezone=UTC -c jit=off"
    of_server = "".join(f" -c tcp_{name}={value}" for name, value in _KEEPALIVES.items())
    return {
        **_KEEPALIVES,
        "tcp_user_timeout": _UNANSWERED,
        "options": options + of_server,
        "client_encoding": "utf8",
        "connect_timeout": CONNECT_SECONDS,
        "application_name": f"rag {schema}",
    }


def _engine(url: URL, schema: str, *, wait: float = LOCK_SECONDS, **more: Any) -> Engine:
    # Hidden: people's questions and documents' texts must not get into a log.
    engine = create_engine(
        url,
        connect_args=session(schema, wait=wait),
        execution_options={_SCHEMA: schema},
        json_serializer=as_json,
        hide_parameters=True,
        **more,
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "handle_error", _tell)
    close_at_its_end(engine)
    return engine


def _set_up(connection: psycopg.Connection[Any], _record: object) -> None:
    connection.adapters.register_dumper(str, _Text)


def _without_nul(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text


class _Text(StrDumperUnknown):
    """Replaces NUL, which documents and questions may hold and Postgres can't store. Offsets into the text don't
    change.
    """

    def dump(self, obj: str) -> Any:
        return super().dump(_without_nul(obj))


def _tell(context: ExceptionContext) -> None:
    if context.is_pre_ping:
        return  # another connection is tried
    fault = context.original_exception
    is_lost = isinstance(fault, psycopg.OperationalError) and (context.connection is None or context.is_disconnect)
    if is_lost and not str(fault).startswith(_WRONG_VALUE):
        log.warning("The database can't be reached: %s", fault)
        raise ConnectionLost(fault)
    # Without a connection, psycopg itself refuses the address, for example because of an unknown parameter or value.
    if isinstance(fault, _REFUSALS) or (context.connection is None and isinstance(fault, psycopg.Error)):
        raise Refused(fault)
    if isinstance(fault, psycopg.Error) and fault.diag.message_detail and context.sqlalchemy_exception:
        # The detail quotes the row that was being written.
        context.sqlalchemy_exception.args = (f"({type(fault).__name__}) {fault.diag.message_primary}",)
        fault.args = (fault.diag.message_primary,)


class _Postgres:
    """See DatabaseBackend."""

    def begin_exclusive(self, connection: Connection) -> None:
        connection.execute(func.pg_advisory_xact_lock(ALONE))

    def begin_reading(self, connection: Connection) -> None:
        if not connection.in_transaction():
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def put(self, connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        made = insert(table)
        key = table.primary_key.columns
        others = {name: made.excluded[name] for name in rows[0] if name not in key}
        if others:
            connection.execute(made.on_conflict_do_update(index_elements=key, set_=others), rows)
        else:
            connection.execute(made.on_conflict_do_nothing(index_elements=key), rows)

    def ignore_references(self, connection: Connection) -> None:
        """Does nothing: here, a row that is replaced is never gone."""

    def stored(self, text: str) -> str:
        return _without_nul(text)

    def add(self, connection: Connection, table: Table, row: Mapping[str, Any], sums: Sequence[str]) -> None:
        made = insert(table).values(**row)
        more = {name: table.c[name] + made.excluded[name] for name in sums}
        connection.execute(made.on_conflict_do_update(index_elements=table.primary_key.columns, set_=more))

    def folded(self, text: ColumnElement[str]) -> ColumnElement[str]:
        return func.lower(collate(text, "C"))

    def holds(self, text: ColumnElement[str], word: str) -> ColumnElement[bool]:
        # ICU's, because the C library's folds only ASCII in a database of the locale C.
        compatible = collate(func.normalize(text, literal_column("NFKC")), "und-x-icu")
        return func.lower(compatible).contains(normalized(word), autoescape=True)

    def impatient(self, database: Engine) -> Engine:
        return _engine(
            database.url, database.get_execution_options()[_SCHEMA], wait=0.001, pool_pre_ping=True, pool_size=1
        )

    def faults(self, database: Engine) -> str | None:
        return None

    def is_damaged(self, error: DatabaseError) -> bool:
        """Always False: its administrator must be told, and nothing can be set aside."""
        return False

    def clear_log(self, database: Engine) -> bool:
        """Nothing to do for the app: WAL and its copies belong to the server's administrator."""
        return True

    def give_space_back(self, database: Engine) -> None:
        """Does nothing: autovacuum does it."""

    def own(self, database: Engine) -> Connection | None:
        connection = database.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            # The server may need a moment to notice that a killed process is gone.
            connection.exec_driver_sql(f"SET lock_timeout = '{OWN_SECONDS}s'")
            connection.execute(func.pg_advisory_lock(OWNING))
        except OperationalError as error:
            connection.close()
            if isinstance(error, ConnectionLost):
                raise
            raise errors.DatabaseInUse() from error
        return connection

    def numbers(self, database: Engine, above: int) -> Iterator[int]:
        with database.begin() as connection:
            connection.execute(func.pg_advisory_xact_lock(MIGRATING))
            connection.exec_driver_sql("CREATE SEQUENCE IF NOT EXISTS revisions")
            # `above` is only higher if it is from before the sequence existed, so no number is given twice or lost. A
            # new sequence says that its last value is 1, and gives it next.
            connection.exec_driver_sql(
                "SELECT setval('revisions', %s) FROM revisions"
                " WHERE last_value < %s OR (last_value = %s AND NOT is_called)",
                (above, above, above),
            )
        return self._numbers(database)

    def _numbers(self, database: Engine) -> Iterator[int]:
        while True:
            with database.begin() as connection:
                number = connection.exec_driver_sql("SELECT nextval('revisions')").scalar_one()
            yield int(number)

    def go_on_numbering(self, connection: Connection, table: Table) -> None:
        column = table.autoincrement_column
        if column is not None:
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            last = func.max(column)
            connection.execute(select(func.setval(sequence, func.coalesce(last, 1), last.is_not(None))))

    def identity(self, database: Engine) -> str | None:
        with database.connect() as connection:
            return self.identity_within(connection)

    def identity_within(self, connection: Connection) -> str | None:
        found = connection.exec_driver_sql("SELECT obj_description(current_schema()::regnamespace)").scalar()
        return None if found is None else str(found)


class SharedChanges:
    """See ChangeLock. An advisory lock with its own connection: Postgres releases it when the process dies."""

    def __init__(self, database: Engine) -> None:
        self._database = database
        self._connection: Connection | None = None

    @contextmanager
    def held(self, *, exclusive: bool) -> Iterator[None]:
        kind = "" if exclusive else "_shared"
        connection = self._lock(f"SELECT pg_advisory_lock{kind}({CHANGING})")
        try:
            yield
        finally:
            try:
                if self._connection is connection:
                    connection.exec_driver_sql(f"SELECT pg_advisory_unlock{kind}({CHANGING})")
            except SQLAlchemyError as error:
                # The lock has ended with its connection.
                log.warning("The lock for changes was lost: %s", error)
                self.close()

    def _lock(self, statement: str) -> Connection:
        if self._connection:
            try:
                self._connection.exec_driver_sql(statement)
            except ConnectionLost:
                self.close()  # the server may have been restarted
            except DBAPIError as error:
                if not error.connection_invalidated:  # such as a wait that took too long
                    raise
                self.close()
            else:
                return self._connection
        connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()
        self._connection = connection
        try:
            connection.exec_driver_sql(f"SET lock_timeout = '{CHANGE_SECONDS}s'")
            connection.exec_driver_sql(statement)
        except SQLAlchemyError:
            self.close()
            raise
        return connection

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            with suppress(SQLAlchemyError):
                connection.close()


POSTGRES = _Postgres()
