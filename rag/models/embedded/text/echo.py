"""An answer that only repeats the question: the model has found nothing to say.

Asked in Japanese about an English document, "Tell me how to update the firmware" came back as its own answer.
"""

from rag.text.repetition import bare


class EchoFilter:
    """Takes an answer in pieces, and holds it back as long as it only repeats the question."""

    def __init__(self, question: str) -> None:
        self._question = bare(question)
        self._repeated = 0
        """how many letters of the question the answer has repeated"""
        self._held: list[str] = []
        self._differs = not self._question

    @property
    def is_echo(self) -> bool:
        """The answer so far is the whole question and nothing else."""
        return not self._differs and self._repeated == len(self._question)

    def feed(self, piece: str) -> str:
        if self._differs:
            return piece
        self._held.append(piece)
        letters = bare(piece)
        if self._question.startswith(letters, self._repeated):
            self._repeated += len(letters)
            return ""
        self._differs = True
        return self._let_go()

    def end(self) -> str:
        return "" if self.is_echo else self._let_go()

    def _let_go(self) -> str:
        shown = "".join(self._held)
        self._held = []
        return shown
