"""Moves the data of a data folder from its folder to servers (Postgres, Chroma), or back.

    move         the whole move
        databases    which databases there are: the catalogue, and those of packages that use this one
            catalogue    tables and full text
            tables       rows of a database, table by table
        plan         where the data is, and where it goes
        errors

Each part makes the target equal to the origin, whatever the target already has: so a killed move continues when it is
called again. Then a single rename puts the target in use (library/switch.py). The reasons are in
docs/decisions/data/growing.md.
"""
