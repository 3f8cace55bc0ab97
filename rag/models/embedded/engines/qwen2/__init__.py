"""Qwen2 as a graph that OpenVINO computes, for processors that multiply bytes; and the server of it.

It reads three times as fast there as llama.cpp. Figures: docs/decisions/embedded-chat-model.md.
"""
