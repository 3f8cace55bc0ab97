"""Replies of models, read as grades, routes and search words."""

import pytest

from rag.models.replies import GroundingReply, KeywordsReply, RelevanceReply, RouteReply, UsefulnessReply
from rag.text.overlap import words_in


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
        ('{"verdict": "relevant", "score": 0.9}', "yes"),
        ('{"verdict": "Not relevant"}', "no"),
        ('{"relevance": "yes"}', "yes"),
        ('{"relevant": false}', "no"),
        ('{"reason": "It says\n2,500 yen.", "verdict": "yes"}', "yes"),
        ('{"verdict": {"reason": "…", "verdict": "no", "score": 0.1}}', "no"),
        ('{"name": "verdict", "parameters": {"reason": "…", "verdict": "yes"}}', "yes"),
        ('<tool_call>{"name": "verdict", "arguments": {"verdict": "no"}}</tool_call>', "no"),
        ('{"type": "object", "properties": {"reason": "…", "verdict": "yes", "score": 1}}', "yes"),
        ('{"reason": "It says so.", "verdict": "yes", "score": 0.8,}', "yes"),
        ("{'reason': 'It says so.', 'verdict': 'no', 'score': 0.1}", "no"),
        ("{'reason': \"It's about leave.\", 'verdict': 'no'}", "no"),
        ('{"reason": "It says "2,500 yen".", "verdict": "yes", "score": 0.9}', "yes"),
        ('{"reason": "「"日当"」 \\"2,500円\\" とある", "verdict": "yes"}', "yes"),
        ("reason: It says so: 2,500 yen.\nverdict: yes\nscore: 0.9", "yes"),
        ("- **Reason:** 日当ではない。\n- **Verdict:** いいえ", "no"),
        ("verdict: yes", "yes"),
        ("**Verdict:** No.", "no"),
        ("Yes.", "yes"),
        ("**No**, it does not.", "no"),
        ("はい", "yes"),
        ("「いいえ」", "no"),
        ("Yes, no doubt.", "yes"),
        ("No, and no other passage says it.", "no"),
    ],
)
def test_a_verdict_is_read_from_what_models_write(text, verdict):
    assert RelevanceReply.read(text).verdict == verdict


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
        "Yes and no.",
        "**No** or yes, by how it is read",
        "yes/no",
        '{"verdict": "yes|no"}',
        "score: 0.9\nverdict: yes\nverdict: no",
        "The passage says:\nverdict: yes",
    ],
)
def test_nonsense_is_neither_yes_nor_no(text):
    assert RelevanceReply.read(text) is None


def test_score_and_reason_come_with_the_verdict():
    grade = RelevanceReply.read('{"reason": " it says so ", "verdict": "yes", "score": 0.75}')
    assert (grade.score, grade.reason) == (0.75, "it says so")


def test_quotation_marks_in_a_reason_need_not_be_escaped():
    grade = RelevanceReply.read('{"reason": "It says "2,500 yen" a day.", "verdict": "yes", "score": 0.9}')
    assert (grade.verdict, grade.score, grade.reason) == ("yes", 0.9, 'It says "2,500 yen" a day.')
    read = GroundingReply.read('{"reason": "r", "unsupported": ["It is "blue"."], "support": "partly"}')
    assert (read.level, read.unsupported) == ("partly", ('It is "blue".',))


def test_a_reason_stays_as_it_was_written():
    reason = 'it has (a,} and \\"b\\",]'
    assert RelevanceReply.read(f'{{"reason": "{reason}", "verdict": "yes"}}').reason == 'it has (a,} and "b",]'


@pytest.mark.parametrize(
    "text",
    ["reason: it says: so\nverdict: yes\nscore: 0.75", "{'reason': 'it says: so', 'verdict': 'yes', 'score': 0.75,}"],
)
def test_score_and_reason_are_read_in_other_forms_too(text):
    grade = RelevanceReply.read(text)
    assert (grade.score, grade.reason) == (0.75, "it says: so")


