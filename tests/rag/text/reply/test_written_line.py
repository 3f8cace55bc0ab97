"""The line that a model was told to write, out of what it wrote."""

import pytest

from rag.text.reply.written_line import written_line


@pytest.mark.parametrize(
    "reply",
    [
        "travel cost limit",
        "「travel cost limit」\n",
        "Query: travel cost limit",
        "**Query:** travel cost limit",
        "Rewritten search query: “travel cost limit”",
        "New question： travel cost limit",
        "検索クエリ：「travel cost limit」",
        "クエリ: travel cost limit",
        "書き直した質問：\ntravel cost limit",
        "Sure! Here is a better query.\ntravel cost limit",
        "はい、書き直しました。\ntravel cost limit",
        "Here is the query:\n\n`travel cost limit`",
        "```\ntravel cost limit\n```",
        "Sure!\n```text\nQuery: travel cost limit\n```\nIt names the limit.",
        '{"query": "travel cost limit"}',
        '```json\n{\n  "query": "travel cost limit", "score": 1\n}\n```',
        '{"query": "travel cost limit", "reason": "It names the limit."}',
        '{"理由": "上限を尋ねている", "検索文": "travel cost limit"}',
        '{"standalone_question": "travel cost limit", "reason": "as it is"}',
        "- travel cost limit",
        "1. travel cost limit\n2. limit of travel costs",
        "・「travel cost limit」",
        "<query>travel cost limit</query>",
        "<search_query>\ntravel cost limit\n</search_query>",
        "- **travel cost limit**",
        "新しい検索文:travel cost limit",
        "書き換え後の質問:「travel cost limit」",
        "言い換えた検索クエリ:\ntravel cost limit",
        "**検索クエリ**\ntravel cost limit",
        "## Rewritten query\n\ntravel cost limit",
        "The standalone question is: travel cost limit",
        "Here is the standalone question: travel cost limit",
        "Sure, here's a better query: travel cost limit",
        "質問文: travel cost limit",
        "スタンドアロンの質問: travel cost limit",
        "検索キーワード: travel cost limit",
        "Web検索文: travel cost limit",
        "はい、以下が検索文です：travel cost limit",
        "より良い検索文: travel cost limit",
    ],
)
def test_what_a_model_writes_around_the_line_is_left_out(reply):
    assert written_line(reply) == "travel cost limit"


@pytest.mark.parametrize(
    "line",
    [
        "Query language of the search",
        "質問票の提出先",
        "Of course.",
        "Here is what?",
        "{not JSON}",
        "検索語の数: 3",
        '"cost limit" OR "per diem"',
        "「年休」と「有給」の違い",
        "「年休」とは何ですか?",
        "1.5 days of leave",
        "2026 calendar",
        "質問",
        "前回見た質問票: 提出先",
    ],
)
def test_a_line_that_only_looks_like_something_around_it_stays(line):
    assert written_line(line) == line


@pytest.mark.parametrize("reply", ["", "\n \n", "Query:", "```\n```", "「」", "{}", '{"query": "a", "question": "b"}'])
def test_where_there_is_no_line_there_is_none(reply):
    assert written_line(reply) == ""


def test_half_a_character_in_json_does_no_harm():
    assert written_line('{"query": "travel \\ud800"}').encode()
