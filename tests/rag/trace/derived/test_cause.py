"""Why a run gave no good answer: the four prepared faults and other runs, with real documents and searches."""

from pathlib import Path

import pytest

from index_store.base.errors import IndexNotReady, ServiceBusy
from pages import samples
from pages.samples.faults import FAULTS, PIPELINE, load
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.runs.fork.edits import LeaveOut, TurnOver
from rag.runs.run.run import Run
from rag.settings import Settings
from rag.trace.derived.cause import Finding, cause_of
from rag.trace.details import DeclineDetail, RetrievalDetail
from rag.trace.events import StepFinished
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.looks import one_language
from tests.rag.conftest import LentStore
from tests.rag.reading import finished
from tests.rag.verdicts import NO, PROSE, approve, grounding, rating, verdict

MISSING, NOT_FOUND, GRADED_AWAY, MISREAD = FAULTS
CODES = """# 複合機

## 消耗品

| 品番 | 品名 | 入数 | 価格 |
|---|---|---|---|
| TN-221K | トナーカートリッジ（黒） | 1本 | 12,800円 |
| TN-221C | トナーカートリッジ（シアン） | 1本 | 14,500円 |
| DR-P1 | ドラムユニット | 1個 | 23,000円 |

## エラーコード

| コード | 内容 | 処置 |
|---|---|---|
| E-417 | トナー切れ | トナーを交換する |
| E-501 | 紙づまり | 用紙を取り除く |

## Accessories

| part no | name | material | price |
|---|---|---|---|
| BR-0450 | bracket | stainless steel | 18.50 |
| BR-0600 | bracket | stainless steel | 21.00 |
"""


EXCERPTS = {
    "it-guide.en.md": ("Password rules", "Two-factor authentication", "Installing software"),
    "leave.ja.md": ("年次有給休暇の申請", "忌引休暇", "リフレッシュ休暇"),
}
"""sections of the samples: to embed whole ones would take three seconds"""


def excerpt(document: Path, folder: Path) -> Path:
    title, *sections = document.read_text(encoding="utf-8").split("\n## ")
    kept = [each for each in sections if each.startswith(EXCERPTS[document.name])]
    assert len(kept) == len(EXCERPTS[document.name])
    (shorter := folder / document.name).write_text("\n## ".join([title, *kept]), encoding="utf-8")
    return shorter


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, embeddings):
    store = LentStore(Settings(data_dir=tmp_path_factory.mktemp("faults") / "data"), embeddings)
    assert [fault.index for fault in load(store)] == ["fault-1", "fault-2", "fault-3", "fault-4"]
    store.create_index("empty")
    folder = tmp_path_factory.mktemp("documents")
    both = [excerpt(each, folder) for each in samples.documents() if each.name in EXCERPTS]
    assert [store.add("both", each, each.name).error for each in both] == [None, None]
    (file := folder / "codes.md").write_text(CODES, encoding="utf-8")
    assert [store.add("codes", each, each.name).error for each in [*both, file]] == [None] * 3
    yield store
    store.close_for_good()


@pytest.fixture(scope="module")
def prepared_engine(embedded_engine):
    """With the embedded models and default settings."""
    assert len(list(load(process_of(embedded_engine).store))) == len(FAULTS)
    return embedded_engine


@pytest.fixture
def store(prepared):
    return prepared


@pytest.fixture
def ask(engine, chat):
    """Unless a test says otherwise, every grader says yes and an answer cites its first passage."""
    approve(chat)
    chat.default = "It says so [1]."

    def ask(question: str, index: str, pipeline: str, **options) -> Run:
        run = engine.ask(question, index=index, pipeline_name=pipeline, **options)
        assert run.result().status in ("finished", "failed")
        return run

    return ask


def why(run: Run) -> str | None:
    finding = cause_of(run.events)
    return finding and finding.cause


def reject_all(chat, reply: str = NO) -> None:
    for words in (EN, JA):
        chat.answer_when(words.relevance, answer=reply)


@one_language("ja")
def test_a_document_that_is_missing_is_named_with_the_words_that_stand_nowhere(ask, chat, language):
    reject_all(chat)
    run = ask(MISSING.questions[language], MISSING.index, PIPELINE)
    finding = cause_of(run.events)
    assert finding.cause == MISSING.cause
    assert {"ja": "サバティカル", "en": "sabbatical"}[language] in finding.absent


