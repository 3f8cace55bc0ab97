"""Which messages are clearly small talk."""

import pytest

from rag.text.question.small_talk import is_small_talk

TALK = (
    "こんにちは",
    "こんばんは!",
    "おはようございます。",
    "ありがとう",
    "どうもありがとうございました",
    "お疲れ様です",
    "おつかれさまでした",
    "はじめまして、よろしくお願いします",
    "こんにちは、元気ですか?",
    "了解です",
    "さようなら",
    "あなたは誰ですか?",
    "何ができますか",
    "Hello",
    "hi there!",
    "Hey",
    "Good morning, everyone.",
    "Thanks!",
    "Thank you very much",
    "thanks so much",
    "thanks a lot, bye",
    "How are you?",
    "How are you doing",
    "What can you do?",
    "Who are you",
    "OK, got it. Thanks!",
    "Hello all",
    "皆さん、こんにちは",
    "了解です。ありがとうございます",
    "よろしくお願いします",
    "お元気ですか",
    "Ｈｅｌｌｏ",
    "分かりました。ありがとうございます。",
    "承知しました",
    "承知いたしました。",
    "かしこまりました",
    "了解いたしました",
    "なるほど、ありがとうございます!",
    "ありがとうございます、助かります",
    "OKです",
    "Understood, thank you.",
    "Perfect, thanks!",
    "ご回答ありがとうございます",
    "早速のご回答ありがとうございました。",
    "ご丁寧にありがとうございます",
    "教えていただきありがとうございます",
    "なるほど、よく分かりました",
    "大変助かりました",
    "ありがと",
    "Thank you for your answer",
    "Thanks for the quick reply!",
    "Many thanks",
    "That helps, thank you.",
    "Very helpful, thanks",
    "I see, thanks",
)
NO_TALK = (
    "こんにちは。日当はいくらですか?",
    "ありがとうの言い方の規程は?",
    "お疲れ様会の予算は?",
    "元気",
    "皆さん?",
    "Everyone?",
    "all",
    "There?",
    "何ができますか、この製品で",
    "Hello World in Python?",
    "Thanks to whom is the award given?",
    "hi-fi equipment rules",
    "What can you do about late expenses?",
    "good",
    "",
    "???",
    "Who are you supposed to call?",
    "承知しましたの言い換えは?",
    "承知",
    "なるほど、では課長は?",
    "Perfect attendance award",
    "ご回答ありがとうございます。海外出張は含まれますか",
    "回答",
    "よくある質問",
    "Thanks for the fish",
    "I see no form for travel",
    "okay " * 40,
)


@pytest.mark.parametrize("text", TALK)
def test_greetings_and_thanks_are_small_talk(text):
    assert is_small_talk(text)


@pytest.mark.parametrize("text", NO_TALK)
def test_what_asks_for_more_is_none(text):
    assert not is_small_talk(text)
