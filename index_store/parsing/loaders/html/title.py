"""The title of a page: its h1, or what the head's title says, without the name of the site."""

from index_store.parsing.loaders.html.tree import Tree

_SEPARATORS = "|｜:：·・»«/-–—―－"


def page_title(tree: Tree, markdown: str) -> str:
    """ "" if it has none. If there are several h1, the one that the title repeats: others are sections."""
    lines = {line.strip() for line in markdown.split("\n") if line.startswith("#")}
    sites = {heading: rest for heading in dict.fromkeys(tree.headings) if (rest := _without_site(tree, heading, lines))}
    headings = [heading for heading in tree.headings if heading not in sites]
    if len(headings) == 1:
        return headings[0]
    repeated = (heading for heading in headings if heading in tree.title)
    title = next(iter(sites.values()), tree.title)
    return next(repeated, title or next(iter(headings), ""))


def _without_site(tree: Tree, heading: str, lines: set[str]) -> str:
    """What the title says beside this heading, if the heading is the name of the site."""
    title = tree.title.strip(f" {_SEPARATORS}")
    rest = title.removesuffix(heading)
    if rest == title and heading == tree.site:
        rest = title.removeprefix(heading)
    if rest == title:
        return ""
    words = rest.strip(f" {_SEPARATORS}")
    if not any(character in _SEPARATORS for character in rest.replace(words, "")):
        return ""
    # Some sites put their name first: then the heading at the end is the page's own.
    is_of_site = (
        heading == tree.site or f"# {heading}" not in lines or not lines.isdisjoint({f"# {words}", f"## {words}"})
    )
    return words if is_of_site else ""
