import pytest

from rag.grades import read_verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"verdict": "yes"}', "yes"),
        ('{"reason": "…", "verdict": "no", "score": 0.1}', "no"),
        ('```json\n{"verdict": "yes", "score": 0.8}\n```', "yes"),
        ('Here is my verdict: {"verdict": "No."} I hope it helps.', "no"),
        ('{"note": "a {brace"} and {"verdict": "yes"}', "yes"),
        ('{"binary_score": "yes"}', "yes"),
        ('{"Verdict": "YES"}', "yes"),
        ('{"verdict": true}', "yes"),
        ('{"verdict": "いいえ"}', "no"),
        ('{"verdict": "はい。", "score": "high"}', "yes"),
        ("Yes.", "yes"),
        ("**No**, it does not.", "no"),
        ("はい", "yes"),
        ("「いいえ」", "no"),
    ],
)
def test_a_verdict_is_read_from_what_models_write(text, verdict):
    assert read_verdict(text).verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would rather not say.",
        "Nobody knows.",
        "Yesterday it rained.",
        "{",
        "[]",
        '{"verdict": "maybe"}',
        '{"verdict": null}',
        '{"score": 0.9}',
        "The passage says yes to nothing.",
    ],
)
def test_nonsense_is_neither_yes_nor_no(text):
    assert read_verdict(text) is None


def test_score_and_reason_come_with_the_verdict():
    grade = read_verdict('{"reason": " it says so ", "verdict": "yes", "score": 0.75}')
    assert (grade.score, grade.reason) == (0.75, "it says so")


@pytest.mark.parametrize(("verdict", "said", "read"), [("no", 0.9, 0.1), ("yes", 0.2, 0.8), ("no", 0.2, 0.2)])
def test_a_score_on_the_wrong_side_is_the_confidence_in_the_verdict(verdict, said, read):
    grade = read_verdict(f'{{"verdict": "{verdict}", "score": {said}}}')
    assert grade.verdict == verdict
    assert grade.score == pytest.approx(read)


@pytest.mark.parametrize("score", ["5", "-1", '"high"', "null", "NaN"])
def test_a_score_that_is_none_leaves_the_verdict(score):
    grade = read_verdict(f'{{"verdict": "yes", "score": {score}, "reason": "r"}}')
    assert (grade.verdict, grade.score, grade.reason) == ("yes", None, "r")
