"""Formulae in Markdown: found between $ or \\( \\), written as MathML, which browsers draw by themselves.

Why so, and why an attribute carries it: docs/decisions/formulae.md
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape, unescape
from xml.etree import ElementTree as Xml  # it is written here, never read

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
"""characters of a formula: more would take longer to write than the page has between two looks at a run"""

FAULTS: tuple[type[Exception], ...] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(LookupError, ValueError, TypeError, AttributeError, RuntimeError),
)
"""what latex2mathml raises of what is no LaTeX: errors of its own, which have nothing in common, and bare ones; nesting
that is too deep is a RuntimeError"""

_TAGS = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mtd|mstyle"
    "|mpadded|mphantom|menclose"
)
_ATTRIBUTES = re.compile(
    "xmlns|display|displaystyle|scriptlevel|mathvariant|stretchy|fence|form|accent|linethickness|columnalign"
    "|columnspacing|rowspacing|columnlines|rowlines|notation|movablelimits|largeop|symmetric|separator"
)
"""that shape a formula; not those that lead somewhere, hide what stands around or take the room of a page"""

_SMALL = re.compile(r"-?[0-3]?(\.\d+)?em")
"""the width of a space that stays within its line"""

_ENVIRONMENT = re.compile(r"\\(begin|end)\{(?:aligned|align|split|eqnarray|gathered|gather|equation)\}")
"""as models write them, which latex2mathml does not know, or numbers: it aligns them all the same"""

_SIGNS = frozenset("\\^_={}")
"""one of which nearly every formula has, and no price"""

_PARAGRAPHS: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
"""what a formula on lines of its own may interrupt"""


def with_formulae(markdown: MarkdownIt) -> MarkdownIt:
    """The same, which takes $…$, $$…$$, \\(…\\) and \\[…\\] for formulae from now on."""
    markdown.inline.ruler.before("escape", "dollars", _dollars)
    markdown.inline.ruler.before("escape", "round_brackets", _round_brackets)
    markdown.block.ruler.before("fence", "double_dollars", _double_dollars, _PARAGRAPHS)
    markdown.block.ruler.before("fence", "square_brackets", _square_brackets, _PARAGRAPHS)
    markdown.add_render_rule("math_inline", _rendered)
    markdown.add_render_rule("math_inline_double", _rendered_apart)
    markdown.add_render_rule("math_block", _rendered_apart)
    return markdown


@lru_cache(1000)
def formula_html(latex: str, *, is_apart: bool) -> str:
    """`is_apart`: on lines of its own. The page draws the MathML in the attribute; until then, and where there is none,
    the LaTeX stands there.
    """
    drawn = mathml(latex, is_apart=is_apart)
    attribute = f' data-mathml="{escape(drawn)}"' if drawn else ""
    kind = "formula apart" if is_apart else "formula"
    return f'<span class="{kind}"><code{attribute}>{escape(latex.strip())}</code></span>'


_UNDRAWN = re.compile(r'<code data-mathml="([^"]*)">[^<]*</code>')


def with_mathml(html: str) -> str:
    """Of a page on which no script runs: the MathML of `formula_html` in the place of its LaTeX."""
    return _UNDRAWN.sub(lambda undrawn: unescape(undrawn[1]), html)


def mathml(latex: str, *, is_apart: bool) -> str | None:
    """A whole <math>, in which nothing runs or leads anywhere; None where `latex` can't be read, or is too long."""
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
    element.text = unescape(element.text or "")  # it names signs by references
    for each in element:
        _clean(each)


_double_dollars_of_plugin = math_block_dollar(allow_labels=False)
_dollars_of_plugin = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)


def _dollars(state: StateInline, silent: bool) -> bool:
    """As the plugin has them, which knows that $5 and $10 are prices; so are $5 and 10$ here."""
    if state.src[state.pos] != "$":
        return False
    end = state.src.find("$", state.pos + 1)
    return not _is_prose(state.src[state.pos + 1 : end]) and _dollars_of_plugin(state, silent)


def _double_dollars(state: StateBlock, begin: int, end: int, silent: bool) -> bool:
    """As the plugin has them, which can't be asked whether it would."""
    if silent:
        return state.src.startswith("$$", state.bMarks[begin] + state.tShift[begin])
    return _double_dollars_of_plugin(state, begin, end, silent)


def _is_prose(text: str) -> bool:
    """An amount and words behind it."""
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
