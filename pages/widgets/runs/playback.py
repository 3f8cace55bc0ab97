"""Plays a run back at its own pace or faster."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.widgets.chat.pace import OFTEN, SELDOM, look_every
from pages.widgets.chat.turn.turn import show_so_far
from pages.words.say import say
from rag.trace.derived.playback import Moment, advanced, at, moments
from rag.trace.events import Event

PACES = (1, 2, 5, 20)


@dataclass
class Playback:
    """The position of a playback."""

    run_id: str
    played: list[Moment]
    position: float = 0.0
    """seconds since the start of the run"""
    pace: int = 1
    looked_at: float | None = None
    """monotonic time of the last move; None while it pauses"""

    def go_on(self) -> None:
        if self.looked_at is None:
            return
        now = time.monotonic()
        self.position = advanced(self.played, self.position, now - self.looked_at, self.pace)
        self.looked_at = now

    @property
    def is_over(self) -> bool:
        return self.position >= self.played[-1].seconds

    def begin(self) -> None:
        self.position, self.looked_at = 0.0, time.monotonic()

    def pause_or_go_on(self) -> None:
        self.go_on()
        self.looked_at = time.monotonic() if self.looked_at is None else None

    def change_pace(self) -> None:
        self.go_on()
        self.pace = st.session_state["playback pace"] or self.pace


def is_playing(run_id: str) -> bool:
    playback = _current()
    return playback is not None and playback.run_id == run_id


def offer_playback(run_id: str, events: Sequence[Event]) -> None:
    """A button that starts playback, unless the run is already played."""
    if not is_playing(run_id):
        st.button(f"▶ {say('playback.play')}", key="playback-begin", on_click=_begin, args=(run_id, events))


@st.fragment(run_every=OFTEN)
def show_playback(run_id: str) -> None:
    playback = _current()
    if playback is None or playback.run_id != run_id:
        st.rerun()
    playback.go_on()
    if playback.is_over:
        _end()
        st.rerun()
    look_every(SELDOM if playback.looked_at is None else OFTEN)
    with st.container(key="playback"):
        _show_controls(playback)
        show_so_far(at(playback.played, playback.position), playback.position, f"play-{run_id}", usual="drawn")


def _show_controls(playback: Playback) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="playback-controls"):
        is_paused = playback.looked_at is None
        words = f"▶ {say('playback.go_on')}" if is_paused else f"❚❚ {say('playback.pause')}"
        st.button(words, key="playback-pause", on_click=playback.pause_or_go_on)
        st.button(f"↺ {say('playback.again')}", key="playback-again", on_click=playback.begin)
        st.segmented_control(
            say("playback.pace"),
            PACES,
            default=playback.pace,
            format_func=lambda each: f"{each}×",
            key="playback pace",
            label_visibility="collapsed",
            required=True,
            on_change=playback.change_pace,
        )
        whole = playback.played[-1].seconds
        st.caption(say("playback.position", seconds=f"{playback.position:.1f}", whole=f"{whole:.1f}"), width="content")
        st.button(say("playback.end"), key="playback-end", type="tertiary", on_click=_end)


def _current() -> Playback | None:
    playback: Playback | None = st.session_state.get("playback")
    return playback


def _begin(run_id: str, events: Sequence[Event]) -> None:
    st.session_state.playback = Playback(run_id, moments(events), looked_at=time.monotonic())


def _end() -> None:
    st.session_state.pop("playback", None)
