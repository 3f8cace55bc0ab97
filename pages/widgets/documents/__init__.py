"""The parts of the Documents page, and the forms to add documents."""
