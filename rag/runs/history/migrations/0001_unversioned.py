"""A history of before there were versions: its tables are those of this one."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing but the version is new."""
