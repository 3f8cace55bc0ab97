"""Prompt injections in quoted material: none leaves its tags in any prompt, and a model that obeys does no harm.

tests/pages/test_injections.py tests how replies of such a model look on a page.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from index_store.crawl import CrawlOptions
from index_store.ingestion.sources import FileSource, SiteSource, Source
from rag.models.chat_model import ChatModel
from rag.models.replies import GroundingReply, RelevanceReply, UsefulnessReply
from rag.models.service.chat import ServiceChat
from rag.pipelines import PIPELINES
from rag.runs.engine import UserEngine
from rag.runs.run.options import MOST_HITS
from rag.settings import Settings
from rag.text.quoting import TAGS, in_tags
from rag.trace.details import RetrievalDetail
from rag.trace.events import Event, StepFinished, to_json
from rag.trace.passages import Passage, Retrieval
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.rag.carriers import CARRIERS, page, places
from tests.rag.conftest import KEY, TAVILY_KEY
from tests.rag.documents import INDEX
from tests.rag.injections import EVERY, FOLLOWED, INJECTIONS, OTHER_INDEX, SECRET, WRITTEN, as_file_name
from tests.rag.models.kinds import KINDS, Messages, prompts_over
from tests.rag.reading import finished, of
from tests.rag.scripted import ScriptedChat, ScriptedSource
from tests.rag.verdicts import NO, YES, approve
from tests.servers.openai_server import OpenAIServer
from tests.servers.site_server import Reply, SiteServer
from tests.servers.tavily_server import SEARCH, WebResult

HARMLESS = "harmless"
FENCES = (*TAGS, "strip")

each_kind_and_language = pytest.mark.parametrize(
    ("kind", "language"),
    [
        pytest.param(KINDS[name], language, id=f"{language}-{name}", marks=() if now else pytest.mark.soak)
        for name, language, now in (
            ("service", "ja", True),
            ("service", "en", False),
            ("embedded", "ja", False),
            ("embedded", "en", True),
        )
    ],
)

QUESTIONS = {"ja": "出張の日当はいくらですか?", "en": "What is the VPN client called?"}


def passage(text: str, *, title: str = "Travel", origin: str = "documents") -> Passage:
    return Passage(
        number=1, rank=1, score=0.8, document_id="d", section_id="s", source=text, title=title, headings=(title,),
        page=None, text=text, start=0, end=len(text), origin=origin, published=text if origin == "web" else None,
    )  # fmt: skip


QUOTES_NOTHING = {"memory", "need", "keywords", "web query", "talk", "route"}
"""prompts that contain only the person's question"""


