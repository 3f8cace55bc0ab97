"""Removes instructions that a reply repeats: a document may have told the model to show them.

It finds text repeated letter by letter, with anything between the letters; not translated or encoded text.
"""

SHOWN = 24
"""bytes of a possible repetition that are shown before it is certain: nearly every word is also in the instructions"""
REPEATED = 60
"""bytes of letters from which a repetition is no accident: a dozen words of English, twenty characters of Japanese"""
LEFT_OUT = "…"


class InstructionFilter:
    """Takes a reply in pieces, and returns it with an ellipsis where it repeats its instructions."""

    def __init__(self, instructions: str) -> None:
        self._instructions = _bare(instructions)
        self._same = ""
        """the end of the reply, as far as it is also in the instructions"""
        self._held = ""
        """the part of it that was not returned yet, up to its last letter"""
        self._signs = ""
        """what stands behind that: part of the repetition only if that goes on, else of the text that follows"""
        self._is_repeated = False

    def feed(self, piece: str) -> str:
        return "".join(map(self._read, piece))

    def end(self) -> str:
        return self._let_go()

    def _read(self, letter: str) -> str:
        bare = _bare(letter)
        if not bare and self._held:
            self._signs += letter
            return ""
        same, given = self._same + bare, ""
        if same not in self._instructions:
            given = self._let_go()
            while same not in self._instructions:
                same = same[1:]
        self._same = same
        size = len(same.encode())
        if size <= SHOWN:
            return given + self._let_go() + letter
        self._held += self._signs + letter
        self._signs = ""
        if size >= REPEATED and not self._is_repeated:
            self._is_repeated = True
            return given + LEFT_OUT
        return given

    def _let_go(self) -> str:
        shown = ("" if self._is_repeated else self._held) + self._signs
        self._held = self._signs = ""
        self._is_repeated = False
        return shown


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
