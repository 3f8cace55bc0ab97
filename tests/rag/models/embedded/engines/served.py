"""The embedded model's process with a given engine, whatever would be chosen."""

import sys

from rag.models.embedded.process import EmbeddedServer


class Served(EmbeddedServer):
    engine = "qwen2"

    def command(self) -> list[str]:
        return [sys.executable, "-m", f"rag.models.embedded.engines.{self.engine}", str(self.model_path)]
