"""The parts of the Compare page: its form, its columns, and the differences."""
