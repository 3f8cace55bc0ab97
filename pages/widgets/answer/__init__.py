"""An answer as people read it, in the chat, a comparison or an export. Entry point: `answer.py`."""
