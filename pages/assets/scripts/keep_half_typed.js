// Keeps a half-typed question while its reader looks at another page.
//
// Runs when the page of the chat is opened. A field that left the page still has its text, and none once that was sent.
// React hears of a text only if it is set in this way. Nothing is stored: a reload, or signing out, forgets it.
(async () => {
  const name = "[data-testid=stChatInputTextArea]";
  if (!window.typedInto) {
    window.typedInto = document.createElement("textarea");
    document.addEventListener("input", event => { if (event.target.matches(name)) window.typedInto = event.target; });
  }
  const typed = !window.typedInto.isConnected && window.typedInto.value;
  for (let looks = 0; typed && looks < 100; looks++) {
    const field = document.querySelector(name);
    if (field) {
      if (field.value) return;
      Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, typed);
      return field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
})();
