"""A GGUF file of a Qwen2 with two layers and random weights, which llama.cpp serves, too."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quantize

from rag.models.embedded.engines.qwen2.tokenizer import BEGIN, CHARACTERS, END, END_OF_TEXT

LAYERS, WIDTH, HEADS, KV_HEADS, INNER = 2, 256, 4, 2, 512
MERGES = ["t h", "Ġ th", "Ġth e", "ã ģ", "Ġ a", "i n"]
"""joins bytes that are often neighbours, in English and in kana"""
WORDS = [*CHARACTERS, *(merge.replace(" ", "") for merge in MERGES), BEGIN, END, END_OF_TEXT]


def write_model(path: Path, *, architecture: str = "qwen2", seed: int = 0) -> Path:
    random = np.random.default_rng(seed)
    writer = GGUFWriter(path, architecture)
    writer.add_context_length(4096)
    writer.add_block_count(LAYERS)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(WORDS)
    writer.add_token_types([TokenType.NORMAL] * (len(WORDS) - 3) + [TokenType.CONTROL] * 3)
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(WORDS.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(
        "{% for message in messages %}"
        "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
        "{% endfor %}{{ '<|im_start|>assistant\n' }}"
    )

    def add(name: str, rows: int, columns: int, spread: float = 1.0) -> None:
        weights = random.normal(0, spread / np.sqrt(columns), (rows, columns)).astype(np.float32)
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor(name, quantize(weights, kind), raw_dtype=kind)

    def add_vector(name: str, length: int, around: float) -> None:
        writer.add_tensor(name, random.normal(around, 0.1, length).astype(np.float32))

    kv_width = WIDTH // HEADS * KV_HEADS
    add("token_embd.weight", len(WORDS), WIDTH, spread=16)
    for number in range(LAYERS):
        layer = f"blk.{number}"
        add_vector(f"{layer}.attn_norm.weight", WIDTH, 1)
        add_vector(f"{layer}.ffn_norm.weight", WIDTH, 1)
        for part, rows in (("q", WIDTH), ("k", kv_width), ("v", kv_width)):
            add(f"{layer}.attn_{part}.weight", rows, WIDTH)
            add_vector(f"{layer}.attn_{part}.bias", rows, 0)
        add(f"{layer}.attn_output.weight", WIDTH, WIDTH)
        add(f"{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"{layer}.ffn_down.weight", WIDTH, INNER)
    add_vector("output_norm.weight", WIDTH, 1)
    add("output.weight", len(WORDS), WIDTH, spread=2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