@one_language("en")
def test_a_passage_that_is_there_and_was_not_found_is_named_and_shown(ask, chat, language):
    reject_all(chat)
    chat.default = NOT_FOUND.questions[language]  # a rewrite returns the same question
    run = ask(NOT_FOUND.questions[language], NOT_FOUND.index, PIPELINE)
    finding = cause_of(run.events)
    assert finding.cause == NOT_FOUND.cause
    assert {"ja": "QF-7712", "en": "ZT-4083"}[language] in finding.passage.text
    assert all("7712" not in text and "4083" not in text for text in texts_found(run))


@one_language("ja")
def test_a_passage_that_was_found_and_graded_away_is_named_and_shown(ask, chat, language):
    reject_all(chat)
    run = ask(GRADED_AWAY.questions[language], GRADED_AWAY.index, PIPELINE)
    finding = cause_of(run.events)
    assert finding.cause == GRADED_AWAY.cause
    assert {"ja": "屋上駐車場", "en": "guide dog"}[language] in finding.passage.text


@one_language("en")
def test_a_passage_that_was_read_and_of_which_no_sentence_of_the_answer_is_grounded_is_misread(ask, chat, language):
    for words in (EN, JA):
        chat.answer_when(words.grounding, answer=grounding("no", "It says so."))
    run = ask(MISREAD.questions[language], MISREAD.index, PIPELINE)
    finding = cause_of(run.events)
    assert finding.cause == MISREAD.cause
    assert finding.passage.number == 1


@pytest.mark.embedded
@pytest.mark.soak  # the same with the answers of a scripted model: the tests above
@pytest.mark.parametrize(
    ("fault", "language"),
    [(fault, language) for fault in FAULTS for language in ("ja", "en")],
    ids=[f"{fault.cause}-{language}" for fault in FAULTS for language in ("ja", "en")],
)
def test_the_embedded_model_meets_each_as_the_guide_tells(prepared_engine, fault, language):
    run = prepared_engine.ask(fault.questions[language], index=fault.index, pipeline_name=PIPELINE)
    last, rewrites = run.result(), [each.detail.after for each in finished(run.events, "rewrite_question")]
    assert last.outcome == "not_in_documents", (last.answer, rewrites)
    assert why(run) == fault.cause


# Other runs


def test_a_passage_that_holds_the_question_and_of_which_the_model_says_that_it_does_not_is_misread(ask, chat):
    chat.default = TOKEN
    finding = cause_of(ask(MISREAD.questions["en"], MISREAD.index, "naive").events)
    assert finding.cause == "misread"
    assert "physician" in finding.passage.text


@pytest.mark.parametrize("step", ["retrieve", pytest.param("generate", marks=pytest.mark.soak)])
def test_a_passage_that_a_person_left_out_in_a_fork_was_not_misread(engine, ask, chat, step):
    chat.default = TOKEN
    run = ask(MISREAD.questions["en"], MISREAD.index, "naive")
    nearest = cause_of(run.events).passage
    fork = engine.forks.begin(run.id, step, 1, [LeaveOut(passage=nearest.number)])
    assert fork.result().outcome == "not_in_documents"
    assert cause_of(fork.events) is None


def test_a_passage_that_a_person_graded_away_in_a_fork_is_told_as_such(engine, ask, chat):
    chat.default = TOKEN
    run = ask(MISREAD.questions["en"], MISREAD.index, "self_rag")
    graded = finished(run.events, "grade_documents")[0]
    turned = [TurnOver(passage=each.passage.number) for each in graded.detail.grades]
    reject_all(chat)
    fork = engine.forks.begin(run.id, "grade_documents", 1, turned)
    fork.result()
    finding = cause_of(fork.events)
    assert (finding.cause, finding.situation) == ("graded_away", "by_hand")
    reject_all(chat)
    finding = cause_of(ask(MISREAD.questions["en"], MISREAD.index, "self_rag").events)
    assert (finding.cause, finding.situation) == ("graded_away", None)


