"""The history before versions were recorded. Its tables are the first version's."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Only the version number is new."""
