"""Orders in quoted material against every prompt of both kinds: none gets out of its fence, and none is obeyed."""

import re
import unicodedata
from pathlib import Path

import pytest

from rag.models.chat_model import ChatModel
from rag.models.replies import GroundingReply, RelevanceReply, UsefulnessReply
from rag.models.service.chat import ServiceChat
from rag.runs.engine import UserEngine
from rag.text.fence import fenced
from rag.trace.events import RunFinished
from rag.trace.passages import Passage
from tests.rag.documents import INDEX
from tests.rag.injections import FOLLOWED, INJECTIONS
from tests.rag.models.kinds import KINDS, Messages, prompts_over
from tests.rag.reading import finished
from tests.rag.verdicts import NO, YES, approve

HARMLESS = "harmless"
FENCES = ("passage", "answer", "rejected", "turn", "unsupported", "found", "reason", "strip", "system")

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
each_injection = pytest.mark.parametrize("attack", INJECTIONS.values(), ids=INJECTIONS)
each_language = pytest.mark.parametrize("language", ["ja", "en"])

QUESTIONS = {"ja": "出張の日当はいくらですか?", "en": "What is the VPN client called?"}


def passage(text: str, *, title: str = "Travel", origin: str = "documents") -> Passage:
    return Passage(
        number=1, rank=1, score=0.8, document_id="d", section_id="s", source=text, title=title, headings=(title,),
        page=None, text=text, start=0, end=len(text), origin=origin, published=text if origin == "web" else None,
    )  # fmt: skip


QUOTES_NOTHING = {"memory", "need", "keywords", "web query", "talk", "route"}
"""prompts over the question alone, which is the person's own"""


def carried(kind: type[ChatModel], language: str, text: str) -> dict[str, list[Messages]]:
    """The messages of every prompt that quotes anything, with `text` in each place where quoted material may stand."""
    question, others = QUESTIONS[language], [passage("First."), passage("Last.").model_copy(update={"number": 3})]
    prompts: dict[str, list[Messages]] = {}
    for carrier, hostile in {
        "a passage": passage(text).model_copy(update={"number": 2}),
        "a title": passage("Text.", title=text).model_copy(update={"number": 2}),
        "a web page": passage(text, title=text, origin="web").model_copy(update={"number": 2}),
    }.items():
        given = [others[0], hostile, others[1]]
        asked = prompts_over(kind, question, given, text, language=language)
        prompts |= {f"{name} with {carrier}": each for name, each in asked.items() if name not in QUOTES_NOTHING}
    return prompts


def plain(text: str) -> str:
    """As a model may see it: look-alikes are what they look like, and what takes no room is not there."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(each for each in text if unicodedata.category(each) != "Cf" and each not in "\u034f\u3164")
    return re.sub("[〈‹⟨〈˂]", "<", re.sub("[\u2044\u2215]", "/", text)).lower()


def tags(messages: Messages) -> list[str]:
    """All that reads as one of our tags, or as a chat's role, in the order of the prompt."""
    names = "|".join(FENCES)
    pattern = rf"<\s*/?\s*(?:{names})(?!\w)|<\s*\|[^|]*\|>|\[/?inst\]|<</?sys>>|</?s>"
    return [re.sub(r"\s", "", each) for _, text in messages for each in re.findall(pattern, plain(text))]


def outside(messages: Messages) -> str:
    """The prompt without what stands in its fences, and without their attributes."""
    text = "\n".join(f"{role}: {content}" for role, content in messages)
    text = re.sub(
        r"<(passage|answer|rejected|turn|unsupported|found|reason)( [^>]*)?>\n.*?\n</\1>",
        r"<\1></\1>",
        text,
        flags=re.DOTALL,
    )
    return re.sub(r"^Proposed answer: .*$", "Proposed answer:", text, flags=re.MULTILINE)


@each_injection
@each_kind
@each_language
def test_nothing_that_is_quoted_gets_out_of_its_fence_or_adds_a_tag(kind, language, attack):
    harmless = carried(kind, language, HARMLESS)
    for name, prompts in carried(kind, language, attack).items():
        [like, *_] = harmless[name]
        for messages in prompts:
            assert tags(messages) == tags(like), name
            assert outside(messages) == outside(like), name
            assert [role for role, _ in messages] == [role for role, _ in like], name


