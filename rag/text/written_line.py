"""The one line that a model was told to write, without what it wrote around it."""

import json
import re

from rag.text.surrogates import whole_characters

_DECORATION = " 　\"'“”「」『』*`"
_INTRODUCES = (":", "：")
"""ends of a line that introduces the next one, as in 'Here is the query:'"""
_INTRODUCTION = re.compile(r"(?:(?:sure|certainly|of course|okay|here)\b|はい|承知|もちろん|以下).*[.!。！]", re.I)
"""a whole line that does the same: 'Sure! Here is a better query.'"""
_LABEL = re.compile(
    r"(?:(?:(?:standalone|rewritten|revised|improved|better|new|search|web) ){0,3}(?:query|question)"
    r"|(?:(?:書き直した|新しい|改善した)?(?:質問|(?:検索)?クエリー?)|検索[語文]))\**\s*+[:：]",
    re.IGNORECASE,
)
_FENCE = "```"


def written_line(reply: str) -> str:
    """Empty if there is none."""
    written = [line for line in reply.splitlines() if not line.lstrip().startswith(_FENCE)]
    if (value := _only_string("\n".join(written))) is not None:
        written = value.splitlines()
    lines = [bare for line in written if (bare := _bare(line))]
    if len(lines) > 1 and _INTRODUCTION.fullmatch(lines[0]):
        lines.pop(0)
    return lines[0] if lines else ""


def _bare(line: str) -> str:
    """Empty if the line only introduces the next one."""
    bare = line.strip(_DECORATION)
    if bare.endswith(_INTRODUCES):
        return ""
    label = _LABEL.match(bare)
    return bare[label.end() :].strip(_DECORATION) if label else bare


def _only_string(reply: str) -> str | None:
    """The only string of a JSON object; empty if it has none or several. None if `reply` is no JSON object."""
    try:
        value = json.loads(reply) if reply.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    strings = [each for each in value.values() if isinstance(each, str)]
    return whole_characters(strings[0]) if len(strings) == 1 else ""
