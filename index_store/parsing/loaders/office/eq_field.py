r"""Fields of Office files that draw text: characters in a circle, `EQ \o\ac(○,秘)`, and readings above words."""

import re

_START = re.compile(r"\s*EQ\s", re.I)
_OVERLAY = re.compile(r"\\o(?:\\a[lcrd])?\s*\(", re.I)
_PIECE = re.compile(
    r"\\[a-z]{1,2}\s*-?\d*\s*|\\(?P<escaped>[^a-z])|(?P<mark>[(),;])|(?P<text>[^\\(),;]+)|\\\Z", re.I | re.S
)


def shown(instruction: str) -> str:
    """What of a field's instruction stands in the text: the last of the texts that are drawn over each other.

    The first is the circle, or the reading. Other fields store what they show.
    """
    overlay = _OVERLAY.search(instruction) if _START.match(instruction) else None
    if overlay is None:
        return ""
    depth = 1
    found: list[str] = []
    for piece in _PIECE.finditer(instruction, overlay.end()):
        match piece["mark"]:
            case "(":
                depth += 1
            case ")":
                depth -= 1
                if not depth:
                    return "".join(found).strip()
            case "," | ";" if depth == 1:
                found.clear()
            case _:
                found.append(piece["escaped"] or piece["text"] or piece["mark"] or "")
    return ""
