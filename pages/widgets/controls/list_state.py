"""What is chosen in a list, in the address and in the session: filters, order and page.

The address keeps it through a reload, and for those who get a link. While the tab is open, the session counts, unless
the browser goes back or forward: see pages/widgets/chat/conversation/address.py.
"""

from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.widgets.controls.picker import fresh_key, renew
from pages.words.reader import language


@dataclass(frozen=True)
class ListState:
    """All values are texts; an empty one is the default, and not in the address."""

    of: str
    """the name of the list"""
    names: tuple[str, ...]
    """of the parameters"""

    def follow_address(self) -> bool:
        """Chooses what the address says if the person has just come to it. Returns whether they have. Call it first."""
        context = get_script_run_ctx()
        is_new = self._key not in st.session_state or (context is not None and context.is_history_navigation)
        if is_new:
            st.session_state[self._key], st.session_state[self._left] = self._in_address(), False
            renew(self._fields)
        return is_new

    def leave(self) -> None:
        """Call it where one of the list is shown. A link from there to the list, which is the same page, does not
        change the address in the browser: the list does it, with its next `choose`.
        """
        st.session_state[self._left] = True

    def start_with(self, **values: str) -> None:
        """Chooses these and no others, and creates the fields again."""
        self.choose(**values)
        renew(self._fields)

    def field(self, name: str) -> str:
        """The key of a field. It is another one when the address is followed: a field keeps its own value."""
        return f"{name} of the {fresh_key(self._fields)}"

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def values(self) -> dict[str, str]:
        """Without defaults."""
        values: dict[str, str] = st.session_state[self._key]
        return values

    def choose(self, **values: str) -> None:
        """Keeps these, in the address too, and no others."""
        st.session_state[self._key] = {name: value for name, value in values.items() if value}
        if st.session_state.pop(self._left, False) or self._in_address() != self.values:
            st.query_params.from_dict(self.address())  # at once: the browser has one step back for each change

    def address(self) -> dict[str, str]:
        """Parameters of the address of the list as it was last shown."""
        return {**self.values, "lang": language()}

    def _in_address(self) -> dict[str, str]:
        return {name: value for name in self.names if (value := st.query_params.get(name))}

    @property
    def _key(self) -> str:
        return f"chosen {self.of}"

    @property
    def _left(self) -> str:
        return f"left {self.of}"

    @property
    def _fields(self) -> str:
        return f"fields of the {self.of}"
