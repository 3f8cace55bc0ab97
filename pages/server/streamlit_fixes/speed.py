"""What Streamlit does again and again, for which everybody waits."""

from functools import cache

from streamlit import config
from streamlit.config_option import ConfigOption
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher


def apply() -> None:
    _look_up_no_files()
    _make_the_theme_once()
    _read_options_without_a_lock()


def _look_up_no_files() -> None:
    """With `fileWatcherType = "none"` no file is watched. Still, whenever a page is opened or connects again, and for
    every open page when a module was loaded, Streamlit looks up the files of all modules: 0.1 to 0.2 s of the event
    loop, for which everybody waits.
    """
    LocalSourcesWatcher.update_watched_modules = _nothing  # type: ignore[method-assign, assignment]


def _make_the_theme_once() -> None:
    """For every drawing of a page or a fragment, Streamlit reads all options of the theme again and makes a message of
    them: 7% of the processor time while twenty people ask. They stay the same while the server runs.
    """
    make_theme = app_session._populate_theme_msg  # noqa: SLF001 - no public name

    @cache
    def made(section: str) -> CustomThemeConfig:
        theme = CustomThemeConfig()
        make_theme(theme, section)
        return theme

    def take_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
        msg.MergeFrom(made(section))

    app_session._populate_theme_msg = take_theme  # noqa: SLF001


def _read_options_without_a_lock() -> None:
    """For each element that a page draws, Streamlit takes a lock of the whole process several times, to read an option.
    While twenty people ask, the threads of their pages waited for it, and nearly every read changed threads.
    """
    read = config.get_option
    complete: dict[str, ConfigOption] = {}

    def read_option(key: str) -> object:
        nonlocal complete
        options = config._config_options  # noqa: SLF001 - the public way takes the lock
        if options is not complete:
            # When the files of the options are read again, others see a new dictionary before it has their values.
            with config._config_lock:  # noqa: SLF001
                complete = config.get_config_options()
        return complete[key].value if key in complete else read(key)

    config.get_option = read_option


def _nothing(_: LocalSourcesWatcher) -> None:
    pass
