"""Small sentence-transformers models, built here: exporting one takes seconds."""

import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path += [str(_HERE.parent), str(_HERE)]  # model_servers, and asking

WORDS = (
    *("the", "queue", "is", "drained", "by", "one", "worker", "because", "two", "wrote"),
    *("same", "row", "twice", "query", "passage"),
)


def build_tiny_model(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """A BERT of one layer with random but seeded weights, mean pooling and a window of 24."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    plain = folder.with_name(folder.name + "-plain")
    plain.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, ".", ":", ","]
    ids = {word: i for i, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(plain)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.5,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(plain)
    transformer = Transformer(str(plain), max_seq_length=24)
    model = SentenceTransformer(
        modules=[transformer, Pooling(32, "mean")], prompts=prompts, device="cpu"
    )
    model.save(str(folder))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny")


@pytest.fixture(scope="session")
def tiny_prompted_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(
        tmp_path_factory.mktemp("prompted") / "tiny",
        prompts={"query": "query: ", "document": "passage: "},
    )