@pytest.mark.parametrize(
    ("verdict", "said", "read"), [("no", 0.9, 0.1), ("yes", 0.2, 0.5), ("no", 0.2, 0.2), ("yes", 0.6, 0.6)]
)
def test_a_score_on_the_wrong_side_is_the_confidence_in_a_no_and_makes_no_yes_surer(verdict, said, read):
    grade = RelevanceReply.read(f'{{"verdict": "{verdict}", "score": {said}}}')
    assert grade.verdict == verdict
    assert grade.score == pytest.approx(read)


@pytest.mark.parametrize("score", ["5", "-1", '"high"', "null", "NaN"])
def test_a_score_that_is_none_leaves_the_verdict(score):
    grade = RelevanceReply.read(f'{{"verdict": "yes", "score": {score}, "reason": "r"}}')
    assert (grade.verdict, grade.score, grade.reason) == ("yes", None, "r")


@pytest.mark.parametrize(
    ("text", "level", "verdict"),
    [
        ('{"reason": "r", "unsupported": [], "support": "fully"}', "fully", "yes"),
        ('```json\n{"support": "Partially supported.", "unsupported": ["It is  blue.", 3]}\n```', "partly", "no"),
        ('{"support": "NO"}', "no", "no"),
        ('{"verdict": "yes", "score": 0.9}', "fully", "yes"),
        ("いいえ。", "no", "no"),
        ('{"supported": true}', "fully", "yes"),
        ('{"support": "yes", "unsupported": []}', "fully", "yes"),
        ('{"supported": false, "unsupported": ["It is blue."]}', "no", "no"),
        ('{"support": "fully", "unsupported": ["None."]}', "fully", "yes"),
        ('{"support": "fully", "unsupported": null}', "fully", "yes"),
        ('{"support": "fully", "unsupported": "なし。"}', "fully", "yes"),
        ('{"support": "fully", "unsupported": ["特にありません"]}', "fully", "yes"),
        ('{"support": "fully", "unsupported": ["(none)", "-", "null"]}', "fully", "yes"),
        ('{"support": "fully", "unsupported": "No unsupported claims."}', "fully", "yes"),
        ('{"support": "fully", "unsupported": {"claims": [], "count": 0}}', "fully", "yes"),
        ('{"unsupported": [{"claim": "It is blue."},], "support": "partly",}', "partly", "no"),
        ("reason: It says so.\nunsupported: []\nsupport: fully", "fully", "yes"),
    ],
)
def test_grounding_is_read_in_three_levels(text, level, verdict):
    read = GroundingReply.read(text)
    assert (read.level, read.verdict) == (level, verdict)


@pytest.mark.parametrize(
    "text",
    [
        '{"support": "fully", "unsupported": ["The limit is 5."]}',
        '{"supported": true, "unsupported": ["The limit is 5."]}',
        'Yes. {"reason": "r", "unsupported": ["The limit is 5."], "support": "fully"}',
        '{"support": "fully", "unsupported": "3,000円"}',
        '{"support": "fully", "unsupported": [{"claim": "3,000円"}]}',
        '{"support": "fully", "unsupported": {"claims": ["3,000円"]}}',
        '{"support": "fully", "unsupported": [["3,000円"]]}',
    ],
)
def test_full_support_with_claims_that_have_none_is_not_read(text):
    assert GroundingReply.read(text) is None


def test_the_unsupported_claims_are_read_each_on_a_line():
    read = GroundingReply.read('{"support": "partly", "unsupported": ["It is\\n blue.", "", null, 3, "It is big."]}')
    assert read.unsupported == ("It is blue.", "It is big.")


@pytest.mark.parametrize(
    ("written", "claims"),
    [
        ('"It is\\n blue."', ("It is blue.",)),
        (r'[{"claim": "It is blue \ud83d."}, "It is big."]', ("It is blue \ufffd.", "It is big.")),
        ('{"1": "It is blue.", "2": "It is big.", "count": 2}', ("It is blue.", "It is big.")),
        ("[" * 500 + '"It is blue."' + "]" * 500, ("It is blue.",)),
    ],
)
def test_unsupported_claims_that_are_no_list_of_texts_are_read_too(written, claims):
    assert GroundingReply.read(f'{{"support": "partly", "unsupported": {written}}}').unsupported == claims


