"""What is in an HTML file: its tags and its text, and the tags that could act or load something."""

from html.parser import HTMLParser

ACTIVE = {
    "script", "img", "iframe", "frame", "object", "embed", "link", "base", "form", "input", "svg", "math", "video",
    "audio", "source", "template", "portal",
}  # fmt: skip


class Parts(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def values(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]
