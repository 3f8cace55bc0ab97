"""How sure the embedded model is of yes, read from the log-probabilities of the first token it would write.

Its written word is worth nothing as a grade (under a grammar it calls 82% of random passages relevant), the margin
between the two words is: docs/decisions/embedded-chat-model.md has the figures.
"""

import math
from collections.abc import Iterable, Mapping

YES = frozenset({"yes", "y", "true", "correct", "はい", "是", "是的"})
NO = frozenset({"no", "n", "false", "incorrect", "いいえ", "いい", "否", "不是"})
"""first tokens of either word, in lower case; いい is how the model begins いいえ, and it slips into Chinese"""


def margin(top_logprobs: Iterable[Mapping]) -> float:
    """log P(yes) - log P(no), each summed over its spellings.

    `top_logprobs` as OpenAI's protocol lists them for one token: {"token", "logprob"}. A side that is not listed
    counts as the least probable token that is; 0 where the list is empty.
    """
    listed = [(top["token"].strip().lower(), top["logprob"]) for top in top_logprobs]
    if not listed:
        return 0.0
    least = min(logprob for _, logprob in listed)

    def side(words: frozenset[str]) -> float:
        total = sum(math.exp(logprob) for token, logprob in listed if token in words)
        return math.log(total) if total else least

    return side(YES) - side(NO)
