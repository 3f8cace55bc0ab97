"""Names of people and groups as somebody typed them, and as they are stored and compared."""

from index_store.base.database.database import storable

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))


def typed(name: str) -> str:
    """A name that somebody has typed or pasted. Pages and mail programs put invisible characters into addresses."""
    return storable(name).translate(_UNSEEN).strip()


_WIDE = {sign + 0xFEE0: sign for sign in range(ord("!"), ord("~") + 1)}


def typed_address(name: str) -> str:
    """The mail address in a name that somebody has typed or pasted: in full-width signs, as Japanese keyboards write
    them, or behind a name, as mail programs copy it: Anna <anna@example.com>. Other names are as `typed` returns them.

    Not for claims of a sign-in: who is called ａｎｎａ＠example.com there is not anna@example.com.
    """
    name = typed(name)
    address = name.translate(_WIDE)
    if address.endswith(">"):
        address = address[address.rfind("<") + 1 : -1].strip()
    return address if "@" in address and address.isascii() else name


def account_name(name: str) -> str:
    """The name under which a person is added or given a grant before they sign in. `name`: subject or mail address."""
    name = typed(name)
    return folded_address(name) if "@" in name else name


def folded_address(name: str) -> str:
    """Case does not matter in mail addresses. Only ASCII is folded: otherwise a Kelvin sign would become a k."""
    return name.lower() if name.isascii() else name
