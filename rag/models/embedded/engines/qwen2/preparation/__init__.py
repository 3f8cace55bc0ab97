"""The graph for processors with VNNI, made from the weights of the model's GGUF file."""
