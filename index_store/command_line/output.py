"""What the command line prints: lines for a person, or with --json one object each, flushed as soon as it is known."""

import json
import sys
from typing import Any

from index_store.base import errors
from index_store.base.records import Added, Hit
from index_store.ingestion import Ingestion

ADDED = {"document_id": None, "chunks": 0, "sections": 0}
"""of a source of which nothing was added"""


class Output:
    def __init__(self, as_json: bool, language: str) -> None:
        self.as_json = as_json
        self.language = language

    def line(self, fields: dict[str, Any], text: str) -> None:
        print(json.dumps(fields, ensure_ascii=False) if self.as_json else text, flush=True)

    def failed(self, source: str, failure: errors.Failure, fields: dict[str, Any]) -> None:
        sentence = failure.sentence(self.language)
        self.line({"source": source, "status": "failed", **fields, "error": sentence}, f"failed  {source}  {sentence}")

    def job(self, job: Ingestion) -> bool:
        """Each document when it is done; after Ctrl-C the rest stays pending. Raises what the whole job failed of."""
        all_well = True
        for added in job.as_completed():
            all_well &= added.error is None
            self.added(added)
        if job.failure:
            raise job.failure
        return all_well

    def added(self, added: Added) -> None:
        if added.error:
            self.failed(added.source, added.error, {**ADDED, "document_id": added.document_id})
            return
        counts = f"({added.sections} sections, {added.chunks} chunks)"
        self.line(added.model_dump(mode="json"), f"{added.status.value}  {added.source}  {counts}")

    def hits(self, id_: object, hits: list[Hit]) -> None:
        fields = {"id": id_, "hits": [hit.model_dump(mode="json") for hit in hits]}
        self.line(fields, "\n\n".join([*([str(id_)] if id_ is not None else []), *map(_shown, hits)]))

    def refusal(self, error: errors.PlainError) -> int:
        if self.as_json:
            print(json.dumps({"error": error.as_failure().model_dump()}, ensure_ascii=False), flush=True)
        else:
            print(error.sentence(self.language), file=sys.stderr)
        return 1


def _shown(hit: Hit) -> str:
    where = " > ".join([hit.title, *hit.headings]) + (f"  p. {hit.page}" if hit.page else "")
    return f"{hit.rank}. {hit.score:.3f}  {where}  {hit.source}\n{hit.text}"
