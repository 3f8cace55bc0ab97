"""What a chat model is sent: messages, each with its role."""

from typing import Literal

MessageRole = Literal["system", "user", "assistant"]
Message = tuple[MessageRole, str]
Prompt = list[Message]
