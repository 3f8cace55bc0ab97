"""One question in a real browser: its run live, stopped, after a reload, and seen by a second visitor."""

import pytest
from playwright.sync_api import expect

from tests.browser.asking import ENDLESS, GONE, ask, held, requests_for
from tests.browser.visitor import LOADED


def test_the_steps_and_the_words_of_an_answer_arrive_while_it_is_being_written_and_it_is_a_draft_until_it_is_confirmed(
    loaded, server
):
    answer = held()
    asked = ask(loaded, server, answer)
    expect(loaded.text("chat.draft")).to_be_visible(timeout=LOADED)
    expect(loaded.step("retrieve")).to_be_visible()
    expect(loaded.step("grade_documents")).to_be_visible()
    expect(loaded.step("draft_answer")).to_be_visible()
    early = loaded.answers.inner_text()
    [request] = requests_for(server, asked)
    assert not request.finished.is_set()
    answer.until.set()
    loaded.page.wait_for_function("old => document.querySelector('.answer').innerText.length > old", arg=len(early))
    loaded.wait_for_the_end()
    assert loaded.answers.inner_text().count("One word") == 30
    expect(loaded.text("chat.draft")).to_have_count(0)
    expect(loaded.text("outcome.confirmed_note")).to_be_visible()
    expect(loaded.traces).to_contain_text(loaded.words["outcome.confirmed"])
    expect(loaded.step("retrieve")).to_have_count(0)  # the trace is folded


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py; from the graph: tests/browser/chat/test_graph.py
def test_stop_ends_the_run_and_the_models_work(loaded, server):
    asked = ask(loaded, server, ENDLESS)
    loaded.stop.click()
    expect(loaded.text("chat.stopped")).to_be_visible(timeout=LOADED)
    [request] = requests_for(server, asked)
    assert request.disconnected.wait(GONE)
    loaded.settle()
    assert 0 < loaded.answers.inner_text().count("One") < 30
    expect(loaded.traces).to_contain_text(loaded.words["status.stopped"])
    expect(loaded.composer).to_be_enabled()


def test_neither_a_reload_nor_a_click_elsewhere_disturbs_the_run(loaded, server):
    answer = held()
    asked = ask(loaded, server, answer)
    loaded.page.reload()
    expect(loaded.stop).to_be_visible(timeout=LOADED)
    expect(loaded.questions).to_have_text([asked])
    loaded.settle()
    loaded.button("sidebar.new_chat").click()
    expect(loaded.questions).to_have_count(0)
    loaded.settle()
    loaded.sidebar.get_by_role("button", name=asked[:50]).click()
    expect(loaded.questions).to_have_text([asked])
    answer.until.set()
    loaded.wait_for_the_end()
    assert loaded.answers.inner_text().count("One word") == 30
    assert len(requests_for(server, asked)) == 1


@pytest.mark.soak  # of an answer from an attached file: tests/browser/documents/test_documents.py
def test_a_marker_opens_the_passage(answered, visit):
    loaded = visit(path=answered("国内出張の日当は、ブラウザーで見ていくらですか？", "日当は1日2,500円です[1]。").path)
    card = loaded.page.locator(".passage-card:popover-open")
    expect(card).to_have_count(0)
    loaded.page.locator(".answer .cite").click()
    expect(card).to_be_visible()
    expect(card.locator(".cited")).to_be_visible()
    expect(card).to_contain_text("travel.md")
    highlight = card.locator(".cited").evaluate("each => getComputedStyle(each).backgroundColor")
    assert highlight not in ("rgba(0, 0, 0, 0)", card.evaluate("each => getComputedStyle(each).backgroundColor"))
    loaded.page.keyboard.press("Escape")
    expect(card).to_have_count(0)


@pytest.mark.soak  # without a browser: tests/pages/changes/test_replicas.py
def test_two_visitors_see_the_same_run(visit, loaded, server):
    asked = ask(loaded, server, ENDLESS)
    other = visit(path=f"/?{loaded.page.url.partition('?')[2]}")
    expect(other.questions).to_have_text([asked], timeout=LOADED)
    other.stop.click()
    expect(other.text("chat.stopped")).to_be_visible(timeout=LOADED)
    expect(loaded.text("chat.stopped")).to_be_visible(timeout=LOADED)
