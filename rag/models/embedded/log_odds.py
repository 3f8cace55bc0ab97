"""How sure the embedded model is of yes, from the log-probabilities of the first token.

The word that the model writes is useless as a grade (with a grammar, it calls 82% of random passages relevant). The
log-odds between the two words are useful. Figures: docs/decisions/models/embedded-chat-model.md.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.models.calls.prompt import Prompt
from rag.models.calls.usage import Token
from rag.trace.grades import Explanation, Factor, Grade

YES = frozenset({"yes", "y", "true", "correct", "はい", "是", "是的"})
NO = frozenset({"no", "n", "false", "incorrect", "いいえ", "いい", "否", "不是"})
"""first tokens of both words, in lower case; いい begins いいえ, and the model sometimes answers in Chinese"""

TOP = 20
"""number of tokens whose log-probabilities are requested"""


@dataclass(frozen=True)
class YesNoQuestion:
    """A yes-or-no question for the model, and the conversion of its log-odds to a grade."""

    prompt: Prompt
    threshold: float
    """log-odds from which the answer is yes; measured with exactly this wording"""
    adjustments: tuple[Factor, ...] = ()
    """known without the model; added to its log-odds"""
    is_negated: bool = False
    """the opposite is asked: a no means yes"""

    def grade(self, tokens: Sequence[Token]) -> Grade:
        """The grade from the tokens of a reply; unknown if there are none."""
        if not tokens:
            return Grade.unknown()
        asked = log_odds(tokens[0]["top_logprobs"])
        explanation = Explanation(
            en="log-odds",
            ja="対数オッズ",
            factors=(
                Factor(en="yes or no", ja="はい・いいえ", value=-asked if self.is_negated else asked),
                *self.adjustments,
            ),
            threshold=self.threshold,
        )
        total = explanation.total
        return Grade(
            verdict="yes" if total >= self.threshold else "no",
            score=1 / (1 + math.exp(self.threshold - total)),
            explanation=explanation,
        )


def log_odds(top_logprobs: Iterable[Token]) -> float:
    """log P(yes) - log P(no), each summed over its spellings.

    `top_logprobs`: those of one token. A word that is not listed counts as the least probable listed token; 0 if the
    list is empty.
    """
    listed = [(top["token"].strip().lower(), top["logprob"]) for top in top_logprobs]
    if not listed:
        return 0.0
    least = min(logprob for _, logprob in listed)

    def side(words: frozenset[str]) -> float:
        total = sum(math.exp(logprob) for token, logprob in listed if token in words)
        return math.log(total) if total else least

    return side(YES) - side(NO)
