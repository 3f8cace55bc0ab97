"""The registry: every pipeline by its name."""

from rag.errors import UnknownPipeline
from rag.pipelines.hybrid import hybrid
from rag.pipelines.multivector import multivector
from rag.pipelines.naive import naive
from rag.pipelines.pipeline import Pipeline
from rag.pipelines.self_rag import self_rag

PIPELINES: dict[str, Pipeline] = {pipeline.name: pipeline for pipeline in (self_rag, naive, multivector, hybrid)}


def pipeline(name: str) -> Pipeline:
    if name not in PIPELINES:
        raise UnknownPipeline(name=name, known=", ".join(PIPELINES))
    return PIPELINES[name]
