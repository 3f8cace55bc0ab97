"""The numbers of all advisory locks that the app takes on Postgres, in one list, so that no two are the same."""

OWNING = 7_310_418
"""of the one app that changes catalogue, vectors and originals together; replicas share it"""
ALONE = 7_310_419
"""for changes of people and grants"""
MIGRATING = 7_310_420
"""for creating and migrating tables"""
CHANGING = 7_310_421
"""for changes of catalogue, vectors or originals, if there are several processes"""
MAKING_QUEUE = 7_310_422
"""held while the queue's tables are created or migrated"""
USING = 7_310_423
"""first half of the lock of a process that has a schema open; while it is held, nobody migrates the schema"""
REPLICA = 7_310_424
"""first half of a replica's lock; its number is the other half"""
HELD = 7_310_425
"""first half of the lock of `Replica.hold`"""
ARRIVING = 7_310_426
"""held while checkpoints are copied for a run that is not saved yet"""