@pytest.mark.parametrize(
    ("text", "rating", "verdict"),
    [
        ('{"reason": "r", "rating": 5}', 5, "yes"),
        ('{"rating": "3/5"}', 3, "yes"),
        ('{"rating": 2.0}', 2, "no"),
        ('{"verdict": "no"}', 1, "no"),
        ('{"rating": "４"}', 4, "yes"),
        ("はい", 5, "yes"),
        ("4", 4, "yes"),
        ("**Rating:** 2/5.\n", 2, "no"),
        ("５／５", 5, "yes"),
    ],
)
def test_usefulness_is_read_as_a_rating(text, rating, verdict):
    read = UsefulnessReply.read(text)
    assert (read.rating, read.verdict) == (rating, verdict)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would rather not.",
        "-4",
        "4 of 9",
        "10",
        '{"rating": 9}',
        '{"rating": true}',
        '{"support": "blue"}',
        "[]",
        f'{{"rating": {"9" * 5000}}}',
    ],
)
def test_what_is_no_grade_is_read_as_none(text):
    assert GroundingReply.read(text) is None
    assert UsefulnessReply.read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"words": ["日当", "VPN client"]}',
        'Sure!\n```json\n{"words": ["日当", "VPN client"]}\n```',
        '{"keywords": ["日当", 5, "VPN client", ""]}',
        '["日当", "VPN client"]',
        "日当, VPN client",
        "日当、VPN client。",
        "Search words: 日当, VPN client",
        "検索語：「日当」、「VPN client」",
        "- 日当\n- VPN client",
        "1. 日当\n2. VPN client\n",
        '"日当"; *VPN  client*',
    ],
)
def test_words_are_read_from_json_and_from_lists_of_any_kind(text):
    assert KeywordsReply.read(text) == ("日当", "VPN client")


@pytest.mark.parametrize("text", ["", " \n", '{"words": []}', '{"words": [null, {}]}', "、、", "{" * 3000])
def test_a_reply_without_search_words_gives_none(text):
    assert words_in("日当はいくらですか?", KeywordsReply.read(text)) == ()


def test_a_number_with_its_unit_stays_whole():
    assert KeywordsReply.read("1.5 km, ver. 2.0") == ("1.5 km", "ver. 2.0")


@pytest.mark.parametrize(
    ("written", "route"),
    [
        ('{"reason": "x", "route": "web"}', "web"),
        ("reason: It changes by the day.\nroute: web", "web"),
        ('```json\n{"route": "Documents."}\n```', "documents"),
        ("talk", "talk"),
        ("**web**", "web"),
        ("I would go to the web.", None),
        ('{"route": ["web"]}', None),
        ('{"route": null}', None),
        ("", None),
    ],
)
def test_a_route_is_read_from_what_a_model_wrote(written, route):
    reply = RouteReply.read(written)
    assert (reply and reply.route) == route


def test_an_escape_that_is_half_a_character_is_read_as_the_sign_for_it():
    grade = RelevanceReply.read(r'{"reason": "Yes \ud83d, \ud83d\ude00.", "verdict": "yes"}')
    assert grade.reason == "Yes \ufffd, \U0001f600."
    grounding = GroundingReply.read(r'{"unsupported": ["It is \ude00."], "support": "partly"}')
    assert grounding.unsupported == ("It is \ufffd.",)
    assert KeywordsReply.read(r'{"words": ["VPN\ud83d"]}') == ("VPN\ufffd",)


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ("relevant: yes", "yes"),
        ("**Relevance:** No. It is about leave.", "no"),
        ("判定: はい", "yes"),
        ("関連性：いいえ", "no"),
        ("Answer: yes and no", None),
        ("Relevant passages: none, yes", None),
        ('{"verdict": "not_relevant"}', "no"),
    ],
)
def test_a_verdict_is_read_behind_its_label(written, verdict):
    grade = RelevanceReply.read(written)
    assert (grade and grade.verdict) == verdict


@pytest.mark.parametrize(
    ("written", "level"),
    [
        ("Fully supported.", "fully"),
        ("**partly**", "partly"),
        ("Not supported.", "no"),
        ('{"support": "partially_supported"}', "partly"),
        ('{"support": "unsupported"}', "no"),
        ("It is fully supported, I think.", None),
    ],
)
def test_a_level_is_read_without_json_and_in_other_words(written, level):
    grounding = GroundingReply.read(written)
    assert (grounding and grounding.level) == level
