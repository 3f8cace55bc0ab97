"""The one line that a model was told to write, without what it wrote around it."""

import json
import re

from rag.text.reply.surrogates import whole_characters

_DECORATION = " 　*`"
_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"), ("『", "』"))
_BULLET = re.compile(r"^\s*+(?:[-*•>#]++\s++|・|\d{1,2}[.)]\s++)")
_TAG = re.compile(r"</?(?:[a-z]+[ _-]){0,3}(?:query|question)>", re.IGNORECASE)
_INTRODUCES = (":", "：")
"""ends of a line that introduces the next one, as in 'Here is the query:'"""
_INTRODUCTION = re.compile(r"(?:(?:sure|certainly|of course|okay|here)\b|はい|承知|もちろん|以下).*[.!。！]", re.I)
"""a whole line that does the same: 'Sure! Here is a better query.'"""
_LABEL = re.compile(
    r"(?:(?:(?:sure|certainly|of course|okay)[,!.]? )?(?:here(?: i|['’])s|this is) (?:(?:the|a|an|your|one) )?)?"
    r"(?:(?:(?:the|standalone|rewritten|revised|improved|better|new|search|web) ){0,3}(?:query|question)(?: is)?"
    r"|(?:はい、)?(?:以下|こちら)が[^\s:：、。「」]{1,12}です"
    r"|(?:[^\s:：、。「」]{1,9}(?:た|後の)|新しい|(?:より)?[良よ]い|Web ?|スタンドアロンの)?"
    r"(?:質問文?|(?:検索)?クエリー?|検索(?:キーワード|語句|[語文])))\**\s*+[:：]",
    re.IGNORECASE,
)
_FENCE = "```"


def written_line(reply: str) -> str:
    """Empty if there is none."""
    written = [line for line in reply.splitlines() if not line.lstrip().startswith(_FENCE)]
    if (value := _string_in_json("\n".join(written))) is not None:
        written = value.splitlines()
    lines = [bare for line in written if (bare := _bare(line))]
    if len(lines) > 1 and (_INTRODUCTION.fullmatch(lines[0]) or _is_label(lines[0])):
        lines.pop(0)
    return lines[0] if lines else ""


def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(f"{text}:") is not None


def _bare(line: str) -> str:
    """Empty if the line only introduces the next one."""
    bare = _unquoted(_BULLET.sub("", _TAG.sub("", line)))
    if bare.endswith(_INTRODUCES):
        return ""
    label = _LABEL.match(bare)
    return _unquoted(bare[label.end() :]) if label else bare


def _unquoted(line: str) -> str:
    """Signs inside stay: 「年休」と「有給」の違い is not quoted as a whole."""
    bare = line.strip().strip(_DECORATION)
    for opening, closing in _QUOTES:
        inner = bare[1:-1]
        if bare.startswith(opening) and bare.endswith(closing) and not {opening, closing} & set(inner):
            return _unquoted(inner)
    return bare


def _string_in_json(reply: str) -> str | None:
    """The only string of a JSON object, or the only one whose name is a label; empty if there is none, or several.
    None if `reply` is no JSON object.
    """
    try:
        value = json.loads(reply) if reply.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    strings = {name.replace("_", " "): each for name, each in value.items() if isinstance(each, str)}
    named = [each for name, each in strings.items() if _is_label(name)]
    found = list(strings.values()) if len(strings) == 1 else named
    return whole_characters(found[0]) if len(found) == 1 else ""
