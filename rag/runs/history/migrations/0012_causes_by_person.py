"""Only causes as what a person has set. After a switch of language, the Runs page stored a text of its own there, and
could not show the run, nor the list with it, from then on.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

CAUSES = ("none", "no_document", "not_found", "graded_away", "misread", "refused_rightly")


def upgrade() -> None:
    runs = sa.table("runs", sa.column("cause_by_person"))
    op.execute(runs.update().where(runs.c.cause_by_person.not_in(CAUSES)).values(cause_by_person=None))