def test_a_passage_in_the_part_of_its_section_that_did_not_fit_into_the_context_was_found_and_cut_off(ask, chat):
    reject_all(chat)
    events = ask("What is part ZT-4083?", NOT_FOUND.index, "self_rag", retrieval=Retrieval(mode="vector", k=2)).events
    passage = cause_of(events).passage
    assert cause_of(events).situation != "cut_off"
    read = passage.model_copy(update={"number": 1, "start": 0, "end": 1, "text": "T", "section_length": 5000})

    def shortened(event):
        if isinstance(event, StepFinished) and isinstance(event.detail, RetrievalDetail):
            return event.model_copy(update={"detail": event.detail.model_copy(update={"passages": (read,)})})
        return event

    finding = cause_of([shortened(event) for event in events])
    assert (finding.cause, finding.passage, finding.situation) == ("not_found", passage, "cut_off")


def test_a_passage_that_was_read_without_some_of_its_sentences_is_told_as_such(ask, chat, store, tmp_path):
    talk = "Nothing in this line has any bearing upon what people might ever like to ask about, and it goes on and on."
    rule = "When the badge for parking is lost, staff tell the gate about the lost badge for parking on the same day."
    (file := tmp_path / "badge.md").write_text(f"# Badge\n\n{rule} {talk} {talk}\n", encoding="utf-8")
    assert store.add("badges", file, file.name).error is None
    chat.default = TOKEN
    for pipeline, expected in (("corrective", "said_none_of_kept"), ("self_rag", "said_none")):
        finding = cause_of(ask("Whom do staff tell when the badge for parking is lost?", "badges", pipeline).events)
        assert (finding.cause, finding.situation) == ("misread", expected)


def test_an_answer_that_nothing_speaks_against_has_no_cause_but_none(ask):
    for pipeline in ("naive", "self_rag", "self_rag_candidates"):
        assert why(ask(MISREAD.questions["en"], MISREAD.index, pipeline)) == "none"


def test_an_empty_index_is_no_document_though_the_run_failed(ask):
    run = ask("Who hands a certificate in?", "empty", "naive")
    assert run.result().error.code == "empty_index"
    assert why(run) == "no_document"
    assert cause_of(run.events).situation is None
    last = run.result().model_copy(update={"error": IndexNotReady(index="empty").as_failure()})
    assert cause_of([*run.events[:-1], last]) == Finding("no_document", situation="no_document_yet")


def test_an_answer_that_is_not_grounded_is_misread(ask, chat):
    chat.answer_when(EN.grounding, answer=grounding("partly", "General affairs hand it in."))
    run = ask(MISREAD.questions["en"], MISREAD.index, "self_rag")
    assert run.result().outcome == "unconfirmed"
    finding = cause_of(run.events)
    assert (finding.cause, finding.situation) == ("misread", None)


def test_an_answer_that_does_not_answer_is_misread(ask, chat):
    chat.answer_when(EN.usefulness, answer=rating(1))
    finding = cause_of(ask(MISREAD.questions["en"], MISREAD.index, "self_rag").events)
    assert (finding.cause, finding.situation) == ("misread", "not_useful")


def test_an_answer_whose_check_could_not_be_read_is_not_held_against_it(ask, chat):
    for each in (EN.grounding, EN.usefulness):
        chat.answer_when(each, answer=PROSE)
    run = ask(MISREAD.questions["en"], MISREAD.index, "self_rag")
    assert run.result().outcome == "unconfirmed"
    assert why(run) == "none"


def test_a_rejected_attempt_is_not_held_against_the_answer_that_was_written_after_it(ask, chat):
    chat.answer_when(EN.grounding, answer=PROSE)
    chat.answer_when(EN.grounding, answer=grounding("no"), times=1)
    run = ask(MISREAD.questions["en"], MISREAD.index, "self_rag")
    assert run.result().outcome == "unconfirmed"
    assert why(run) == "none"


def test_where_the_subject_is_there_and_the_answer_is_not_it_was_refused_rightly(ask, chat):
    reject_all(chat)
    run = ask("Which collar colour is worn on Fridays?", MISREAD.index, "self_rag")
    assert why(run) == "refused_rightly"


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("トナーTN-300Kの価格は?", "TN-300K"),
        pytest.param("E-999の処置", "E-999", marks=pytest.mark.soak),
        ("What is the price of BR-0900?", "BR-0900"),
    ],
)
def test_of_a_code_that_no_document_has_a_passage_about_another_code_was_not_misread(ask, chat, question, code):
    chat.default = TOKEN
    finding = cause_of(ask(question, "codes", "naive", retrieval=Retrieval(mode="hybrid")).events)
    assert (finding.cause, finding.absent) == ("refused_rightly", (code,))


