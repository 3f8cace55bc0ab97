"""What a data folder keeps, taken from its folder to servers (Postgres, Chroma's), or back.

    move         the whole of it
        databases    which databases there are: the catalogue, and those of packages that stand on this one
            catalogue    tables and full text
            tables       rows of a database, table by table
        plan         what is where, and what is to go where
        errors

Each part makes the target like the origin, whatever of it is there already: so a move that was killed goes on when it
is asked for again. What then makes the target the backend in use is a single rename (library/switch.py). Why so:
docs/decisions/growing.md.
"""
