"""The engines that serve the embedded chat model, each in a child process, over OpenAI's protocol."""
