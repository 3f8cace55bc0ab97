"""Removes from a reply what it repeats of its instructions: a document may have told the model to show them.

It notices what is repeated letter by letter, whatever stands between the letters; not what was translated or encoded.
"""

SHOWN = 24
"""bytes of what may turn out to be repeated that are shown meanwhile: nearly every word stands in the instructions"""
REPEATED = 60
"""bytes of letters from which on it is no chance: a dozen words of English, twenty characters of Japanese"""
LEFT_OUT = "…"


class InstructionFilter:
    """Takes a reply in pieces, and returns it with an ellipsis where it repeats its instructions."""

    def __init__(self, instructions: str) -> None:
        self._instructions = _bare(instructions)
        self._same = ""
        """the end of the reply that stands in the instructions, too"""
        self._held = ""
        """of it, what was not given back yet"""
        self._is_repeated = False

    def feed(self, piece: str) -> str:
        return "".join(map(self._read, piece))

    def end(self) -> str:
        return self._let_go()

    def _read(self, letter: str) -> str:
        same, given = self._same + _bare(letter), ""
        if same not in self._instructions:
            given = self._let_go()
            while same not in self._instructions:
                same = same[1:]
        self._same = same
        size = len(same.encode())
        if size <= SHOWN:
            return given + self._let_go() + letter
        self._held += letter
        if size >= REPEATED and not self._is_repeated:
            self._is_repeated = True
            return given + LEFT_OUT
        return given

    def _let_go(self) -> str:
        held, self._held = ("" if self._is_repeated else self._held), ""
        self._is_repeated = False
        return held


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
