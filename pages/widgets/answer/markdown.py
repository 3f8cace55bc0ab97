"""The Markdown of an answer as HTML. Reasons: docs/decisions/pages/markdown-of-answers.md"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from unicodedata import east_asian_width

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.tasklists import tasklists_plugin

from pages.widgets.answer.copying import copy_button
from pages.widgets.answer.formulae import with_formulae
from pages.widgets.answer.nested_lists import move_nested_lists
from pages.widgets.answer.wide_rows import with_wide_rows
from rag.text.citations import MARKER


def _text(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, buttons: dict[str, str]) -> str:
    """Plain text with its markers as buttons. Other tokens stay as they are, so code keeps its [1]."""
    return MARKER.sub(lambda marker: buttons.get(marker[1], marker[0]), escape(tokens[at].content))


def _link_open(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    """Starts the words of a link: not as a link, but with the address as a tooltip."""
    return f'<span class="address" title="{escape(str(tokens[at].attrGet("href") or ""))}">'


def _link_close(*_: object) -> str:
    return "</span>"


def _code(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    return f'<div class="code">{copy_button("chat.copy")}<pre><code>{escape(tokens[at].content)}</code></pre></div>'


_ADDRESS = re.compile(r"https?:|mailto:|#|\.{0,2}/|[^?#:]*\.[a-z]{2,5}(?:[?#]|\Z)", re.IGNORECASE)
"""of a link, as answers repeat them from documents: of a site, of a person, in the document itself, or of a file"""


class _Markdown(MarkdownIt):
    def __init__(self) -> None:
        """A line of the answer stays a line, as in a list with ・, which is none in Markdown."""
        super().__init__()
        self.block, self.inline = _Block(), _Inline()
        self.configure("commonmark", {"html": False, "breaks": True})

    def validateLink(self, url: str) -> bool:  # noqa: N802  # overrides
        """Words in brackets are no address: `form [12](annex)` is no link, and stays as it is."""
        return _ADDRESS.match(url) is not None


class _Block(ParserBlock):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token]:  # noqa: N803
        """As in the base class, but with lists in lists as they are meant."""
        state = StateBlock(src, md, env, outTokens)
        move_nested_lists(state)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """As in the base class, but with our state."""
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


_SIGN_ITSELF = re.compile(
    r"""(?<=[「『（(［\[【〈《"“'‘])(?:[*_~]+(?=[」』）)］\]】〉》"”'’])|\*(?=\d{1,2}[)）\]］]))|\*(?=\.\w|印)"""
)
"""which a text is about: 「*」は必須, (*1), *.xlsx, *印"""


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803  # overrides
        """Beside a Japanese character, `**` and `~~` need no space: 申請は**「年休」**で. CommonMark takes a sign of
        punctuation beside a letter for the wrong side of a bold word. Behind a Japanese label, `**` can end bold words,
        whatever follows: **期限:**9月30日. A single `*` beside a digit multiplies or marks a note: 8*20*1.25, 申請書*1.
        Behind a word and before a sign, it marks something: 氏名*、住所*は必須.
        """
        scanned = super().scanDelims(start, canSplitWord)
        if _SIGN_ITSELF.match(self.src, start):
            return scanned._replace(can_open=False, can_close=False)
        end = start + scanned.length
        before, after = self.src[max(0, start - 1) : start], self.src[end : min(end + 1, self.posMax)]
        is_single = self.src[start] == "*" and scanned.length == 1
        if is_single and before.isalnum() and after.isalnum() and (before.isdigit() or after.isdigit()):
            return Scanned(can_open=False, can_close=False, length=1)
        if not canSplitWord or not (_is_wide(before) or _is_wide(after)):
            ends_label = before == ":" and scanned.length == 2 and _is_wide(self.src[max(0, start - 2) : start - 1])
            return scanned._replace(can_close=scanned.can_close or ends_label)
        is_mark = is_single and before.isalnum() and not after.isalnum()
        return Scanned(
            can_open=bool(after.strip()) and not is_mark, can_close=bool(before.strip()), length=scanned.length
        )


def _is_wide(character: str) -> bool:
    return bool(character) and east_asian_width(character) in "FHW"


_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)


def _line_break(state: StateInline, silent: bool) -> bool:
    """The only HTML that is read: a cell of a table has no other way to begin a line."""
    found = _BREAK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


_DRIVE = r"(?<=(?<![A-Za-z])[A-Za-z]:)"
_PATH = re.compile(
    rf"""(?:(?P<twice>\\{{4}}(?=\w)|{_DRIVE}\\\\)|(?<![A-Za-z0-9])\\\\(?=\w)|{_DRIVE}\\)[^\s*`~$<>|"\[\]]*+"""
)
"""of a file in Windows, on a server or behind the letter of a drive; `twice`: as Markdown has its backslashes"""


def _path(state: StateInline, silent: bool) -> bool:
    """Keeps the backslashes of a path. Models write them as they are, and Markdown would read some as the sign for the
    character behind them.
    """
    path = _PATH.match(state.src, state.pos)
    if path is None:
        return False
    if not silent:
        state.pending += path[0].replace("\\\\", "\\") if path["twice"] else path[0]
    state.pos = path.end()
    return True


def _marker(state: StateInline, silent: bool) -> bool:
    """Reads a marker before the rule for links does: whatever stands behind it in brackets, it opens its passage.
    `silent`: the end of a link's words is looked for, in which markers may stand.
    """
    marker = MARKER.match(state.src, state.pos)
    if silent or marker is None or marker[1] not in state.env:
        return False
    state.pending += marker[0]
    state.pos = marker.end()
    return True


def _reader() -> MarkdownIt:
    """A reader that makes no HTML, images or links. A document could make the model write one that sends the content of
    the page elsewhere. No references either: a list of sources such as `[1]: a.md` would make every marker a link. Nor
    headings by a line below them: models part paragraphs with `---`, and would make the one before it a heading.
    """
    markdown = _Markdown()
    markdown.enable(["table", "strikethrough"]).disable(["image", "reference", "lheading"])
    markdown.use(tasklists_plugin)
    markdown.inline.ruler.before("link", "marker", _marker)
    markdown.inline.ruler.before("autolink", "line_break", _line_break)
    markdown.inline.ruler.before("escape", "path", _path)
    markdown.add_render_rule("text", _text)
    markdown.add_render_rule("link_open", _link_open)
    markdown.add_render_rule("link_close", _link_close)
    return with_wide_rows(markdown)


_answers = with_formulae(_reader())
_answers.add_render_rule("fence", _code)
_answers.add_render_rule("code_block", _code)


def markdown_html(text: str, buttons: Mapping[str, str]) -> str:
    """`buttons`: the HTML of each number that the answer may cite."""
    html: str = _answers.render(text, dict(buttons))
    return html
