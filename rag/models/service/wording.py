"""The fields of the prompt wording for models of a service; en.py and ja.py fill them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """Names in braces, such as {question}, are filled in by prompts.py."""

    answer: str
    """the instructions for an answer; the next five are added to them"""
    short: str
    normal: str
    long: str
    polite: str
    plain: str
    question: str
    """the passages and the question"""
    rejected: str
    """an answer that was rejected; the next two follow it"""
    unsupported: str
    again: str
    memory: str
    """an answer without any document"""
    memory_case: str
    retrieval_need: str
    retrieval_need_case: str
    relevance: str
    relevance_case: str
    grounding: str
    grounding_case: str
    usefulness: str
    usefulness_case: str
    keywords: str
    keywords_case: str
    rewrite: str
    rewrite_case: str
    dropped: str
    """why a query is rewritten: the passages that it found and grading dropped"""
    not_useful: str
    """why a query is rewritten: what its answer lacked"""
    web_query: str
    web_query_case: str
    route: str
    route_case: str
    talk: str
    standalone: str
    """a follow-up is condensed into a standalone question"""
    standalone_case: str
    standalone_turn: str
    follow_ups: str
    follow_ups_case: str
