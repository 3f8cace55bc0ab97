"""What a picture is taken of, and what the scenes share: asking, waiting, a moving picture."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from PIL import Image
from playwright.sync_api import Locator, expect

from rag.text.language import Language
from tests.browser.visitor import Visitor

CHECKED: dict[Language, str] = {
    "en": "How soon must I call after losing my company laptop?",
    "ja": "祖父母が亡くなったときの忌引休暇は何日ですか？",
}
"""sample questions whose answers are checked against their sources"""

ANSWERED = 600_000
"""milliseconds that a run may take beside other work"""
FRAMES = 40
"""of a moving picture, at most"""
FRAME, LAST_FRAME = 300, 4000
"""milliseconds that one is shown"""
HEAD = 80
"""pixels of the page's own head, which covers what is scrolled below it"""
TALL = 2600
"""pixels, more than a run with all of its steps has"""
COLOURS = 256
"""of a picture of a page: a third of the bytes, and no difference to be seen"""

Loaded = Literal["handbook", "faults"]
Take = Callable[[Visitor], Iterator[tuple[str, bytes]]]
"""gives pictures with their paths below docs, in which {lang} stands for the language"""


@dataclass(frozen=True)
class Scene:
    name: str
    take: Take
    width: int
    height: int
    loaded: Loaded
    """what is in the app"""


SCENES: dict[str, Scene] = {}


def scene(width: int = 1200, height: int = 1000, loaded: Loaded = "handbook") -> Callable[[Take], Take]:
    def register(take: Take) -> Take:
        SCENES[take.__name__] = Scene(take.__name__, take, width, height, loaded)
        return take

    return register


def ask(visitor: Visitor, question: str, pipeline: str) -> None:
    visitor.pick_pipeline(pipeline)
    visitor.composer.fill(question)
    visitor.composer.press("Enter")
    wait_for_the_end(visitor)


def wait_for_the_end(visitor: Visitor) -> None:
    expect(visitor.button("chat.again").last).to_be_visible(timeout=ANSWERED)
    visitor.settle()
    visitor.page.mouse.move(0, 0)


def run_of(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stChatMessage").last


def whole(visitor: Visitor, place: Locator) -> bytes:
    """A picture of a place that may be taller than the page, over whose end the field for questions would lie."""
    size = visitor.page.viewport_size
    visitor.page.set_viewport_size({"width": size["width"] if size else 1200, "height": TALL})
    visitor.page.wait_for_timeout(500)
    picture = place.screenshot()
    if size:
        visitor.page.set_viewport_size(size)
        visitor.page.wait_for_timeout(500)  # a press while the page moves is lost
    return picture


def wait_for_parts(visitor: Visitor) -> None:
    """Waits until nothing stands for a part of the page whose code is still loaded."""
    visitor.settle()
    expect(visitor.page.get_by_test_id("stSkeleton")).to_have_count(0)


def show_page(visitor: Visitor, name: str) -> None:
    """By its link in the sidebar."""
    visitor.sidebar.get_by_role("link", name=visitor.words[f"app.{name}"]).click()
    expect(visitor.page.get_by_role("heading", name=visitor.words[f"app.{name}"], exact=True)).to_be_visible()
    wait_for_parts(visitor)


def bring_up(place: Locator) -> None:
    """To the top of the page, below the page's own head."""
    place.evaluate("each => each.scrollIntoView({ block: 'start' })")
    place.page.mouse.move(700, 500)
    place.page.mouse.wheel(0, -HEAD)
    place.page.wait_for_timeout(500)
    place.page.mouse.move(0, 0)


def moving(frames: Sequence[bytes]) -> bytes:
    """An animated WebP; of what stands still one frame is enough."""
    kept = [frame for before, frame in zip((b"", *frames), frames, strict=False) if frame != before]
    every = max(1, -(-len(kept) // FRAMES))
    first, *rest = (Image.open(io.BytesIO(frame)).convert("RGB") for frame in (*kept[:-1:every], kept[-1]))
    out = io.BytesIO()
    durations = [FRAME] * len(rest) + [LAST_FRAME]
    first.save(out, "WEBP", save_all=True, append_images=rest, duration=durations, loop=0, quality=70, method=4)
    return out.getvalue()


def small(picture: bytes) -> bytes:
    """The same PNG with COLOURS colours; another kind of picture as it is."""
    image = Image.open(io.BytesIO(picture))
    if image.format != "PNG":
        return picture
    out = io.BytesIO()
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()
