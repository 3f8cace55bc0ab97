"""Qwen2 as a graph that OpenVINO computes, for processors with dot products of bytes; and the server of it.

It reads three times as fast there as llama.cpp. Figures: docs/decisions/models/embedded-chat-model.md.
"""

from index_store.base.process.telemetry import silence_openvino

silence_openvino()
