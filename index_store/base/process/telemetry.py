"""Keeps libraries from telling their makers that they are used."""

import sys
from types import ModuleType
from typing import cast


def silence_openvino() -> None:
    """Call it before OpenVINO is imported, in the package of the modules that import it.

    Each import of OpenVINO tells Google Analytics, however it was installed. It does so through this package, which it
    does not need. Without the package it tells nobody.
    """
    sys.modules["openvino_telemetry"] = cast(ModuleType, None)
