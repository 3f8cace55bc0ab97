"""The Compare page in a real browser: live, on a phone, from the chat, in two tabs, and with a lost connection."""

import pytest
from playwright.sync_api import expect

from tests.browser.asking import ENDLESS, GONE, held, requests_for, script
from tests.browser.connection import Connection
from tests.browser.runs.comparing import begin, differences, heads, new_question
from tests.browser.seen import contrast, expect_open
from tests.browser.visitor import LOADED, SCHEMES, boxes, show_in
from tests.helpers.looks import one_look, one_width


@one_width("en", 1280)
def test_two_pipelines_answer_beside_each_other_and_what_differs_stands_below(
    loaded_app, visit, server, language, width
):
    visitor = visit(language, width=width, path="/compare")
    question, answer = new_question(), held()
    script(server, question, answer)
    begin(visitor, question)
    expect(visitor.answers).to_have_count(2, timeout=LOADED)
    expect(visitor.page.locator(".run-graph .current")).to_have_count(2)
    expect(differences(visitor)).to_have_count(0)
    answer.until.set()
    expect(differences(visitor)).to_be_visible(timeout=LOADED)
    visitor.settle()
    assert "One word" in visitor.answers.last.inner_text()
    assert len(requests_for(server, question)) == 2
    assert visitor.width <= width

    first, second = boxes(heads(visitor))
    if width == 1280:
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] <= second["x"]
    else:
        assert first["x"] == second["x"]
        assert first["y"] < visitor.answers.first.bounding_box()["y"] < second["y"]

    for scheme in SCHEMES:
        show_in(scheme, visitor.page)
        for letter in visitor.page.locator(".column-head .letter").all():
            assert contrast(letter) >= 4.5

    vote, best = (visitor.words[key] for key in ("compare.vote", "compare.best"))
    visitor.page.get_by_role("button", name=f"☆ {vote}").last.click()
    expect(visitor.page.get_by_role("button", name=f"★ {best}")).to_be_visible()
    visitor.page.reload()
    expect(visitor.page.get_by_role("button", name=f"★ {best}")).to_be_visible(timeout=LOADED)
    expect(visitor.answers).to_have_count(2)
    assert len(requests_for(server, question)) == 2


@pytest.mark.soak  # without a browser: tests/pages/test_compare.py
def test_a_reload_and_a_second_tab_go_on_with_it_and_a_stop_in_one_is_seen_in_the_other(loaded_app, visit, server):
    first, question = visit(path="/compare"), new_question()
    script(server, question, ENDLESS)
    begin(first, question)
    expect(first.answers).to_contain_text(["One", "One"], timeout=LOADED)  # both have asked the model
    first.page.reload()
    expect(first.answers).to_contain_text(["One", "One"], timeout=LOADED)
    second = visit(path=f"/compare?{first.page.url.partition('?')[2]}")
    expect(second.answers).to_have_count(2, timeout=LOADED)
    second.settle()
    second.page.get_by_role("button", name=second.words["chat.stop"], exact=False).last.click()
    expect(second.text("chat.stopped")).to_have_count(1, timeout=LOADED)
    second.page.get_by_role("button", name=second.words["compare.stop_all"]).or_(second.stop).first.click()
    for visitor in (first, second):
        expect(differences(visitor)).to_be_visible(timeout=LOADED)
        expect(visitor.text("chat.stopped")).to_have_count(2)
    requests = requests_for(server, question)
    assert len(requests) == 2
    assert all(request.disconnected.wait(GONE) for request in requests)


@pytest.mark.soak  # without a browser: tests/pages/test_compare.py
def test_from_a_comparison_a_new_one_is_begun_and_an_earlier_one_deleted(loaded_app, visit, server):
    visitor, first, second = visit(path="/compare"), new_question(), new_question()
    shown = visitor.page.locator(".question.compared")
    new, earlier = (visitor.page.get_by_role("link", name=name) for name in (visitor.words["compare.new"], first))
    for question in (first, second):
        script(server, question, "A director approves the green car [1].")
        begin(visitor, question)
        # As a list: while the page is drawn, the question of before can stand beside the new one.
        expect(shown).to_have_text([question])
        expect(differences(visitor)).to_be_visible(timeout=LOADED)
        visitor.settle()
        new.click()
        expect(earlier).to_be_visible(timeout=LOADED)
        visitor.settle()
    visitor.page.go_back()
    expect(shown).to_have_text([second], timeout=LOADED)
    visitor.settle()
    visitor.page.go_forward()
    expect(shown).to_have_count(0, timeout=LOADED)
    visitor.settle()
    earlier.click()
    expect(shown).to_have_text([first], timeout=LOADED)
    visitor.settle()
    visitor.button("compare.delete").click()
    visitor.button("compare.delete_really").click()
    expect(shown).to_have_count(0, timeout=LOADED)
    visitor.settle()
    expect(earlier).to_have_count(0)


