from rag.models.context_window import ContextWindow, length
from rag.models.service.ja import JA
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.rag.documents import ALLOWANCE, INDEX, QUESTION
from tests.rag.reading import finished, started_steps

LONG = "long.ja.md"
CLAUSES = [f"第{n}号の備品は{n}階の倉庫に保管し、{n}月に点検する。" for n in range(15, 46)]


def load_long_section(engine, tmp_path) -> str:
    file = tmp_path / LONG
    file.write_text("# 備品台帳\n\n## 保管\n\n" + "\n\n".join(CLAUSES) + "\n", encoding="utf-8")
    added = engine.store.add(INDEX, file, file.name)
    assert added.error is None
    assert added.sections < added.chunks
    return added.document_id


def test_it_retrieves_sections_by_their_chunks_and_then_generates_with_one_call(engine, chat):
    chat.enqueue("日当は1日2,500円です[1]。")
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="multivector")
    result = run.result()
    assert started_steps(run.events) == ["retrieve", "generate"]
    [retrieved] = finished(run.events, "retrieve")
    assert (retrieved.detail.mode, retrieved.detail.unit) == ("vector", "section")
    assert (result.answer, result.totals.model_calls) == ("日当は1日2,500円です[1]。", 1)
    assert ALLOWANCE in result.citations[0].text


def test_each_section_is_given_once_and_whole_with_the_chunk_that_was_found_in_it(engine, chat, tmp_path):
    document = load_long_section(engine, tmp_path)
    run = engine.ask(
        "第30号の備品はどこに保管しますか", index=INDEX, pipeline_name="multivector",
        retrieval=Retrieval(unit="section", k=3),
    )  # fmt: skip
    run.result()
    [retrieved] = finished(run.events, "retrieve")
    passages = retrieved.detail.passages
    assert len({passage.section_id for passage in passages}) == len(passages) == 3
    for passage in passages:
        section = engine.store.section(passage.section_id)
        assert passage.text == section.text
        assert (passage.start, passage.end, passage.section_length) == (0, len(section.text), None)
    chunks = {(chunk.section_id, chunk.start, chunk.end) for chunk in engine.store.chunks(document)}
    long = [passage for passage in passages if passage.document_id == document]
    assert long
    assert all((passage.section_id, passage.best_start, passage.best_end) in chunks for passage in long)
    [prompt] = chat.prompts_with(JA.answer)
    assert all(passage.text in prompt for passage in passages)


def test_a_section_too_long_for_the_model_is_trimmed_and_its_citation_still_stands_where_it_says(
    engine, chat, tmp_path, monkeypatch
):
    load_long_section(engine, tmp_path)
    model = process_of(engine)._models.usual.open()
    monkeypatch.setattr(model, "context_window", ContextWindow(passage=400, passages=500))
    chat.default = "30階です[1]。"
    run = engine.ask("第30号の備品はどこに保管しますか", index=INDEX, pipeline_name="multivector")
    [citation] = run.result().citations
    [retrieved] = finished(run.events, "retrieve")
    first = retrieved.detail.passages[0]
    section = engine.store.section(citation.section_id)
    assert first.section_length == len(section.text)
    assert retrieved.detail.trimmed >= 1
    assert citation.text == section.text[citation.start : citation.end]
    assert citation.start <= citation.best_start < citation.best_end <= citation.end
    assert sum(length(passage.text) for passage in retrieved.detail.passages) <= 500
    assert len(retrieved.detail.passages) + retrieved.detail.left_out == 4


def test_a_rule_that_stands_below_two_headings_is_given_with_both(engine, chat, tmp_path):
    rule = "保証の期間は、お買い上げの日から24か月とします。期間内の故障は、無償で修理します。"
    file = tmp_path / "warranty.md"
    file.write_text(f"# 製品\n\n## アルファ\n\n{rule}\n\n## ベータ\n\n{rule}\n", encoding="utf-8")
    engine.store.add(INDEX, file)
    engine.ask("アルファとベータの保証の期間は同じですか", index=INDEX, pipeline_name="multivector").result()
    [prompt] = chat.prompts_with(JA.answer)
    assert prompt.count(rule) == 1
    told = prompt[: prompt.index(rule)].rpartition("<passage")[2]
    assert "アルファ" in told
    assert "ベータ" in told


def test_a_question_that_leaves_no_space_for_passages_says_what_to_do(engine, chat, monkeypatch):
    model = process_of(engine)._models.usual.open()
    monkeypatch.setattr(model, "context_window", ContextWindow.of(4096, 400))
    run = engine.ask("保管場所は?" * 600, index=INDEX, pipeline_name="multivector")
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "question_too_long")
    assert chat.prompts == []
