"""What surrounds an article without the page saying so: menus, banners, forms.

What the page itself marks as such is already left out while it is parsed.
"""

import re
from collections.abc import Iterator
from itertools import islice

from index_store.parsing.loaders.html.tree.boilerplate import HEADER
from index_store.parsing.loaders.html.tree.node import BLOCKS, Holds, Node

LINK_SHARE = 0.8
"""share of a block's text in links; above it, the block is a menu or a table of contents"""
MENU_LINKS = 4
"""links that make a menu: fewer may be an answer"""
ASIDE_AT_MOST = 0.5
"""share of a page's text; if menus and the like hold more, they are the page's purpose and stay"""
TEXT = 80
"""characters outside links; above it, a block without paragraphs is a text all the same"""
WORDS = 50
"""tags of a heading whose words are read"""
FORM_LENGTH = 300
"""characters of a form's labels; above it, the form is the page's text with fields in it"""
PROSE = 200
"""characters outside links; above it, a block is no row of buttons: some themes name the text and its buttons together
"""

_MENUS = frozenset({"ul", "ol", "dl", "div", "table", "aside", "section", "p"})
_ASIDE = re.compile(
    r"cookies?(consent|banner|bar|notice|popup|alert)([-_][\w-]*)?"
    r"|(cookie|gdpr|consent)s?([-_](?!polic)[\w-]*)?|\w{1,40}[-_]cookie([-_][\w-]*)?"
    r"|(social|share|sharing|sns)([-_]?(bar|buttons?|links?|icons?|list|media|this|tools?|post|block|box|area))?"
    r"|(social|post|page|article|sns)[-_](share|sharing|buttons)|addtoany\w*|sharedaddy"
    r"|ads?|adsbygoogle|ad[-_](?!hoc|accounts?|polic)\w[\w-]*|advert(isement)?s?|banner[-_]?ads?|sponsored"
    r"|newsletter([-_](signup|form|box))?|related[-_]?(posts?|articles?)|pagination|pager"
    r"|(?!(with|has|no)[-_])(\w{1,40}[-_])?(bread[-_]?crumbs?|pankuzu|topic[-_]?path)([-_]?list|[-_][\w-]*)?"
    r"|toc|toc[-_]macro|table[-_]of[-_]contents|navbox|page-metadata|likes-and-labels-container"
    r"|prev-next-(area|footer)|tocsection|theme-doc-footer"  # of themes of Sphinx, and Docusaurus
    r"|article[-_](votes|relatives|sidebar|more[-_]questions|return[-_]to[-_]top)|recent[-_]?(posts?|articles?)"
    r"|(site|page|global|tmp)?[-_]?footer([-_]?(area|inner|wrap(per)?|box))?|colophon|respond|comment-?respond|comment-?form"
)
"""classes and ids of what surrounds an article"""
_RATING = re.compile(
    r"(was|is|did) this( (page|article|information|answer|content|topic|document|guide|post))?\b"
    r".{0,20}\b(help|useful|answer)"
    r"|did you find (this|what|it)\b.{0,30}\b(help|useful|looking for)"
    r"|この(ペ[ー－]ジ|記事|情報|回答|内容|faq).{0,15}(役に立|参考にな|見つけやす|わかりやす|分かりやす|解決)"
    r"|より良い(ウェブサイト|ホ[ー－]ムペ[ー－]ジ|サイト|サ[ー－]ビス).{0,20}(ご意見|感想|評価)",
    re.I,
)
"""how a box begins in which readers say what they think of the page"""
_SUBJECTS = frozenset({"share", "sharing", "social", "sns"})
"""those of them that a text may be about"""
_NEVER = frozenset({"html", "body", "main", "article", "thead", "tbody", "tfoot", "tr", "td", "th"})
_ARTICLES = frozenset({"main", "article", "blockquote"})
"""tags whose footers are a part of the text"""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MENU = re.compile(
    r"(^|[-_])((g|global|local|side|sub|page|post|site)?(nav|navi|navigation|menus?)|side-?bar|breadcrumbs?|tags?"
    r"|categor(y|ies)|related|recommend(ed|ations?)?|popular|recent|ranking|shar(e|ing)|social|sns|follow|pager"
    r"|pagination|index|widgets?|footer|header)([-_]|$)"
)
"""classes and ids of menus that may stand directly behind a text, and of what is beside it"""
_BESIDE = frozenset({"aside", "header", "footer"})
_ELSEWHERE = re.compile(
    r"関連|あわせて|合わせて|おすすめ|オススメ|お勧め|人気|最新|最近|新着|次に読む|前後の|カテゴリ|タグ|目次|もくじ|ランキング|アーカイブ"
    r"|メニュー|シェア|分享|我要分享|サイトマップ|外部リンク|リンク集"
    r"|(you (may|might) )?(also|related|recommended|recent|popular|trending|latest|most|more|see also)\b"
    r"|(read (also|more|next)|further reading|external links|references|next|previous|share|follow|tags?"
    r"|categor(y|ies)|archives?|topics|filed|(table of )?contents|(on|in) this (page|site|article)|menu|navigation"
    r"|links)\b",
    re.I,
)
"""how a heading begins whose links lead to other texts"""


