"""The one line that a model was told to write, without what it wrote around it."""

_DECORATION = " 　\"'“”「」『』*"
_INTRODUCES = (":", "：")
"""ends of a line that introduces the next one, as in 'Here is the query:'"""


def written_line(reply: str) -> str:
    """Empty if there is none."""
    lines = ((line, line.strip(_DECORATION)) for line in reply.splitlines())
    return next((bare for line, bare in lines if line.strip() and not bare.endswith(_INTRODUCES)), "")
