"""Scrolls to the latest question when it is asked, and when its conversation is opened. A new chat starts at its top.

Streamlit keeps the end of a page in view only if `st.chat_input` is alone below the page, not inside `st.bottom`.
"""

from html import escape

import streamlit as st

KEEP_IN_VIEW = """<script>
if (!window.keepLatestInView) {
  let hold = 0, seen = {};
  for (const each of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(each, () => { hold++; }, { capture: true, passive: true });
  const look = () => {
    const marker = document.querySelector("[data-conversation]");
    return { ...marker?.dataset, page: marker?.closest("[data-testid=stHtml]") };
  };
  window.keepLatestInView = async () => {
    const now = look(), isOpened = now.page !== seen.page || now.conversation !== seen.conversation;
    const isAsked = now.running && now.running !== seen.running;
    seen = now;
    if (!isOpened && !isAsked) return;
    const mine = ++hold;
    for (let looks = 0; hold === mine && (looks < 10 || now.running && look().running === now.running); looks++) {
      const sought = document.querySelectorAll(now.conversation ? ".question" : "[data-testid=stMainBlockContainer]");
      [...sought].at(-1)?.scrollIntoView();
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
}
keepLatestInView();
</script>"""
"""Runs whenever its element changes or is added again. A page grows for about two seconds while it is drawn, and during
a run. The script scrolls back to the question until someone uses the page.
"""


def keep_latest_in_view(conversation_id: str | None, running: str | None) -> None:
    """Call this first, so that the element keeps its position in the page. `running`: the latest run, if it is in
    flight.
    """
    marker = f'<i data-conversation="{escape(conversation_id or "")}" data-running="{escape(running or "")}"></i>'
    with st.container(key="in-view"):
        st.html(marker + KEEP_IN_VIEW, unsafe_allow_javascript=True)
