"""Data folders of earlier versions still open, with their documents, indexes, conversations and traces."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from index_store.access.principal import LOCAL, Role
from index_store.catalogue.records import DocumentStatus
from pages.widgets.trace.detail import view_of  # registers all views
from pages.widgets.trace.views.view import JsonView
from rag.runs.engine import UserEngine
from rag.runs.history.for_people.run_list import RunFilter
from rag.runs.run.summary import summarize_run
from rag.settings import Settings
from rag.trace.derived.cause import cause_of
from rag.trace.details import CandidatesDetail, GradesDetail, GroundingDetail
from rag.trace.events import RunFinished, RunStarted, StepFinished
from tests.helpers.back_doors import process_of
from tests.helpers.local import as_person, local_engine
from tests.old_folders import unpack
from tests.rag.scripted import ScriptedChat, ScriptedSource

FOLDERS = sorted((Path(__file__).parent / "old_folders").glob("*.tar.xz"))
VERSIONS = [
    pytest.param(folder, id=name, marks=() if name == "before-0.1.0" else pytest.mark.soak)
    for folder in FOLDERS
    for name in [folder.name.partition(".tar")[0]]
]
"""the oldest passes every migration"""
PIPELINES_THEN = {"naive", "multivector", "hybrid", "self_rag", "self_rag_candidates", "corrective", "adaptive"}
"""those of the versions that made the folders"""


@pytest.fixture(scope="module", params=VERSIONS)
def engine(request, tmp_path_factory) -> Iterator[UserEngine]:
    folder = tmp_path_factory.mktemp("old")
    unpack(request.param, folder)
    settings = Settings(data_dir=folder / "data", web_search="off")
    with local_engine(settings, source=ScriptedSource(ScriptedChat())) as engine:
        yield engine


def traces(engine: UserEngine) -> dict[str, list]:
    return {run.id: engine.history.events(run.id) for run in engine.history.runs()}


def test_its_documents_are_there_and_the_stores_agree(engine):
    assert [(each.name, each.documents) for each in engine.store.indexes()] == [("handbook", 3), ("notes", 1)]
    status = {each.source: each.status for each in engine.store.documents("handbook")}
    assert status == {
        "leave.md": DocumentStatus.READY,
        "laptop.md": DocumentStatus.READY,
        "travel.zip/travel.txt": DocumentStatus.READY,
        "broken.pdf": DocumentStatus.FAILED,
    }
    assert list(process_of(engine).store.check()) == []


def test_its_indexes_are_nobodys_and_open_as_before_where_nobody_signs_in(engine):
    access = process_of(engine).store.access
    assert [(each.owner, each.grants) for each in access.grants.all()] == [(None, ()), (None, ())]
    assert [each.index.name for each in access.rights.all(LOCAL)] == ["handbook", "notes"]
    assert access.people.all() == []


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
def test_its_documents_are_found(engine, mode):
    [best, *_] = engine.store.search("handbook", "忌引休暇は何日ですか", mode=mode)
    assert best.source == "leave.md"


def test_its_conversations_stand_in_their_order_with_feedback(engine):
    titles = [each.title for each in engine.history.conversations.listed()]
    assert titles[-1] == "祖父母が亡くなったときの忌引休暇は何日ですか？"
    assert len(titles) == 7
    first, follow_up = engine.history.runs(engine.history.conversations.listed()[-1].id)
    assert (first.feedback, follow_up.feedback) == (1, None)
    assert follow_up.question == "有給休暇は？"


def test_its_conversations_are_nobodys_so_admins_have_them_and_nobody_else_who_signs_in(engine):
    assert as_person(engine, "admin", Role.ADMIN).history.runs() == engine.history.runs()
    assert as_person(engine, "editor", Role.EDITOR).history.runs() == []


def test_every_trace_of_it_can_be_read_and_shown(engine):
    seen = set()
    for events in traces(engine).values():
        assert isinstance(events[0], RunStarted)
        assert isinstance(events[-1], RunFinished)
        seen.add(events[0].pipeline)
        for event in events:
            if isinstance(event, StepFinished) and event.detail:
                assert not isinstance(view_of(event.detail, "handbook"), JsonView)
    assert seen == PIPELINES_THEN


def test_its_runs_add_up_to_what_they_did(engine):
    kept = traces(engine)
    assert kept
    for events in kept.values():
        last = events[-1]
        again = summarize_run(events[:-1], last.status, None, last.totals.seconds).totals
        # Their versions counted no candidates, and no answers from memory.
        assert again.generations >= last.totals.generations
        assert again.model_copy(update={"generations": last.totals.generations}) == last.totals


def test_its_runs_have_in_their_rows_what_their_events_say(engine):
    """Older rows did not contain these values: the migration reads them from the events."""
    for run_id, events in traces(engine).items():
        run, last, finding = engine.history.run(run_id), events[-1], cause_of(events)
        assert (run.seconds, run.tokens) == (last.totals.seconds, last.totals.tokens)
        assert (run.model_calls, run.outcome) == (last.totals.model_calls, last.outcome)
        assert run.cause == (finding and finding.cause)
    assert engine.run_list.count(RunFilter()) == len(engine.history.runs())


def test_grades_by_log_odds_keep_how_they_came_about(engine):
    """Earlier versions stored a margin, its parts and a cut."""
    explanations = []
    for events in traces(engine).values():
        for event in events:
            match event:
                case StepFinished(detail=GroundingDetail(grade=grade)):
                    explanations.append(grade.explanation)
                case StepFinished(detail=GradesDetail(grades=grades)):
                    explanations += [each.grade.explanation for each in grades]
                case StepFinished(detail=CandidatesDetail(candidates=candidates)):
                    explanations += [each.relevance.explanation for each in candidates]
    told = [each for each in explanations if each]
    assert len(told) >= 6
    assert {factor.en for each in told for factor in each.factors} >= {"yes or no", "words of the question"}
    assert all(each.threshold in (1.4, -0.3) for each in told)


def test_a_conversation_of_it_goes_on(engine):
    conversation = engine.history.conversations.listed()[-1].id
    run = engine.ask(
        "それはどこに書いてありますか?", index="handbook", pipeline_name="naive", conversation_id=conversation
    )
    assert run.result().status == "finished"
    assert len(engine.history.turns(conversation, before="")) == 3
