"""What an answer is worth by its three grades: how Self-RAG ranks candidates (arXiv 2310.11511, section 3.3).

    score = 1.0 * ISREL + 1.0 * ISSUP + 0.5 * ISUSE        -0.5 to 2.5

Weights and values are the paper's (its section 4.3 and appendix A.3). It takes the expectation over its model's
reflection tokens and adds the probability of the text. A grader behind an API says one grade, which counts whole, and
the text's probability is not to be had; the paper's own code leaves it out by default.
"""

from rag.trace import Grade, Support, Usefulness

RELEVANCE, SUPPORT, USEFULNESS = 1.0, 1.0, 0.5
"""weights"""

_VERDICT = {"yes": 1.0, "no": 0.0, "unknown": 0.5}
_SUPPORT = {"fully": 1.0, "partly": 0.5, "no": 0.0, None: 0.5}
_RATING = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0, None: 0.0}
"""what was not graded counts as the middle, neither yes nor no"""


def score(relevance: Grade, support: Support, usefulness: Usefulness) -> float:
    relevant = _VERDICT[relevance.verdict] if relevance.score is None else relevance.score
    return RELEVANCE * relevant + SUPPORT * _SUPPORT[support.level] + USEFULNESS * _RATING[usefulness.rating]