def drop_asides(root: Node) -> None:
    """Removes them from the tree."""
    asides = list(_asides(root))
    if sum(aside.length for _, aside in asides) < ASIDE_AT_MOST * root.length:
        gone = {id(aside) for _, aside in asides}
        for parent in {id(parent): parent for parent, _ in asides}.values():
            parent.children = [child for child in parent.children if id(child) not in gone]
    _drop_buttons_of_menus(root)


def _drop_buttons_of_menus(root: Node) -> None:
    """A button stays as the title of what it unfolds; the menus are no longer there."""
    unfolded = {node.attributes["id"] for node in root.nodes() if node.length and "id" in node.attributes}
    for node in root.nodes():
        controlled = node.attributes.get("aria-controls", "").split()
        if node.tag == "button" and controlled and unfolded.isdisjoint(controlled):
            node.children = []


def _asides(root: Node) -> Iterator[tuple[Node, Node]]:
    """Each with its parent."""
    is_main = root.tag in _ARTICLES or root.attributes.get("role") == "main"
    stack = [(root, is_main, False, False)]
    while stack:
        node, is_in_article, is_announced, is_beside = stack.pop()
        is_in_article = is_in_article or node.tag in _ARTICLES
        before: Node | str = ""
        for child in node.children:
            if isinstance(child, str):
                before = before if child.isspace() else child
                continue
            if before:
                is_text = is_main or _has_text(node) or _is_of_documents(child)
                is_announced = is_text and _announces(before)
            is_menu = is_beside or child.tag in _BESIDE or any(_MENU.search(name) for name in child.purposes)
            is_read = not _is_of_links(child) or (not is_menu and (is_announced or _is_headed_of_documents(child)))
            if _is_aside(child, is_in_article) or not is_read:
                before, is_announced = "", False
                yield node, child
                continue
            stack.append((child, is_in_article, is_announced, is_menu))
            before = child if child.length or child.tag == "hr" else before


def _has_text(node: Node) -> bool:
    """Whether it has paragraphs, or, as in old pages, a text without them."""
    return node.holds & Holds.TEXT > 0 or node.length - node.link_length > TEXT


def _is_of_links(node: Node) -> bool:
    return node.tag in _MENUS and node.links >= MENU_LINKS and node.link_length > LINK_SHARE * node.length


def _is_of_documents(node: Node) -> bool:
    return node.documents > node.links / 2


def _is_headed_of_documents(node: Node) -> bool:
    """Whether it has documents below a heading of its own, such as the forms that a city hall offers below a text."""
    tags = (tag for tag in islice(node.nodes(), WORDS) if tag.tag == "a" or tag.tag in _HEADINGS)
    first = next(tags, node) if _is_of_documents(node) else node
    return first.tag in _HEADINGS and _announces(first)


def _announces(node: Node | str) -> bool:
    """Whether a list of links behind it belongs to the text: it is a heading or a paragraph."""
    if isinstance(node, str):
        return True
    while True:
        inner = [child for child in node.children if isinstance(child, Node) or not child.isspace()]
        if len(inner) != 1 or isinstance(inner[0], str) or not inner[0].holds & Holds.BLOCK:
            break
        node = inner[0]
    is_paragraph = not any(isinstance(child, Node) and child.holds & Holds.BLOCK for child in inner)
    is_of_links = node.link_length > LINK_SHARE * node.length
    return node.length > 0 and is_paragraph and not is_of_links and not _ELSEWHERE.match(_first_words(node))


def _first_words(node: Node) -> str:
    words = " ".join(part for tag in islice(node.nodes(), WORDS) for part in tag.children if isinstance(part, str))
    return " ".join(words.split())


def _is_aside(node: Node, is_in_article: bool) -> bool:
    if node.tag not in BLOCKS or node.tag in _NEVER:
        return False
    is_form = node.holds & Holds.CONTROL and node.length < FORM_LENGTH
    if is_form and _RATING.match(_first_words(node)):
        return True
    if is_form and node.tag == "form":
        return not node.holds & (Holds.HEADING | Holds.TABLE | Holds.CODE)
    names = {name for name in _names(node) if _ASIDE.fullmatch(name)}
    if node.tag == "footer":
        # That of an article has its author, its date or its notes.
        return bool(names - {"footer"}) if is_in_article else not node.holds & Holds.TITLE
    if node.tag == "div" and not is_in_article and HEADER.fullmatch(node.attributes.get("id", "")):
        return not node.holds & (Holds.TITLE | Holds.TEXT)
    has_only_text = not node.links and not node.holds & Holds.CONTROL
    is_prose = node.holds & Holds.TEXT and (has_only_text or node.length - node.link_length > PROSE)
    return bool(names - _SUBJECTS if is_prose else names)


def _names(node: Node) -> set[str]:
    """Its purposes; for a div with a heading, an id of a single word is the anchor of a section."""
    first = next((child for child in node.children if isinstance(child, Node)), None)
    anchor = node.attributes.get("id", "").lower()
    is_section = node.tag == "div" and first is not None and first.tag in _HEADINGS and anchor.isalpha()
    return node.purposes - {anchor} if is_section else node.purposes
