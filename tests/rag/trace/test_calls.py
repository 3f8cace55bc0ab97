"""Calls of the chat model as they are stored: complete if they fit, cut if they are too long."""

from rag.trace.calls import MOST_OF_A_CALL, Call, Message, ShortenedText, TokenProbability, pack, unpack, within_limits


def call(*texts: str, reply: str = "Yes.", number: int = 1) -> Call:
    return Call(
        task="answer", model="m", temperature=0, max_tokens=100, number=number, milliseconds=5, status="finished",
        messages=tuple(Message(role="user", text=text) for text in texts), reply=ShortenedText(text=reply),
        tokens=(TokenProbability(token="Yes", logprob=-0.1),),
    )  # fmt: skip


def test_what_fits_is_kept_as_it_was():
    calls = (call("A" * 1000, "B" * 2000), call("C", number=2))
    assert within_limits(calls) == calls
    assert unpack(pack(calls)) == calls


def test_of_a_call_that_is_too_long_its_longest_text_loses_its_middle_and_says_how_much():
    long = "begin " + "x" * MOST_OF_A_CALL + " task"
    [kept] = within_limits([call("Short.", long)])
    short, cut = kept.messages
    assert short == Message(role="user", text="Short.")
    assert (kept.reply.text, kept.reply.left_out, len(kept.tokens)) == ("Yes.", 0, 1)
    assert kept.characters <= MOST_OF_A_CALL
    assert cut.left_out == len(long) - len(cut.text)
    assert cut.text[: cut.at].startswith("begin xxx")
    assert cut.text[cut.at :].endswith("xxx task")


def test_several_texts_that_are_too_long_are_cut_to_one_length():
    [kept] = within_limits([call("a" * 50_000, "b" * 70_000, reply="c" * 10)])
    assert [len(each.text) for each in kept.messages] == [29_995, 29_995]
    assert kept.reply.text == "c" * 10


def test_the_last_calls_of_a_run_that_says_too_much_keep_their_settings_alone():
    kept = within_limits([call("a" * 90, number=1), call("b" * 90, number=2), call("c" * 90, number=3)], most=100)
    assert [each.characters for each in kept] == [94, 6, 0]
    assert kept[2].messages[0] == Message(role="user", text="", left_out=90)
    assert (kept[2].reply, kept[2].tokens, kept[2].max_tokens) == (ShortenedText(text="", left_out=4), (), 100)


def test_what_repeats_itself_takes_little_room():
    passages = "".join(f"Sentence {number} of a passage. " for number in range(500))
    assert len(pack([call(passages, number=number) for number in range(1, 11)])) < len(passages)
