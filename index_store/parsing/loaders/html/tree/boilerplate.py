"""What of a page is not its text, such as navigation and what is hidden: told by tags, roles, classes and words."""

import re
from collections.abc import Sequence
from itertools import islice

from index_store.parsing.loaders.html.tree.node import Holds, Node

DROPPED = frozenset({
    "script", "style", "noscript", "noframes", "template", "nav", "svg", "iframe", "select", "input", "textarea",
    "annotation", "annotation-xml",  # a formula's source, next to the formula
    "audio", "canvas", "video",  # their text is for browsers that can't show them
    "del",  # as a tracked deletion of a Word document
    "rt", "rp", "rtc",  # readings above kanji, which would double the text
})  # fmt: skip
ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "menu", "menubar", "doc-toc", "dialog", "alertdialog"}
)
SPOKEN = frozenset({"sr-only", "visually-hidden"})
"""classes of what only screen readers say"""
CLASSES = frozenset({
    "headerlink", "anchor-link", "mw-editsection", "mw-jump-link", "skip-link", "skip-to-content", "breadcrumb",
    "breadcrumbs", "navheader", "navfooter", "navbar", "skip-links", "mw-cite-backlink", "printfooter", "catlinks",
    "sitesub", *SPOKEN,
})  # fmt: skip
LINE_NUMBERS = frozenset({"linenos", "lineno", "line-numbers", "line-numbers-rows", "gutter"})
"""classes of line numbers beside code; also of code that has them, and of columns of a page"""
HEADER = re.compile("(site|global|top|tmp)?[-_]?header([-_]?(area|inner|wrap(per)?|box))?", re.I)
"""ids of what is at the top of each page of a site; an element header may be of the page alone"""
_PERMALINKS = frozenset("¶#§🔗⚓")
_JUMP = re.compile(
    r"(skip|jump) to( the)?( main| page| action| quick| header)? (content|navigation|menu|breadcrumbs|search)"
    r"|skip (main )?navigation|((back |return )?to( the)?|page) top( of( the| this)? page)?"
    r"|((この|ページの?|画面の?){0,2}(本文|(メイン)?コンテンツ|(共通|サイド)?メニュー|ナビゲーション|フッター|先頭|トップ|top|一番上|上部)"
    r"(へ|に|まで|を)(スキップ|移動|ジャンプ|戻る|もどる|飛ばす)?(します|する)?|ページの?(トップ|先頭|top)|pagetop)。?",
    re.I,
)
"""words of a link to the text or to the top of the same page"""
_ARROWS = " ▲△↑⇑∧^"
JUMP_LENGTH = 40
"""characters of such a link at most"""
_FROM_NOTE = frozenset({"footnote-backref", "footnote-back"})
"""classes of a link from a note back to what refers to it"""

_FOLDED = re.compile(
    r"accordi?on|collaps|tab-?(panel|pane|content)|(^|[-_])(tabs?|faqs?|qa|toggle|answers?|panel)([-_]|$)", re.I
)
"""classes and ids of content that a click opens: hidden, but it is the answer for which the page exists"""
FOLDS = 4
"""levels above hidden content up to which such a name counts"""
_SHOWN_LATER = re.compile(r"(^|[-_])(wow|aos|fade-?in\w*|reveal|(read)?more|expand(ed|able)?|spoiler)([-_]|$)", re.I)
"""its own classes if it is shown as the reader scrolls, or reads on"""
_HIDDEN = re.compile(r"(?<![\w-])(display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_UNFOLDING = re.compile(
    r"accordi?on|collapsible|(^|[-_])(faqs?|qa|question|toggle[-_]?(title|head(er)?)|tab-?links?)([-_]|$)", re.I
)
"""classes of a button that unfolds a text, or shows one of several, without saying so"""
_WHOLE = frozenset({"html", "body", "main"})


def is_boilerplate(node: Node, around: Sequence[Node], *, in_title: bool, in_section: bool) -> bool:
    """`around`: the open tags, outermost first. `in_section`: in one that has its own header or footer."""
    if node.tag in DROPPED:
        return True
    if node.tag == "button" and not in_title and not _unfolds(node):
        return True
    if not node.attributes and node.tag != "header":
        return False
    is_hidden = "hidden" in node.attributes or _HIDDEN.search(node.attributes.get("style", ""))
    # A page may hide itself until its script has run.
    if is_hidden and node.tag not in _WHOLE and not _is_folded(node, around):
        return True
    if node.attributes.get("role", "").lower() in ROLES:
        return True
    if node.tag == "a" and in_title and node.length == 1 and _is_permalink(node):
        return True
    if node.tag == "a" and node.attributes.get("href", "").startswith("#") and _is_jump(node):
        return True
    if node.tag == "header" and not in_section:
        # The page's own header or footer. If it holds the title or the text, it stays.
        return not node.holds & (Holds.TITLE | Holds.TEXT)
    if node.tag == "sup" and "reference" in node.names:
        return True
    if node.tag in _WHOLE:
        return False
    is_number = not node.holds & Holds.WORDS and not node.purposes.isdisjoint(LINE_NUMBERS)
    return is_number or not node.purposes.isdisjoint(CLASSES)


def _is_folded(node: Node, around: Sequence[Node]) -> bool:
    if node.attributes.get("hidden") == "until-found" or node.holds & Holds.SHOWN:
        return True
    if node.tag == "dd":  # below its term, or its question
        return True
    if any(_SHOWN_LATER.search(name) for name in node.names):
        return True
    is_panel = node.attributes.get("role", "").lower() == "tabpanel"
    tags = (node, *around[-FOLDS:])
    return is_panel or any(_FOLDED.search(name) for tag in tags if tag.tag != "body" for name in tag.names)


def _is_permalink(link: Node) -> bool:
    """Whether it is the sign beside a heading that leads to the heading itself."""
    sign = "".join(child for child in link.children if isinstance(child, str)).strip()
    return sign in _PERMALINKS and link.attributes.get("href", "").startswith("#")


def _is_jump(link: Node) -> bool:
    """Whether a link on the page itself leads to its text or its top, or from a note back to what refers to it."""
    if link.attributes.get("role") == "doc-backlink" or not link.names.isdisjoint(_FROM_NOTE):
        return True
    if not 0 < link.length <= JUMP_LENGTH:
        return False
    parts = (part for tag in islice(link.nodes(), JUMP_LENGTH) for part in tag.children if isinstance(part, str))
    return bool(_JUMP.fullmatch(" ".join("".join(parts).split()).strip(_ARROWS)))


def _unfolds(button: Node) -> bool:
    """Whether the button shows content of the page, not a menu over it."""
    is_disclosure = (
        not {"aria-controls", "aria-expanded"}.isdisjoint(button.attributes)
        or button.attributes.get("role", "").lower() == "tab"
        or any(map(_UNFOLDING.search, button.attributes.get("class", "").split()))
    )
    return is_disclosure and button.attributes.get("aria-haspopup", "false") == "false"
