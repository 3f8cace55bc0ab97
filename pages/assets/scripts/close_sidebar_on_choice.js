// The sidebar on a phone, where it covers the page: it closes when a page or a conversation is chosen in it. Up to a
// width of 768 pixels, Streamlit lays the sidebar over the page. The script handles a click before Streamlit does,
// which may remove the pressed element from the page.
if (!window.sidebarCloses) {
  window.sidebarCloses = true;
  const chosen = ".st-key-pages a, .st-key-new-chat button, [class*='st-key-open-'] button";
  document.addEventListener("click", event => {
    if (event.target.closest(chosen) && matchMedia("(max-width: 768px)").matches)
      setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click());
  }, { capture: true });
}
