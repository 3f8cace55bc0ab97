"""Formulae of Office files (ISO 29500-1, 22.1) on one line: (a+b)/2, 10^6, √(2gh), ∑_(i=1)^n x."""

import re
from collections.abc import Callable, Iterator

from index_store.parsing.loaders.markdown import as_markdown
from index_store.parsing.loaders.office.package import Element, attribute, local

_PARTS = {
    "f": "num", "m": "mr", "sup": "*", "d": "e", "rad": "e", "nary": "e", "func": "e", "limLow": "e", "limUpp": "e",
    "bar": "e", "acc": "e", "eqArr": "e",
}  # fmt: skip
"""elements that are written otherwise than their texts one after another, and what each contains; other elements of
Office files have these names, too"""

_INTEGRAL = "∫"
_OVERLINE, _HAT = "\u0305", "\u0302"
"""combining characters; the second is the accent of a formula that names none"""
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def is_part(element: Element) -> bool:
    content = _PARTS.get(local(element))
    return content is not None and element.find(f"{{*}}{content}") is not None


def written(part: Element, text_of: Callable[[Element], str], before: str) -> str:
    """`text_of` reads the elements in `part`; `before` is the text before it."""
    text = _written(part, text_of)
    # A mixed number: 1 1/2.
    return f" {text}" if local(part) in ("f", "rad") and before[-1:].isdigit() and text[:1].isdigit() else text


def _written(part: Element, text_of: Callable[[Element], str]) -> str:
    def text(name: str) -> str:
        found = part.find(f"{{*}}{name}")
        return text_of(found) if found is not None else ""

    def given(name: str, default: str) -> str:
        found = attribute(part.find(f"{{*}}{local(part)}Pr/{{*}}{name}"), "val")
        return default if found is None else found

    match local(part):
        case "f" if given("type", "bar") == "noBar":
            return f"{text('num')} {text('den')}"
        case "f":
            return f"{_operand(text('num'))}/{_operand(text('den'))}"
        case "d":
            inside = given("sepChr", "|").join(_texts(part, text_of))
            return given("begChr", "(") + inside + given("endChr", ")")
        case "rad":
            return _root(text("deg").strip(), text("e"))
        case "nary":
            limits = _limit("_", text("sub")) + _limit("^", text("sup"))
            return f"{given('chr', _INTEGRAL)}{limits} {text('e')}"
        case "func":
            argument = text("e")
            return text("fName") + ("" if argument.startswith("(") else " ") + argument
        case "limLow":
            return text("e") + _limit("_", text("lim"))
        case "limUpp":
            return text("e") + _limit("^", text("lim"))
        case "bar" if given("pos", "bot") == "top":
            return "".join(character + _OVERLINE for character in text("e"))
        case "acc":
            return text("e") + given("chr", _HAT)
        case "eqArr":
            # In it, & only says where the lines are aligned.
            return "; ".join(_texts(part, text_of)).replace("&", "")
        case "m":
            return "; ".join(" ".join(_texts(row, text_of)) for row in part.iterfind("{*}mr"))
        case "sup":
            return as_markdown.raised(text_of(part))
    return text_of(part)


def _texts(part: Element, text_of: Callable[[Element], str]) -> Iterator[str]:
    return (text_of(element) for element in part.iterfind("{*}e"))


def _operand(text: str) -> str:
    return text if re.fullmatch(r"[\w.,]*", text) else f"({text})"


def _root(degree: str, text: str) -> str:
    inside = text if re.fullmatch(r"[\d.,]+|\w", text) else f"({text})"
    return _ROOTS[degree] + inside if degree in _ROOTS else f"{inside}^(1/{degree})"


def _limit(mark: str, text: str) -> str:
    if not text:
        return ""
    return mark + (text if len(text) == 1 or text.isalnum() else f"({text})")