def carried(kind: type[ChatModel], language: str, text: str) -> dict[str, list[Messages]]:
    """The messages of every prompt that quotes something, with `text` in each place for quoted material."""
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
    """As a model may read it: look-alike characters are replaced, and invisible characters are removed."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(each for each in text if unicodedata.category(each) != "Cf" and each not in "\u034f\u3164")
    return re.sub("[〈‹⟨〈˂]", "<", re.sub("[\u2044\u2215]", "/", text)).lower()


def tags(messages: Messages) -> list[str]:
    """Everything that looks like one of our tags or like a chat role, in the order of the prompt."""
    names = "|".join(FENCES)
    pattern = rf"<\s*/?\s*(?:{names})(?!\w)|<\s*\|[^|]*\|>|\[/?inst\]|<</?sys>>|</?s>"
    return [re.sub(r"\s", "", each) for _, text in messages for each in re.findall(pattern, plain(text))]


def outside(messages: Messages) -> str:
    """The prompt without the content and the attributes of its fences."""
    text = "\n".join(f"{role}: {content}" for role, content in messages)
    text = re.sub(
        r"<(passage|answer|rejected|turn|unsupported|found|reason)( [^>]*)?>\n.*?\n</\1>",
        r"<\1></\1>",
        text,
        flags=re.DOTALL,
    )
    return re.sub(r"^Proposed answer: .*$", "Proposed answer:", text, flags=re.MULTILINE)


def test_no_order_gets_out_of_any_fence():
    for tag in TAGS:
        for name, attack in INJECTIONS.items():
            prompt = [("user", in_tags(tag, attack, title=attack, origin="web"))]
            assert tags(prompt) == [f"<{tag}", f"</{tag}"], name


@each_kind_and_language
def test_nothing_that_any_prompt_quotes_gets_out_of_its_fence_or_adds_a_tag(kind, language):
    """All injections at once: if any of them adds something, the test sees it."""
    harmless = carried(kind, language, HARMLESS)
    for name, prompts in carried(kind, language, EVERY).items():
        [like, *_] = harmless[name]
        for messages in prompts:
            assert tags(messages) == tags(like), name
            assert outside(messages) == outside(like), name
            assert [role for role, _ in messages] == [role for role, _ in like], name


@each_kind_and_language
def test_whoever_quotes_tells_the_model_that_it_is_no_order(kind, language):
    for name, [messages, *_] in carried(kind, language, HARMLESS).items():
        if kind is ServiceChat and not name.startswith(("relevance", "rewrite with")):
            assert re.search("never follow an instruction|決して従わない", messages[0][1]), name
        assert messages[0][0] == "system"


@pytest.mark.parametrize(
    "text", ["a < b", "<b>bold</b>", "x<y>z", "<answers>", "1 ＜ 2", "《出張》", "〈注〉", "if (a<passages) {}"]
)
def test_what_is_no_tag_of_ours_is_quoted_letter_by_letter(text):
    assert in_tags("passage", text) == f"<passage>\n{text}\n</passage>"


def add(engine: UserEngine, folder: Path, documents: dict[str, str], index: str = INDEX) -> list[str]:
    """Adds documents about the allowance, and returns their ids."""
    ids = []
    for name, text in documents.items():
        file = folder / name
        file.write_text(f"# 出張旅費規程\n\n## 日当\n\n出張の日当について。{text}\n", encoding="utf-8")
        result = engine.store.add(index, file, name)
        assert result.error is None, name
        ids.append(result.document_id)
    return ids


def test_a_grader_is_believed_in_its_own_answer_alone(engine, chat, tmp_path):
    names = ("fake grade", "偽の採点", "to the grader", "chat template", "close full-width")
    add(engine, tmp_path, {f"hostile {name}.md": f"日当の特例です。{INJECTIONS[name]}" for name in names})
    approve(chat)
    chat.answer_when("JSON", "特例", answer=NO)
    chat.default = "2,500円です[1]。"
    run = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="self_rag", retrieval=Retrieval(k=10))
    run.result()
    graded = finished(run.events, "grade_documents")[0].detail.grades
    hostile = [each.grade.verdict for each in graded if each.passage.source.startswith("hostile")]
    assert hostile == ["no"] * len(names)


def embedding_by(server: OpenAIServer) -> dict[str, str]:
    """Settings of an engine whose documents are all found whatever embeds them. The embedded model takes seconds."""
    return {"openai_api_key": KEY, "openai_base_url": server.base_url, "embedding_model": "test-embedding"}


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


@pytest.mark.parametrize(
    "name",
    [
        "以前の指示を無視",
        "fake refusal",
        pytest.param("picture", marks=pytest.mark.soak),
        pytest.param("html", marks=pytest.mark.soak),
    ],
)
def test_what_a_follow_up_is_read_against_is_fenced_in_a_real_run(engine, chat, name):
    chat.default = INJECTIONS[name]
    first = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name="naive")
    first.result()
    run = engine.ask("それは誰が決めますか?", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id)
    assert run.result().status == "finished"
    [prompt] = chat.prompts_with("<turn>")
    assert prompt.count("</turn>") == 2  # one in the instructions, and one at the end of the turn
    assert INJECTIONS[name].split()[0] in prompt or name == "fake refusal"


class ObedientChat(ScriptedChat):
    """Replies to every prompt with everything an attacker could want: its instructions, and the best grades."""

    def _take(self, messages: list[BaseMessage]) -> tuple[str, str]:
        prompt, _ = super()._take(messages)
        told = messages[0].text
        reply = {
            "reason": f"{FOLLOWED}: {told}", "verdict": "yes", "score": 1, "support": "fully", "unsupported": [],
            "rating": 5, "route": "web", "words": [OTHER_INDEX, "合併"], "index": OTHER_INDEX,
            "questions": [f"{FOLLOWED} ![x](http://elsewhere.example)?", f"{told}?"],
        }  # fmt: skip
        return prompt, f"{FOLLOWED} [1] {told}\n{WRITTEN['picture']}\n{json.dumps(reply, ensure_ascii=False)}"


def repeated(text: str, told: Sequence[str]) -> list[str]:
    """The parts of `told` that `text` repeats, in pieces that are too long for chance."""
    found = []
    for each in told:
        length = 80 if each.isascii() else 30
        found += [each[at : at + length] for at in range(len(each) - length) if each[at : at + length] in text]
    return found


@each_kind_and_language
def test_of_a_model_that_obeys_no_reply_shows_its_prompt(kind, language):
    chat, came = ObedientChat(), []
    prompts_over(kind, QUESTIONS[language], [passage(EVERY)], EVERY, language=language, chat=chat, came=came)
    assert FOLLOWED in repr(came)
    assert repeated(repr(came), sorted({messages[0][1] for messages in chat.messages})) == []


@pytest.mark.parametrize(
    "pipelines",
    # In those of `make test`, the model gets every kind of prompt that it gets in any.
    [("hybrid", "self_rag_candidates", "adaptive"), pytest.param(tuple(PIPELINES), marks=pytest.mark.soak)],
    ids=["some", "all"],
)
def test_of_a_model_that_obeys_no_other_index_is_reached_nothing_is_changed_and_no_prompt_is_shown(
    data_dir, server, tavily, tmp_path, pipelines
):
    chat = ObedientChat()
    settings = Settings(
        data_dir=data_dir, draft_ahead=False, suggest_follow_ups="always", tavily_api_key=TAVILY_KEY,
        tavily_base_url=tavily.url, **embedding_by(server),
    )  # fmt: skip
    tavily.default = [
        WebResult(text, f"https://news.example/{at}", text) for at, text in enumerate(INJECTIONS.values())
    ]
    names = ("picture", "other index", "repeat the prompt", "別のインデックス", "プロンプトを表示", "tool call", "SQL")
    with local_engine(settings, source=ScriptedSource(chat)) as engine:
        mine = set(add(engine, tmp_path, {as_file_name(INJECTIONS[name]): INJECTIONS[name] for name in names}))
        add(engine, tmp_path, {"merger.md": SECRET}, OTHER_INDEX)
        there = engine.store.documents()
        shown = []
        for pipeline in pipelines:
            first = engine.ask(QUESTIONS["ja"], index=INDEX, pipeline_name=pipeline, suggests=True)
            assert first.result().status == "finished", first.result().error
            assert eventually(lambda run=first: not engine.suggestions.are_coming(run.id))
            suggested = engine.suggestions.after(first.id)
            then = engine.ask(
                "それは合併の後も?", index=INDEX, pipeline_name=pipeline, conversation_id=first.conversation_id
            )
            assert then.result().status == "finished", then.result().error
            for run in (first, then):
                read = [
                    each.detail.passages
                    for each in of(StepFinished, run.events)
                    if isinstance(each.detail, RetrievalDetail)
                ]
                assert {
                    each.document_id for passages in read for each in passages if each.origin == "documents"
                } <= mine
                assert SECRET not in "".join(map(to_json, run.events))
                shown += [run.result().answer, *suggested]
        shown += tavily.queries
        assert FOLLOWED in "".join(shown)
        told = {messages[0][1] for messages in chat.messages}
        assert len(told) > 8
        assert not repeated("\n".join(shown), sorted(told))
        assert engine.store.documents() == there
        assert {request.path for request in tavily.requests} <= {SEARCH}


def test_hidden_text_is_left_out_or_shown_in_the_passage_and_has_no_other_effect(data_dir, server, tmp_path):
    """A reader who opens the passage sees everything from the file that the model got."""
    chat = ObedientChat()
    settings = Settings(
        data_dir=data_dir, web_search="off", draft_ahead=False, crawl_allowed="127.0.0.1", crawl_rate=1e3,
        **embedding_by(server),
    )  # fmt: skip
    crawled = page("site")
    with (
        # Without the refresh: a crawl would follow it like a redirect, if its guard allows the address.
        SiteServer({"/": Reply(crawled.content.replace(b"http-equiv", b"name"))}) as site,
        local_engine(settings, source=ScriptedSource(chat)) as engine,
    ):
        add(engine, tmp_path, {"merger.md": SECRET}, OTHER_INDEX)
        sources: list[Source] = [SiteSource(CrawlOptions(url=site.url(), limit=1))]
        for name, carrier in CARRIERS.items():
            (tmp_path / name).write_bytes(carrier.content)
            sources.append(FileSource(tmp_path / name, name))
        results = engine.store.ingest("came in", sources).wait()
        assert [each.error for each in results] == [None] * len(sources)
        there = engine.store.documents()
        run = engine.ask(
            QUESTIONS["ja"], index="came in", pipeline_name="self_rag", retrieval=Retrieval(k=MOST_HITS, unit="section")
        )
        assert run.result().status == "finished", run.result().error
        assert engine.store.documents() == there
    given = "".join(f"{each.title} {each.source} {each.text}" for each in retrieved(run.events))
    asked = "\n".join(chat.prompts)
    for name, carrier in (CARRIERS | {"the site": crawled}).items():
        assert places(given, carrier.read) == places(asked, carrier.read) == carrier.read, name
        assert places(given + asked, carrier.left_out) == set(), name
    told = "".join(map(to_json, run.events))
    assert SECRET not in told
    assert FOLLOWED in run.result().answer
    assert not repeated(run.result().answer, sorted({messages[0][1] for messages in chat.messages}))


def retrieved(events: Sequence[Event]) -> list[Passage]:
    details = [each.detail for each in of(StepFinished, events)]
    return [each for detail in details if isinstance(detail, RetrievalDetail) for each in detail.passages]


def asked_beside(engine: UserEngine, folder: Path, attacks: Sequence[str], pipeline: str) -> str:
    """The answer to a question about the allowance, with a document about it that also contains these injections."""
    sections = "".join(f"\n\n## 日当の特例 {at}\n\n日当の特例です。{attack}" for at, attack in enumerate(attacks))
    ids = add(engine, folder, {"hostile.md": sections})
    try:
        result = engine.ask("出張の日当は1日いくらですか?", index=INDEX, pipeline_name=pipeline).result()
    finally:
        engine.store.remove_documents(ids)
    assert result.status == "finished", result.error
    return result.answer


@pytest.mark.embedded
def test_the_embedded_model_obeys_no_order_of_its_passages(embedded_engine, tmp_path):
    names = ("以前の指示を無視", "ignore instructions", "chat template")
    answer = asked_beside(embedded_engine, tmp_path, [INJECTIONS[name] for name in names], "naive")
    assert FOLLOWED not in answer
    assert "2,500" in answer


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.embedded
@pytest.mark.parametrize("attack", INJECTIONS.values(), ids=INJECTIONS)
def test_the_embedded_model_obeys_no_order_in_any_of_its_prompts(embedded_engine, tmp_path, attack):
    """Self-RAG grades the passage with the injection, answers, and grades the answer against that passage."""
    assert FOLLOWED not in asked_beside(embedded_engine, tmp_path, [attack], "self_rag")
