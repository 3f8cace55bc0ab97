"""The registry: every pipeline by its name."""

from rag.errors import UnknownPipeline
from rag.pipelines.adaptive import adaptive
from rag.pipelines.corrective import corrective
from rag.pipelines.hybrid import hybrid
from rag.pipelines.multivector import multivector
from rag.pipelines.naive import naive
from rag.pipelines.pipeline import Pipeline
from rag.pipelines.self_rag import self_rag
from rag.pipelines.self_rag_candidates import self_rag_candidates

PIPELINES: dict[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (self_rag, self_rag_candidates, naive, multivector, hybrid, corrective, adaptive)
}


def pipeline(name: str) -> Pipeline:
    if name not in PIPELINES:
        raise UnknownPipeline(name=name, known=", ".join(PIPELINES))
    return PIPELINES[name]