@pytest.mark.parametrize(
    ("question", "cause", "named"),
    [
        ("二段階認証を新しい電話に移すにはどうしますか", "graded_away", "Two-factor authentication"),
        ("How many days off do I get when my grandmother dies?", "refused_rightly", "忌引休暇"),
        pytest.param("ピアノの鍵盤は何個ありますか", "no_document", None, marks=pytest.mark.soak),
        pytest.param("Who painted the Mona Lisa?", "no_document", None, marks=pytest.mark.soak),
    ],
)
def test_what_happened_to_a_passage_in_another_language_is_told_too(ask, chat, question, cause, named):
    reject_all(chat)
    finding = cause_of(ask(question, "both", "self_rag", retrieval=Retrieval(mode="hybrid")).events)
    assert (finding.cause, finding.passage and finding.passage.headings[0]) == (cause, named)


def test_a_grader_that_was_in_doubt_graded_the_passage_away(ask, chat):
    reject_all(chat)
    chat.answer_when(EN.relevance, "certificate", answer=verdict("no", 0.45))
    run = ask("What do I bring along when I have been ill?", MISREAD.index, "self_rag")
    finding = cause_of(run.events)
    assert finding.cause == "graded_away"
    assert "physician" in finding.passage.text


def test_a_doubted_passage_that_was_kept_and_read_is_misread(ask, chat):
    reject_all(chat, verdict("no", 0.1))
    chat.answer_when(EN.relevance, "physician", answer=verdict("no", 0.45))
    chat.default = TOKEN
    run = ask(MISREAD.questions["en"], MISREAD.index, "corrective")
    assert finished(run.events, "assess")[0].detail.action == "ambiguous"
    assert len(finished(run.events, "generate")) == 1
    finding = cause_of(run.events)
    assert finding.cause == "misread"
    assert "physician" in finding.passage.text


def test_a_passage_beyond_the_hits_that_were_asked_for_was_not_found(ask, chat):
    reject_all(chat)
    run = ask("What is part ZT-4083?", NOT_FOUND.index, "self_rag", retrieval=Retrieval(mode="vector", k=2))
    assert why(run) == "not_found"


def test_a_run_of_before_there_was_a_probe_is_judged_by_what_it_found(ask, chat):
    reject_all(chat)
    asked = "航空券を1週間前までに予約するのは本人ですか？"
    run = ask(asked, MISREAD.index, "self_rag", retrieval=Retrieval(mode="hybrid", k=4))
    assert cause_of(without_probe(run.events)).cause == "graded_away"
    run = ask(MISSING.questions["ja"], MISSING.index, "self_rag")
    assert cause_of(without_probe(run.events)) == Finding("no_document")


def test_a_run_that_was_stopped_or_goes_on_has_none(ask):
    events = ask(MISREAD.questions["en"], MISREAD.index, "naive").events
    assert cause_of(events[:-1]) is None
    assert cause_of([]) is None
    assert cause_of([*events[:-1], events[-1].model_copy(update={"status": "stopped"})]) is None


def texts_found(run: Run) -> list[str]:
    details = [each.detail for each in run.events if isinstance(each, StepFinished)]
    return [passage.text for detail in details if detail.type == "retrieval" for passage in detail.passages]


def without_probe(events) -> list:
    def blank(event):
        if isinstance(event, StepFinished) and isinstance(event.detail, DeclineDetail):
            return event.model_copy(update={"detail": event.detail.model_copy(update={"probe": None})})
        return event

    return [blank(event) for event in events]


def test_a_passage_whose_answer_could_not_be_written_was_not_misread(ask, chat):
    chat.default = f"{TOKEN} It does not say."
    read = ask(MISREAD.questions["en"], MISREAD.index, "self_rag_candidates")
    finding = cause_of(read.events)
    assert finding.cause == "misread"
    chat.answer_when(EN.answer, finding.passage.text, answer=ServiceBusy(host="h"))
    failed = ask(MISREAD.questions["en"], MISREAD.index, "self_rag_candidates")
    assert (failed.result().outcome, why(failed)) == ("not_in_documents", None)