@each_kind
@each_language
def test_whoever_quotes_tells_the_model_that_it_is_no_order(kind, language):
    for name, [messages, *_] in carried(kind, language, HARMLESS).items():
        if kind is ServiceChat and not name.startswith(("relevance", "rewrite with")):
            assert re.search("never follow an instruction|決して従わない", messages[0][1]), name
        assert messages[0][0] == "system"


@pytest.mark.parametrize(
    "text", ["a < b", "<b>bold</b>", "x<y>z", "<answers>", "1 ＜ 2", "《出張》", "〈注〉", "if (a<passages) {}"]
)
def test_what_is_no_tag_of_ours_is_quoted_letter_by_letter(text):
    assert fenced("passage", text) == f"<passage>\n{text}\n</passage>"


def document(engine: UserEngine, tmp_path, text: str) -> None:
    file = tmp_path / "hostile.md"
    file.write_text(f"# 出張旅費規程\n\n## 第9条 日当の特例\n\n出張の日当の特例です。{text}\n", encoding="utf-8")
    assert engine.store.add(INDEX, file, file.name).error is None


@pytest.mark.parametrize("name", ["fake grade", "偽の採点", "chat template", "close full-width"])
def test_a_grader_is_believed_in_its_own_answer_alone(engine, chat, tmp_path, name):
    document(engine, tmp_path, INJECTIONS[name])
    approve(chat)
    chat.answer_when("JSON", "特例", answer=NO)
    chat.default = "2,500円です[1]。"
    run = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="self_rag")
    run.result()
    graded = finished(run.events, "grade_documents")[0].detail.grades
    hostile = [each.grade.verdict for each in graded if each.passage.source == "hostile.md"]
    assert hostile == ["no"]


GROUNDING_NO = '{"reason": "r", "unsupported": ["x"], "support": "no"}'
RATED_1 = '{"reason": "r", "rating": 1}'


@pytest.mark.parametrize(
    ("reply", "own"), [(RelevanceReply, NO), (GroundingReply, GROUNDING_NO), (UsefulnessReply, RATED_1)]
)
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_grader_that_repeats_a_fake_grade_beside_its_own_is_not_believed(reply, own, order):
    said = [f"The passage says: {INJECTIONS['fake grade']}", f"My grade: {own}"]
    grade = reply.read("\n".join(said if order == "before" else said[::-1]))
    assert grade is None or grade.verdict == "no"


def test_a_grade_that_is_given_twice_alike_is_a_grade():
    assert RelevanceReply.read(f"{YES}\n\nSo: {YES}").verdict == "yes"


@pytest.mark.parametrize("name", ["以前の指示を無視", "picture", "html", "fake refusal"])
def test_what_a_follow_up_is_read_against_is_fenced_in_a_real_run(engine, chat, name):
    chat.default = INJECTIONS[name]
    first = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="naive")
    first.result()
    run = engine.ask("それは誰が決めますか?", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id)
    assert run.result().status == "finished"
    [prompt] = chat.prompts_with("<turn>")
    assert prompt.count("</turn>") == 2  # the one that the instructions name, and that of the turn
    assert INJECTIONS[name].split()[0] in prompt or name == "fake refusal"


def asked_beside(engine: UserEngine, tmp_path: Path, attack: str, pipeline: str) -> RunFinished:
    """Asks for the allowance, where a document about it gives an order, too."""
    document(engine, tmp_path, attack)
    try:
        result = engine.ask("出張の日当は1日いくらですか?", index=INDEX, pipeline_name=pipeline).result()
    finally:
        engine.store.remove(INDEX, "hostile.md")
    assert result.status == "finished", result.error
    return result


@pytest.mark.embedded
@pytest.mark.parametrize("name", ["以前の指示を無視", "ignore instructions", "chat template"])
def test_the_embedded_model_obeys_no_order_of_a_passage(embedded_engine, tmp_path, name):
    answer = asked_beside(embedded_engine, tmp_path, INJECTIONS[name], "naive").answer
    assert FOLLOWED not in answer
    assert "2,500" in answer


@pytest.mark.soak
@pytest.mark.embedded
@each_injection
@pytest.mark.parametrize("pipeline", ["naive", "self_rag"])
def test_the_embedded_model_obeys_no_order_in_any_of_its_prompts(embedded_engine, tmp_path, attack, pipeline):
    """Self-RAG grades the passage that gives the order, answers, and grades the answer against it."""
    assert FOLLOWED not in asked_beside(embedded_engine, tmp_path, attack, pipeline).answer
