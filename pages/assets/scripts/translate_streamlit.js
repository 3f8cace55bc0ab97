// Tells the browser the language of the page, and gives Streamlit's own words in it.
//
// Streamlit's page and its words are in English. The script runs whenever its element changes, so with each language.
// It keeps the words of Streamlit, because it may have to write them in another language.
{
  const told = document.querySelector("[data-page-language]").dataset;
  document.documentElement.lang = told.pageLanguage;
  const labels = Object.entries(JSON.parse(told.labels)), fixed = new Map(labels);
  const literal = text => text.replace(/[.()]/g, "\\$&");
  const pattern = its => its.split(/{(\w+)}/).map((part, n) => n % 2 ? `(?<${part}>.*)` : literal(part)).join("");
  const around = labels.filter(([its]) => its.includes("{")).map(([its, ours]) => [RegExp(`^${pattern(its)}$`), ours]);
  const tooltip = "[data-testid=stTooltipErrorContent]", chip = "[data-testid=stFileChip][title]";
  const alert = ":is([data-testid=stNumberInput], [data-testid=stFileChip]) [role=alert]";
  const dialog = "[data-testid=stDialog] section :is(h2, div), [data-testid=stStatusWidget] :is(label, button, button *)";
  const refusals = `${alert}, ${tooltip}, ${tooltip} :is(p, strong), ${dialog}`;
  const translated = (its, each) => {
    if (fixed.has(its)) return fixed.get(its);
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
