"""Formulae in Markdown: found between $ or \\( \\), written as MathML, which browsers draw themselves.

The reasons, also for the MathML in an attribute: docs/decisions/pages/formulae.md
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape, unescape
from xml.etree import ElementTree as Xml  # only to write XML, never to read it

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath.index import math_block_dollar, math_inline_dollar

LONGEST = 2000
"""characters of a formula; a longer one would take more time than there is between two reads of a run's events"""

FAULTS: tuple[type[Exception], ...] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(LookupError, ValueError, TypeError, AttributeError, RuntimeError),
)
"""what latex2mathml raises if a text is not LaTeX: its own errors, which have no common base class, and plain ones;
RuntimeError if nesting is too deep"""

_TAGS = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mtd|mstyle"
    "|mpadded|mphantom|menclose"
)
_ATTRIBUTES = re.compile(
    "xmlns|display|displaystyle|scriptlevel|mathvariant|stretchy|fence|form|accent|linethickness|columnalign"
    "|columnspacing|rowspacing|columnlines|rowlines|notation|movablelimits|largeop|symmetric|separator"
)
"""allowed attributes, which shape a formula; not those that link somewhere, cover other content or take up the page"""

_SMALL = re.compile(r"-?[0-3]?(\.\d+)?em")
"""the width of a space that stays in its line"""

_ENVIRONMENT = re.compile(r"\\(begin|end)\{(?:aligned|align|split|eqnarray|gathered|gather|equation)\}")
"""environments that models write, which latex2mathml does not know or would number; it aligns their lines anyway"""

_SIGNS = frozenset("\\^_={}")
"""nearly every formula has one of these characters; no price has"""

_PARAGRAPHS: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
"""the blocks that a formula on its own lines may interrupt"""


def with_formulae(markdown: MarkdownIt) -> MarkdownIt:
    """Changes `markdown` and returns it: from now on it reads $…$, $$…$$, \\(…\\) and \\[…\\] as formulae."""
    markdown.inline.ruler.before("escape", "dollars", _dollars)
    markdown.inline.ruler.before("escape", "round_brackets", _round_brackets)
    markdown.inline.ruler.before("escape", "square_brackets_in_line", _square_brackets_in_line)
    markdown.block.ruler.before("fence", "double_dollars", _double_dollars, _PARAGRAPHS)
    markdown.block.ruler.before("fence", "square_brackets", _square_brackets, _PARAGRAPHS)
    markdown.add_render_rule("math_inline", _rendered)
    markdown.add_render_rule("math_inline_double", _rendered_apart)
    markdown.add_render_rule("math_block", _rendered_apart)
    return markdown


@lru_cache(1000)
def formula_html(latex: str, *, is_apart: bool) -> str:
    """`is_apart`: on its own lines. The page draws the MathML in the attribute. Until then, or if there is no MathML,
    the LaTeX is shown.
    """
    drawn = mathml(latex, is_apart=is_apart)
    attribute = f' data-mathml="{escape(drawn)}"' if drawn else ""
    kind = "formula apart" if is_apart else "formula"
    return f'<span class="{kind}"><code{attribute}>{escape(latex.strip())}</code></span>'


_UNDRAWN = re.compile(r'<code data-mathml="([^"]*)">[^<]*</code>')


def with_mathml(html: str) -> str:
    """For a page that runs no script: replaces the LaTeX in `formula_html` by its MathML."""
    return _UNDRAWN.sub(lambda undrawn: unescape(undrawn[1]), html)


def mathml(latex: str, *, is_apart: bool) -> str | None:
    """A whole <math> element, without scripts and links. None if `latex` can't be read or is too long."""
    if len(latex) > LONGEST:
        return None
    known = _ENVIRONMENT.sub(r"\\\1{align*}", latex)
    try:
        formula = convert_to_element(known)
        _clean(formula)
    except FAULTS:
        return None
    formula.set("display", "block" if is_apart else "inline")
    return Xml.tostring(formula, encoding="unicode")


def _clean(element: Xml.Element) -> None:
    if not _TAGS.fullmatch(element.tag):
        element.tag = "mrow"
    element.attrib = {
        name: value
        for name, value in element.attrib.items()
        if _ATTRIBUTES.fullmatch(name) or (name == "width" and _SMALL.fullmatch(value))
    }
    element.text = unescape(element.text or "")  # latex2mathml writes signs as character references
    for each in element:
        _clean(each)


_double_dollars_of_plugin = math_block_dollar(allow_labels=False)
_dollars_of_plugin = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)


def _dollars(state: StateInline, silent: bool) -> bool:
    """The plugin's rule, which knows that $5 and $10 are prices. Here, 5$ and 10$ are prices too, and $A$1 and $A2,$D2
    are cells of a sheet.
    """
    if state.src[state.pos] != "$":
        return False
    end = state.src.find("$", state.pos + 1)
    if end > state.pos + 1 and "A" <= state.src[end + 1 : end + 2] <= "Z":
        return False
    return not _is_prose(state.src[state.pos + 1 : end]) and _dollars_of_plugin(state, silent)


_END_WITH_MARKER = re.compile(r"\$\$[ \t]{0,3}\[\d{1,3}\]")
"""the end of a formula with the passage that it cites"""


def _double_dollars(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    """The plugin's rule. It can't test for a match only, so `silent` is handled here."""
    if silent:
        at = state.bMarks[begin] + state.tShift[begin]
        return state.src.startswith("$$", at) and not _END_WITH_MARKER.match(state.src, at)
    return _double_dollars_of_plugin(state, begin, end, silent)


_VARIABLE = re.compile(r"\{?[A-Za-z_][A-Za-z0-9_:.]*\}?(?:[\u3000-\uffef][^\\^=]*|[/:])\Z")
"""of a program or a template, up to the next one: $name、本文に$mail, ${env:PATH}と$env:HOME, $dir/$file"""


def _is_prose(text: str) -> bool:
    """Whether the text is an amount with words after it, or a variable."""
    if _VARIABLE.match(text):
        return True
    return text[:1].isdigit() and _SIGNS.isdisjoint(text) and any(each.isspace() or each > "\u2fff" for each in text)


def _round_brackets(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("\\(", state.pos):
        return False
    end = state.src.find("\\)", state.pos + 2, state.pos + LONGEST)
    if end == -1:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _square_brackets_in_line(state: StateInline, silent: bool) -> bool:
    """A formula with words before it, or with a citation or a full stop behind it. Without a sign of a formula, they
    are escaped brackets: a\\[0\\].
    """
    if not state.src.startswith("\\[", state.pos):
        return False
    end = state.src.find("\\]", state.pos + 2, state.pos + LONGEST)
    if end == -1 or _SIGNS.isdisjoint(state.src[state.pos + 2 : end]):
        return False
    if not silent:
        state.push("math_inline_double", "math", 0).content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _square_brackets(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    start = state.bMarks[begin] + state.tShift[begin]
    if state.is_code_block(begin) or not state.src.startswith("\\[", start):
        return False
    close = state.src.find("\\]", start + 2, min(start + LONGEST, state.eMarks[end - 1]))
    if close == -1:
        return False
    last = next(line for line in range(begin, end) if close < state.eMarks[line])
    if state.src[close + 2 : state.eMarks[last]].strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.content = state.src[start + 2 : close]
        token.block, token.map = True, [begin, last + 1]
        state.line = last + 1
    return True


def _rendered(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    return formula_html(tokens[at].content, is_apart=False)


def _rendered_apart(_: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
    return formula_html(tokens[at].content, is_apart=True)
