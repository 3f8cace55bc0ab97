"""Streamlit's search for source files that may change, left out."""

from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher


def leave_out() -> None:
    """With `fileWatcherType = "none"` no file is watched. Still, whenever a page is opened or connects again, and for
    every open page when a module was loaded, Streamlit looks up the files of all modules: 0.1 to 0.2 s of the event
    loop, for which everybody waits.
    """
    LocalSourcesWatcher.update_watched_modules = _nothing  # type: ignore[method-assign, assignment]


def _nothing(_: LocalSourcesWatcher) -> None:
    pass
