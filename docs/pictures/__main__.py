"""Takes the pictures of README and docs from the running app, with the embedded models: `make pictures`.

    python -m docs.pictures [NAME ...]

Without names it takes all of them, for half an hour on two cores. Look at each before it is committed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from docs.pictures import answers, documents, faults  # noqa: F401  each enters its scenes
from docs.pictures.scene import ANSWERED, SCENES, Loaded, Scene, small
from index_store.store.index_store import IndexStore
from pages.samples import faults as prepared
from rag.settings import EMBEDDED, Settings
from rag.text.language import Language
from tests.browser.app_process import App
from tests.browser.conftest import ARGUMENTS, LOCALES, installed_chromium
from tests.browser.visitor import Visitor

DOCS = Path(__file__).parents[1]
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@contextmanager
def running_app(browser: Browser, loaded: Loaded) -> Iterator[App]:
    """With the embedded models."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        (data / "models").symlink_to((Settings().data_dir / "models").resolve())
        if loaded == "faults":
            with IndexStore(Settings(data_dir=data, embedding_model=EMBEDDED)) as store:
                list(prepared.load(store))
        app = App(Path(folder))
        app.start()
        try:
            if loaded == "handbook":
                load_samples(browser, app)
            yield app
        finally:
            app.stop()


def load_samples(browser: Browser, app: App) -> None:
    visitor = Visitor(browser.new_context(locale=LOCALES["en"]), app.url, "en")
    visitor.button("empty.load_samples").click()
    expect(visitor.text("empty.try")).to_be_visible(timeout=ANSWERED)
    visitor.dismiss_jobs()


def take(browser: Browser, app: App, scene: Scene) -> None:
    """In both languages."""
    for language in LANGUAGES:
        size = {"width": scene.width, "height": scene.height}
        context = browser.new_context(locale=LOCALES[language], viewport=size)
        for path, picture in scene.take(Visitor(context, f"{app.url}?lang={language}", language)):
            file = DOCS / path.format(lang=language)
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(small(picture))
            print(f"{file.relative_to(DOCS.parent)}: {file.stat().st_size // 1024} KB", file=sys.stderr, flush=True)
        context.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Takes the pictures of README and docs from the running app.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCENES)}; all of them")
    names = parser.parse_args(arguments).names or list(SCENES)
    if unknown := set(names) - set(SCENES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCENES)}")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    wanted = [SCENES[name] for name in names]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ARGUMENTS)
        for loaded in dict.fromkeys(each.loaded for each in wanted):
            with running_app(browser, loaded) as app:
                for each in wanted:
                    if each.loaded == loaded:
                        take(browser, app, each)
        browser.close()


if __name__ == "__main__":
    main()
