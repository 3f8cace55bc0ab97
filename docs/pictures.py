"""Takes the pictures of README and docs from the running app, with the embedded models: `make pictures`.

    python -m docs.pictures [NAME ...]

Without names it takes all of them, for half an hour on two cores. Look at each before it is committed.
"""

import argparse
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, expect, sync_playwright

from pages import samples
from rag.pipelines import PIPELINES
from rag.settings import Settings
from rag.text.language import Language
from tests.browser.app_process import App
from tests.browser.conftest import ARGUMENTS, LOCALES, installed_chromium
from tests.browser.visitor import Visitor

HERE = Path(__file__).parent
LANGUAGES: tuple[Language, ...] = ("en", "ja")
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

Take = Callable[[Visitor], Iterator[tuple[str, bytes]]]
"""gives pictures with their paths below docs, in which {lang} stands for the language"""


@dataclass(frozen=True)
class Scene:
    name: str
    take: Take
    width: int
    height: int


SCENES: dict[str, Scene] = {}


def scene(width: int = 1200, height: int = 1000) -> Callable[[Take], Take]:
    def register(take: Take) -> Take:
        SCENES[take.__name__] = Scene(take.__name__, take, width, height)
        return take

    return register


@scene()
def answer(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """A question on its way, moving, and what became of it."""
    visitor.pick_pipeline("self_rag")
    visitor.composer.fill(CHECKED[visitor.language])
    visitor.composer.press("Enter")
    frames = [visitor.page.screenshot()]
    while not visitor.button("chat.again").is_visible():
        visitor.page.wait_for_timeout(700)
        frames.append(visitor.page.screenshot())
    wait_for_the_end(visitor)
    yield "images/answer.{lang}.png", visitor.page.screenshot()
    yield "images/answer.{lang}.webp", moving([*frames, visitor.page.screenshot()])


@scene()
def trace(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """The graph of a run, its grades, a citation."""
    ask(visitor, CHECKED[visitor.language], "self_rag")
    cite = visitor.page.locator(".sources .cite").first
    cite.click()
    expect(visitor.page.locator(":popover-open")).to_be_visible()
    yield "images/citation.{lang}.png", visitor.page.screenshot()
    visitor.page.keyboard.press("Escape")
    visitor.open(visitor.traces.last)
    yield "images/graph.{lang}.png", run_of(visitor).screenshot()
    visitor.open(visitor.step("grade_documents"))
    visitor.step("grade_documents").evaluate("each => each.scrollIntoView({ block: 'start' })")
    yield "images/trace.{lang}.png", visitor.page.screenshot()


@scene(1280, 1130)
def documents(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    visitor.show_documents()
    visitor.settle()
    yield "images/documents.{lang}.png", visitor.page.screenshot()


@scene(1280)
def search(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    visitor.sidebar.get_by_role("link", name=visitor.words["app.search"]).click()
    field = visitor.page.get_by_placeholder(visitor.words["search.question"])
    field.fill(CHECKED[visitor.language])
    field.press("Enter")
    expect(visitor.page.locator(".hit").first).to_be_visible()
    visitor.settle()
    yield "images/search.{lang}.png", visitor.page.screenshot()


@scene()
def pipelines(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """A run of each, its steps in view."""
    for name in PIPELINES:
        asked = next(
            (each.text for each in samples.questions() if (each.pipeline, each.language) == (name, visitor.language)),
            CHECKED[visitor.language],
        )
        visitor.button("sidebar.new_chat").click()
        ask(visitor, asked, name)
        visitor.open(visitor.page.get_by_test_id("stExpander").locator("summary").first)
        yield f"pipelines/images/{name}.{{lang}}.png", run_of(visitor).screenshot()


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


def moving(frames: Sequence[bytes]) -> bytes:
    """An animated WebP; of what stands still one frame is enough."""
    kept = [frame for before, frame in zip((b"", *frames), frames, strict=False) if frame != before]
    every = max(1, -(-len(kept) // FRAMES))
    first, *rest = (Image.open(io.BytesIO(frame)).convert("RGB") for frame in (*kept[:-1:every], kept[-1]))
    out = io.BytesIO()
    durations = [FRAME] * len(rest) + [LAST_FRAME]
    first.save(out, "WEBP", save_all=True, append_images=rest, duration=durations, loop=0, quality=70, method=4)
    return out.getvalue()


@contextmanager
def loaded_app() -> Iterator[App]:
    """With the samples in it, and the embedded models."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        (data / "models").symlink_to((Settings().data_dir / "models").resolve())
        app = App(Path(folder))
        app.start()
        try:
            yield app
        finally:
            app.stop()


def load_samples(browser: Browser, app: App) -> None:
    visitor = Visitor(browser.new_context(locale=LOCALES["en"]), app.url, "en")
    visitor.button("empty.load_samples").click()
    expect(visitor.text("empty.try")).to_be_visible(timeout=ANSWERED)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Takes the pictures of README and docs from the running app.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCENES)}; all of them")
    names = parser.parse_args(arguments).names or list(SCENES)
    if unknown := set(names) - set(SCENES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCENES)}")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    with loaded_app() as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ARGUMENTS)
        load_samples(browser, app)
        for each in map(SCENES.__getitem__, names):
            for language in LANGUAGES:
                size = {"width": each.width, "height": each.height}
                context = browser.new_context(locale=LOCALES[language], viewport=size)
                for path, picture in each.take(Visitor(context, f"{app.url}?lang={language}", language)):
                    file = HERE / path.format(lang=language)
                    file.parent.mkdir(exist_ok=True)
                    file.write_bytes(picture)
                    print(f"{file.relative_to(HERE.parent)}: {len(picture) // 1024} KB", file=sys.stderr, flush=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
