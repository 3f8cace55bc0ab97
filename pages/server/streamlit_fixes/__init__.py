"""What is different here in Streamlit's own server."""

from pages.server.streamlit_fixes import messages, reruns, shutdown, speed


def apply() -> None:
    """Call it once, before the server starts."""
    for fixes in (messages, reruns, shutdown, speed):
        fixes.apply()
