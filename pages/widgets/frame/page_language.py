"""Tells the browser the language of the page: screen readers, hyphenation and the choice of glyphs depend on it. Also
gives Streamlit's own words in this language: labels, which screen readers read, what a list says when it is empty
or before a choice, what a field says of a number out of range or a file too large or not sent, the menus of a table,
and the link past the sidebar. The field that searches in a table has no label of Streamlit's.
"""

import json
from html import escape

import streamlit as st

from pages.server.upload_limit import TooMuchAtOnce
from pages.words import language, say

LABELS = {
    "Sidebar": "label.sidebar",
    "Collapse sidebar": "label.collapse",
    "Expand sidebar": "label.expand",
    "Chat message from user": "label.question",
    "Chat message from assistant": "label.answer",
    "Feedback rating": "label.rating",
    "Thumbs up": "label.thumbs_up",
    "Thumbs down": "label.thumbs_down",
    "Open": "label.open",
    "file upload": "label.file",
    "Upload files": "label.files",
    "Add files": "label.add_files",
    "Cancel upload of {label}": "label.cancel_upload",
    "Remove {label}": "label.remove",
    "Send message": "label.send",
    "Show/hide columns": "label.columns",
    "Download as CSV": "label.csv",
    "Search": "label.search",
    "Fullscreen": "label.fullscreen",
    "Close fullscreen": "label.close_fullscreen",
    "Clear selection": "label.clear",
    "Clear value": "label.clear_value",
    "Clear all": "label.clear_all",
    "Selected values": "label.selected",
    "Dismiss": "label.close",
    "No results": "label.no_results",
    "Choose an option": "label.choose",
    "You can only select up to {label} options. Remove an option first.": "label.most_selected",
    "Increment": "label.increment",
    "Decrement": "label.decrement",
    "Pagination": "label.pagination",
    "Previous page": "label.previous_page",
    "Next page": "label.next_page",
    "Page {label}": "label.page",
    "Help for {label}": "label.help",
    "Skip to main content": "label.skip",
    "Dataframe column menu": "label.column",
    "Sort ascending": "label.ascending",
    "Sort descending": "label.descending",
    "Autosize": "label.fit",
    "Pin column": "label.pin",
    "Unpin column": "label.unpin",
    "Hide column": "label.hide",
    "Select all": "label.select_all",
    "(index)": "label.row_number",
    "Previous Result": "label.previous_hit",
    "Next Result": "label.next_hit",
    "Close Search": "label.close_search",
    "Error": "label.error",
    "{error}: Number is outside the allowed range. Please enter a value between {least} and {most}.": "label.range",
    "File must be {label} or smaller.": "label.too_large",
    "Click to retry upload": "label.retry_upload",
    "AxiosError: {label}": "label.not_sent",
}
"""key of our text, by the words of Streamlit; the buttons of a table add `: ` and the name of the table"""
TOO_MUCH = f"{{label}}: Request failed with status code {TooMuchAtOnce.status}"
"""Streamlit's words for an upload that `UploadLimit` refuses; they come before those for all other failures"""
PARTS = {each: f"{{{each}}}" for each in ("label", "error", "least", "most")}
"""parts of these texts, as they stand in both"""

TELL_LANGUAGE = r"""<script>
{
  const told = document.querySelector("[data-page-language]").dataset;
  document.documentElement.lang = told.pageLanguage;
  const labels = Object.entries(JSON.parse(told.labels)), fixed = new Map(labels);
  const literal = text => text.replace(/[.()]/g, "\\$&");
  const pattern = its => its.split(/{(\w+)}/).map((part, n) => n % 2 ? `(?<${part}>.*)` : literal(part)).join("");
  const around = labels.filter(([its]) => its.includes("{")).map(([its, ours]) => [RegExp(`^${pattern(its)}$`), ours]);
  const tooltip = "[data-testid=stTooltipErrorContent]", chip = "[data-testid=stFileChip][title]";
  const alert = ":is([data-testid=stNumberInput], [data-testid=stFileChip]) [role=alert]";
  const refusals = `${alert}, ${tooltip}, ${tooltip} :is(p, strong)`;
  const translated = (its, each) => {
    // Not a name that people chose, which may be like these.
    for (const [pattern, ours] of each.matches(`button, [role=option] *, ${refusals}`) ? around : []) {
      const parts = its.match(pattern)?.groups;
      if (!parts) continue;
      parts.error &&= fixed.get("Error");
      return ours.replace(/{(\w+)}/g, (_, name) => parts[name].trim());
    }
    const [button] = its.split(": ", 1);
    return fixed.has(button) ? fixed.get(button) + its.slice(button.length) : its;
  };
  const menus = ":is([role=menuitem], label span):is([data-testid^=stDataFrameColumn] *)";
  const written = `[data-testid=stSkipToContent], [role=listbox][data-empty] span, ${menus}, ${refusals}`;
  const translate = (part, property, each) => {
    const now = part[property], kept = ((part.kept ??= {})[property] ??= {});
    if (now !== kept.ours) kept.its = now;
    kept.ours = kept.its && translated(kept.its, each);
    if (kept.ours !== now) part[property] = kept.ours;
  };
  const labelAll = part => {
    const labelled = [part, ...part.querySelectorAll("[aria-label]")].filter(each => each.hasAttribute("aria-label"));
    for (const each of labelled) translate(each, "ariaLabel", each);
    for (const each of [part, ...part.querySelectorAll(written)].filter(each => each.matches(written)))
      for (const text of each.childNodes) translate(text, "data", each);
    for (const field of part.querySelectorAll("[data-testid=stSelectbox] input"))
      translate(field, "placeholder", field);
    for (const each of [part, ...part.querySelectorAll(chip)].filter(each => each.matches(chip)))
      translate(each, "title", each);
    for (const field of part.querySelectorAll(".gdg-search-bar input")) field.ariaLabel = fixed.get("Search");
  };
  window.labelled?.disconnect();
  window.labelled = new MutationObserver(changes => {
    for (const change of changes)
      for (const part of change.type === "attributes" ? [change.target] : change.addedNodes)
        if (part.nodeType === Node.ELEMENT_NODE) labelAll(part);
  });
  window.labelled.observe(document.body, { attributeFilter: ["aria-label", "title"], childList: true, subtree: true });
  labelAll(document.body);
}
</script>"""
"""Streamlit's page and its words are in English. The script runs whenever its element changes, so with each language.
It keeps the words of Streamlit, because it may have to write them in another language.
"""


def tell_language() -> None:
    ours = {its: say(key, **PARTS) for its, key in LABELS.items()}
    labels = json.dumps({TOO_MUCH: TooMuchAtOnce().sentence(language()), **ours})
    told = {"page-language": language(), "labels": labels}
    data = " ".join(f'data-{name}="{escape(value)}"' for name, value in told.items())
    with st.container(key="page-language"):
        st.html(f"<i {data}></i>{TELL_LANGUAGE}", unsafe_allow_javascript=True)