@pytest.mark.soak  # in the chat: tests/browser/chat/test_faults.py
def test_a_connection_that_is_lost_for_a_while_loses_and_doubles_nothing(loaded_app, visit, server):
    visitor, question, answer = visit(path="/compare"), new_question(), held()
    connection = Connection(visitor)
    script(server, question, answer)
    begin(visitor, question)
    expect(visitor.answers.last).to_contain_text("One", timeout=LOADED)
    with connection.lost(seconds=2):
        answer.until.set()
    expect(differences(visitor)).to_be_visible(timeout=LOADED)
    assert connection.count == 2
    expect(visitor.answers).to_have_count(2)
    assert len(requests_for(server, question)) == 2
    connection.forget_complaints()


@pytest.mark.soak  # without a browser: tests/pages/test_compare.py
def test_from_the_chat_an_answer_becomes_the_first_column_and_an_address_leads_to_a_step(answered, visit, server):
    question = "Who approves the green car?"
    script(server, question, "A director approves the green car [1].")
    loaded = visit(path=answered(question, "A director approves the green car [1].").path)
    with_others = loaded.page.get_by_role("link", name=loaded.words["compare.with"])
    run = with_others.get_attribute("href").partition("runs=")[2].partition("&")[0]
    with_others.click()
    begin_button = loaded.page.get_by_role("button", name=loaded.words["compare.begin"])
    expect(begin_button).to_be_visible(timeout=LOADED)
    loaded.settle()
    begin_button.click()
    expect(differences(loaded)).to_be_visible(timeout=LOADED)
    assert len(requests_for(server, question)) == 1
    loaded.settle()
    other = loaded.page.get_by_role("button", name=loaded.words["compare.vote"]).last
    other_run = other.evaluate("each => each.closest('[class*=st-key-vote-]').className.match(/st-key-vote-(\\w+)/)[1]")

    origin = loaded.page.evaluate("location.origin")
    loaded.page.goto(f"{origin}/compare?lang=en&runs={other_run},{run}&step=check_grounding-1")
    expect(loaded.step("check_grounding")).to_be_visible(timeout=LOADED)
    expect_open(loaded.step("check_grounding"))
    loaded.settle()
    loaded.page.locator(".run-graph .node").filter(has_text=loaded.words["step.check_usefulness"]).click()
    expect_open(loaded.step("check_usefulness"))


@pytest.mark.soak  # without a browser: tests/pages/test_compare.py
@one_look("ja", 390, "dark")
def test_four_columns_with_settings_of_their_own_take_turns_and_their_differences_are_drawn(
    loaded_app, visit, server, language, width, scheme
):
    loaded_app.renew(RUNS_AT_ONCE="1")  # as with the embedded model
    visitor = visit(language, width=width, path="/compare", scheme=scheme)
    question = new_question()
    answer = held()
    script(server, question, answer)
    visitor.page.get_by_role("radio", name="4", exact=True).click()
    options = visitor.page.get_by_role("button", name=visitor.words["options.title"])
    expect(options).to_have_count(4, timeout=LOADED)
    visitor.settle()
    options.nth(1).click()
    warm = visitor.page.get_by_role("spinbutton", name=visitor.words["options.temperature"]).locator("visible=true")
    warm.fill("0.7")
    warm.press("Enter")
    picked = f"{visitor.words['options.temperature']} 0.7"
    expect(visitor.page.get_by_text(picked).last).to_be_attached(timeout=LOADED)
    visitor.page.keyboard.press("Escape")
    visitor.settle()
    visitor.page.get_by_role("textbox", name=visitor.words["compare.question"]).fill(question)
    visitor.page.get_by_role("button", name=visitor.words["compare.begin"]).click()
    turn = visitor.words["compare.turn"].partition("{")[0].strip(" *:")
    expect(visitor.page.get_by_text(turn).first).to_be_visible(timeout=LOADED)
    answer.until.set()
    expect(heads(visitor)).to_have_count(4)
    expect(differences(visitor)).to_be_visible(timeout=LOADED)
    visitor.settle()
    assert [picked in head for head in heads(visitor).all_inner_texts()] == [False, True, False, False]
    sent = sorted(each.body["temperature"] for each in requests_for(server, question))
    assert sent[-2:] == [0, 0.7]
    expect(visitor.page.locator(".costs th")).to_have_count(11)
    expect(visitor.page.locator(".chart")).to_have_count(3)
    passages = visitor.page.locator(".passages")
    expect(passages).to_be_visible()
    assert passages.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert visitor.width <= width
