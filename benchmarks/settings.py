"""Settings of a benchmark that asks the chat model of the environment about documents of its own."""

from pathlib import Path

from rag.models.embedded.fetch import CHAT_MODEL, models_folder
from rag.settings import Settings


def with_own_data(folder: Path) -> Settings:
    """The environment's, but for the data; the embedded model is the one that `make run` has fetched."""
    settings = Settings()
    model = settings.embedded_model or models_folder(settings.data_dir) / CHAT_MODEL.name
    return settings.model_copy(update={"data_dir": folder, "embedded_model": model})
