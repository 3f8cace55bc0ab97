"""An index and its documents, as several parts of the pages name them; which index is picked, and who may add to it."""
