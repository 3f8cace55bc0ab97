import pytest

from rag.text.language import is_written_in, language_in_conversation, language_of


@pytest.mark.parametrize(
    "text",
    [
        "日当はいくら?",
        "VPN設定方法",
        "ＶＰＮの設定",
        "出張旅費",
        "What is 日当のこと?",
        "ﾃﾞｰﾀ",
        "「Who is who」とは何ですか",
        "The Lord of the Rings 映画パンフレット",
        "What is と How to の違い",
        "田中さん",
        "手引き",
        "What is The List を見せて",
        "Microsoft Teams 会議",
        "Google Workspace SSO SAML 設定",
    ],
)
def test_kana_or_mostly_han_is_japanese(text):
    assert language_of(text) == "ja"


@pytest.mark.parametrize("text", ["What is the allowance?", "What does 日当 mean in English?", "42?", ""])
def test_the_rest_is_english(text):
    assert language_of(text) == "en"


@pytest.mark.parametrize(
    "text",
    [
        "How should I set Zパタン for shiny metal parts?",
        "What is 出張旅費規程?",
        "Who is 田中さん?",
        "What does 「領収書の添付」 mean?",
        "Please explain サーバー設定手順書",
        "who is 山田様",
        "Where do I submit the 申し込み書?",
        "What does 引き継ぎ mean?",
        "Where can I find the 手引き?",
        "Who prepares the 打ち合わせ and the 見積もり?",
        "Where is the お知らせ?",
        "Contact details for 人事部",
        "Office hours and address of 本社 in Tokyo",
        "Who approves 稟議書?",
        "How to use 楽楽精算?",
        "Is マイカー通勤 allowed?",
        "What's フレックスタイム?",
        "What is みなし残業?",
    ],
)
def test_an_english_question_that_names_something_japanese_is_english(text):
    assert language_of(text) == "en"


@pytest.mark.parametrize(
    "text",
    [
        "出張旅費規程",
        "日当の金額",
        "VPN 接続方法",
        "出張の際に支給される日当の金額",
        "出張旅費規程 日当 支給額",
        "東京都 最低賃金 2025年",
        "年次有給休暇付与日数",
        "就業規則 通勤手当支給基準",
        "公的年金制度加入条件",
        "在宅勤務終了時刻報告義務",
        "没収保証金返還請求",
        "幾何学的構造解析手法",
        "損失補塡 申請方法",
        "髙島屋 請求書 送付先",
        "Google Workspace SSO SAML 設定",
        "Microsoft Teams Outlook 連携",
        "Cisco AnyConnect VPN Mac 設定",
        "Slack Zoom Google Calendar 連携方法",
    ],
)
def test_a_japanese_query_is_written_in_japanese(text):
    assert is_written_in(text, "ja")


@pytest.mark.parametrize(
    "text",
    [
        "出差补贴的具体金额是多少",
        "出差 补贴 标准",
        "出差津貼標準是多少",
        "出差津貼由誰批准",
        "病假需要什麼證明文件",
        "兼職員工可以申請嗎",
        "daily allowance",
        "What is 日当?",
        "HazeGate",
        "",
    ],
)
def test_chinese_and_english_are_not_written_in_japanese(text):
    assert not is_written_in(text, "ja")


def test_english_is_what_holds_no_japanese():
    assert is_written_in("daily allowance", "en")
    assert not is_written_in("日当の金額", "en")


@pytest.mark.parametrize("text", ["VPN?", "iPhone 15?", "ＶＰＮ?", "42?", "slack", "OK"])
def test_what_only_names_something_is_in_the_language_of_what_was_asked_before(text):
    assert language_in_conversation(text, ["日当はいくらですか?", "Slack?"]) == "ja"
    assert language_in_conversation(text, ["日当はいくらですか?", "How much is it?"]) == "en"
    assert language_in_conversation(text, []) == language_of(text)


@pytest.mark.parametrize("text", ["And abroad?", "Why?", "Thanks!", "in English", "Is VPN included?", "환불 규정?"])
def test_what_says_more_is_in_its_own_language(text):
    assert language_in_conversation(text, ["日当はいくらですか?"]) == "en"
