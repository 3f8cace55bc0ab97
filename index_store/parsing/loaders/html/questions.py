"""Questions above their answers in a list (`<dt>`), that unfold them (`<summary>`), or whose class says what they are:
each becomes a heading.
"""

import re
from collections import defaultdict

from index_store.parsing.loaders.document import HEADING_LENGTH
from index_store.parsing.loaders.html.tree.node import Holds, Node

FEWEST = 3
"""titles of a kind, such as all `<dt>` of lists of one class"""
ASKED = 0.6
"""share of them that are questions; in others, such as lists of terms, a title is part of its text"""
LISTS = 20
"""around a title, at most"""

_TITLES = frozenset({"dt", "summary"})
_LISTS = frozenset({"ul", "ol", "li"})
_HEADING = re.compile("h[1-6]")
_QUESTION = re.compile(
    r"[?？]|か[。.]?[+＋−▼∨>＞\s]*$|^(?:how|what|when|where|who|why|which|can|do|does|is|are)\b", re.I
)
"""perhaps with a sign that shows whether it is unfolded"""
_NAMED = re.compile(
    r"(^|[-_])(q|question|accordion[-_]{1,2}(title|ttl|head|header|label|trigger|button|btn))([-_]|$)", re.I
)
"""classes of a question, or of what unfolds a text"""
_WHOLE = re.compile(r"[^。]*([?？]|か[。.]?)[+＋−▼∨>＞\s]*")
"""a question without its answer: such a class may be of both"""
_MARK = re.compile(r"\s*[QＱ][.．]?\s?\d{0,3}[.．:：]?")
"""in a tag of its own, for which a style sheet leaves a space"""


def name_questions(root: Node) -> None:
    """They stand a level below the heading above them, and within the answer of another a level below that."""
    titles: dict[tuple[str, str], list[tuple[Node, int, list[Node]]]] = defaultdict(list)
    """tag, and class of the tag around it -> each title with its level, and the lists in which it is an entry"""
    level = 1
    stack: list[tuple[Node, str, int, list[Node]]] = [(root, "", 0, [])]
    while stack:
        node, parent, answers, lists = stack.pop()
        if not answers and _HEADING.fullmatch(node.tag):
            level = int(node.tag[1])
        if _is_title(node):
            # A summary is itself in the tag that it unfolds.
            outer = answers - (node.tag == "summary")
            titles[node.tag, parent].append((node, min(level + 1 + max(outer, 0), 6), lists))
            continue
        if node.tag in ("table", "pre") or _HEADING.fullmatch(node.tag):
            continue
        answers += node.tag in ("dd", "details")
        lists = [*lists, node] if node.tag in _LISTS and len(lists) < LISTS else lists
        name = node.attributes.get("class", "")
        stack += [(child, name, answers, lists) for child in reversed(node.children) if isinstance(child, Node)]
    for found in titles.values():
        asked = sum(_is_question(title) for title, _, _ in found)
        if len(found) >= FEWEST and asked >= ASKED * len(found):
            for title, its_level, lists in found:
                _make_heading(title, its_level)
                for entry in lists:
                    entry.tag = "div"


def _is_title(node: Node) -> bool:
    if node.holds & Holds.HEADING or not 0 < node.length <= HEADING_LENGTH:
        return False
    return node.tag in _TITLES or any(map(_NAMED.search, node.attributes.get("class", "").split()))


def _is_question(title: Node) -> bool:
    words = "".join(_texts(title)).strip()
    return bool(_QUESTION.search(words) if title.tag in _TITLES else _WHOLE.fullmatch(words))


def _make_heading(title: Node, level: int) -> None:
    first, *more = _texts(title) or [""]
    if more and _MARK.fullmatch(first):
        title.children = [first.strip(), " ", *more]
    title.tag, title.holds = f"h{level}", title.holds | Holds.BLOCK


def _texts(title: Node) -> list[str]:
    """All of them, in order."""
    texts: list[str] = []
    stack: list[Node | str] = [title]
    while stack:
        part = stack.pop()
        if isinstance(part, Node):
            stack += reversed(part.children)
        elif not part.isspace():
            texts.append(part)
    return texts
