"""Office files: Word, PowerPoint and Excel by their XML, and RTF."""
