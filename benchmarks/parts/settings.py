"""Settings of a benchmark that asks the environment's chat model about its own documents."""

from pathlib import Path

from rag.models.embedded.fetch import CHAT_MODEL, models_folder
from rag.settings import Settings


def with_own_data(folder: Path) -> Settings:
    """The environment's settings with another data folder; the embedded model is the one that `make run`
    has fetched.
    """
    settings = Settings()
    model = settings.embedded_model or models_folder(settings.data_dir) / CHAT_MODEL.name
    return settings.model_copy(update={"data_dir": folder, "embedded_model": model})
