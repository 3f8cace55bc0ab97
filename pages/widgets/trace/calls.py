"""Prompts and replies of a step, word for word; read when somebody opens them."""

import json
from collections.abc import Sequence
from html import escape
from math import exp
from statistics import fmean

import streamlit as st

from pages.server.process import engine
from pages.widgets.controls.fold import show_fold
from pages.words.amounts import UNKNOWN, thousands
from pages.words.reader import language
from pages.words.say import counted, say
from rag.runs.history.for_people.user_history import Traces
from rag.trace.calls import Call, ShortenedText, TokenProbability
from rag.trace.events import StepFinished


def show_calls(run_id: str, step: StepFinished, key: str, traces: Traces | None = None) -> None:
    """A fold with them; nothing for a step without calls. `key`: key of the trace. `traces`: where the calls are read;
    by default, the reader's own.
    """
    if not step.model_calls:
        return
    label = counted("call.fold", step.model_calls)
    fold = show_fold(label, f"calls-{key}-{step.step}-{step.attempt}")
    if fold.open:
        with fold:
            calls = (traces or engine().history).calls.of_step(run_id, step.step, step.attempt)
            if calls:
                st.html(calls_html(calls))
            else:
                st.caption(say("call.not_kept"))


def calls_html(calls: Sequence[Call]) -> str:
    """One line per call, which opens the whole call. A single call is open."""
    opened = " open" if len(calls) == 1 else ""
    return f'<div class="detail calls">{"".join(_call(each, opened) for each in calls)}</div>'


def _call(call: Call, opened: str) -> str:
    of = f" {escape(call.of)}" if call.of else ""
    cost = [say("call.milliseconds", count=f"{call.milliseconds:,.0f}")]
    if tokens := call.tokens_in + call.tokens_out:  # services tell them at the end of a reply, if at all
        cost.append(say("total.tokens", count=thousands(tokens)))
    ended = "" if call.status == "finished" else f' <b class="ended">{escape(say(f"call.{call.status}"))}</b>'
    said = "".join(_words(say(f"message.{each.role}"), each) for each in call.messages)
    reply = _words(say("call.reply"), call.reply, nothing=say("call.no_reply"))
    failed = f'<p class="failed">{escape(call.error.sentence(language()))}</p>' if call.error else ""
    return (
        f'<details class="call"{opened}><summary><b>{escape(say(f"task.{call.task}"))}</b>{of} '
        f'<span class="score">{escape(" · ".join(cost))}</span>{ended}</summary>'
        f"{_settings(call)}{said}{reply}{_tokens(call.tokens)}{failed}</details>"
    )


def _settings(call: Call) -> str:
    is_told = call.tokens_in + call.tokens_out > 0
    told = {
        "call.model": call.model,
        "call.temperature": None if call.temperature is None else f"{call.temperature:g}",
        "call.max_tokens": None if call.max_tokens is None else f"{call.max_tokens:,}",
        "call.schema": say(f"call.{call.reply_format}" if call.reply_format else "call.no_schema"),
        "call.tokens_in": f"{call.tokens_in:,}" if is_told else UNKNOWN,
        "call.tokens_out": f"{call.tokens_out:,}" if is_told else UNKNOWN,
        "call.time": say("call.milliseconds", count=f"{call.milliseconds:,.0f}"),
        "call.retries": str(call.retries),
    }
    unknown = say("call.unset")
    items = (f"<div><dt>{escape(say(key))}</dt><dd>{escape(text or unknown)}</dd></div>" for key, text in told.items())
    return f'<dl class="settings">{"".join(items)}</dl>'


def _words(title: str, words: ShortenedText, nothing: str = "") -> str:
    text = escape(words.text)
    if words.left_out:
        cut = escape(say("call.left_out", count=f"{words.left_out:,}"))
        text = f'{escape(words.text[: words.at])}<em class="cut">{cut}</em>{escape(words.text[words.at :])}'
    shown = f"<pre>{text}</pre>" if text else f"<p><small>{escape(nothing)}</small></p>"
    return f"<h6>{escape(title)}</h6>{shown}"


def _tokens(tokens: Sequence[TokenProbability]) -> str:
    """For a reply of one token, such as a grade: the alternatives at its place. Otherwise each token with its
    probability.
    """
    if not tokens:
        return ""
    if len(tokens) == 1 and tokens[0].top:
        title, rows = say("call.first_token"), tokens[0].top
    else:
        mean = fmean(each.logprob for each in tokens)
        title = say("call.tokens", count=len(tokens), mean=f"{mean:.2f}")
        rows = tuple((each.token, each.logprob) for each in tokens)
    heads = "".join(f"<th>{escape(say(key))}</th>" for key in ("call.token", "call.logprob", "call.probability"))
    body = "".join(
        f"<tr><td>{escape(json.dumps(token, ensure_ascii=False))}</td><td>{logprob:.2f}</td>"
        f"<td>{exp(min(logprob, 0)):.1%}</td></tr>"
        for token, logprob in rows
    )
    return f'<details class="tokens"><summary>{escape(title)}</summary><table><tr>{heads}</tr>{body}</table></details>'
