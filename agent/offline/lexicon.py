"""The built-in words: settings with their aliases, optimizers, GPUs, metrics; names of models and datasets are files."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Scale = Literal["decades", "powers", "whole", "linear", "words", "switch"]


@dataclass(frozen=True)
class SettingWord:
    """A setting, how people call it, and how a range of it is meant."""

    name: str
    scale: Scale
    aliases: tuple[str, ...]


def _s(name: str, scale: Scale, *aliases: str) -> SettingWord:
    return SettingWord(name, scale, (name.replace("_", " "), name, *aliases))


SETTINGS: tuple[SettingWord, ...] = (
    _s(
        "lr",
        "decades",
        "learning rates",
        "learning rate",
        "learning-rate",
        "learnign rate",
        "learing rate",
        "lrs",
        "step size",
        "学习率",
    ),
    _s(
        "batch_size",
        "powers",
        "batch sizes",
        "batch-size",
        "batchsize",
        "batch_sizes",
        "batchsizes",
        "bs",
        "bsz",
        "batches",
        "batch",
        "批大小",
        "批量大小",
        "批次大小",
        "批尺寸",
        "批量",
    ),
    _s("weight_decay", "decades", "weight decays", "weight-decay", "weightdecay", "wd", "l2", "权重衰减"),
    _s("epochs", "whole", "epoch", "eps of training", "轮数", "轮次", "轮", "个epoch"),
    _s("steps", "whole", "training steps", "train steps", "iterations", "iters", "步数", "步"),
    _s("warmup", "whole", "warm-up", "warm up", "warmup steps", "warmup_steps", "预热步数", "预热"),
    _s("dropout", "linear", "dropout rate", "drop out", "dropouts", "丢弃率"),
    _s("drop_path", "linear", "drop path", "stochastic depth", "droppath"),
    _s("optimizer", "words", "optimizers", "optimiser", "optimisers", "optim", "优化器"),
    _s(
        "scheduler",
        "words",
        "schedulers",
        "lr schedule",
        "lr schedules",
        "lr scheduler",
        "schedule",
        "学习率调度",
        "调度器",
    ),
    _s("precision", "words", "precisions", "dtype", "精度"),
    _s(
        "image_size",
        "powers",
        "image sizes",
        "resolution",
        "resolutions",
        "img size",
        "input size",
        "input sizes",
        "图像尺寸",
        "分辨率",
        "图片大小",
    ),
    _s("patch_size", "powers", "patch sizes"),
    _s(
        "hidden_size",
        "powers",
        "hidden sizes",
        "hidden dim",
        "hidden dims",
        "hidden dimension",
        "hidden units",
        "hidden",
        "隐藏层大小",
        "隐藏维度",
    ),
    _s("width", "powers", "widths", "channels", "宽度", "通道数"),
    _s("layers", "whole", "num layers", "number of layers", "depth", "depths", "层数", "深度"),
    _s("heads", "powers", "attention heads", "num heads", "head count", "注意力头数", "头数"),
    _s("temperature", "linear", "temperatures", "temp", "温度"),
    _s("label_smoothing", "linear", "label-smoothing", "标签平滑"),
    _s(
        "augmentation",
        "words",
        "augmentations",
        "data augmentation",
        "augmentation strategy",
        "augmentation strategies",
        "augmentation policies",
        "augmentation policy",
        "augment",
        "aug",
        "数据增强策略",
        "数据增强",
        "增强策略",
    ),
    _s(
        "gradient_checkpointing",
        "switch",
        "gradient checkpointing",
        "grad checkpointing",
        "grad checkpoint",
        "gradient checkpoints",
        "gradient checkpoint",
        "activation checkpointing",
        "梯度检查点",
    ),
    _s(
        "gradient_accumulation",
        "powers",
        "gradient accumulation steps",
        "grad accumulation",
        "grad accum",
        "accumulation steps",
        "梯度累积",
    ),
    _s(
        "gradient_clipping",
        "linear",
        "grad clip",
        "gradient clip",
        "clip grad norm",
        "max grad norm",
        "clipping",
        "梯度裁剪",
    ),
    _s("lora_rank", "powers", "lora ranks", "lora r", "rank", "ranks", "LoRA秩", "秩"),
    _s(
        "sequence_length",
        "powers",
        "seq length",
        "seq len",
        "seqlen",
        "sequence lengths",
        "max length",
        "context length",
        "context lengths",
        "context size",
        "context window",
        "max_length",
        "序列长度",
        "上下文长度",
    ),
    _s("momentum", "linear", "动量"),
    _s("beta1", "linear"),
    _s("beta2", "linear"),
    _s("eps", "decades", "epsilon"),
    _s("ema", "switch", "exponential moving average", "指数滑动平均"),
    _s("mixup", "linear", "mix-up", "mixup alpha"),
    _s("cutmix", "switch", "cut-mix"),
    _s("amp", "switch", "mixed precision", "automatic mixed precision", "混合精度"),
    _s("batch_norm", "switch", "batch norm", "batchnorm", "批归一化"),
    _s("layer_norm", "switch", "layernorm"),
    _s("pretrained", "switch", "pretraining", "pre-training", "pretrained weights", "预训练"),
    _s("flash_attention", "switch", "flash attention", "flash-attn", "flash attn"),
    _s("early_stopping", "switch", "early stopping", "早停"),
    _s("num_workers", "powers", "workers", "dataloader workers", "data workers"),
    _s("activation", "words", "activations", "activation function", "activation functions", "激活函数"),
    _s("loss", "words", "loss function", "loss functions", "losses", "损失函数"),
    _s("normalization", "words", "norm", "norms", "归一化"),
    _s("pooling", "words", "池化"),
    _s("kernel_size", "whole", "kernel sizes"),
    _s("gamma", "linear"),
    _s("alpha", "linear"),
    _s("beta", "linear"),
    _s("tau", "linear"),
    _s("num_classes", "whole", "classes"),
    _s("lambda", "decades", "lam"),
    _s("noise", "linear", "noise level", "noise levels", "噪声"),
    _s("data_fraction", "linear", "fraction of the data", "training fraction", "data fraction", "数据比例"),
)

COUNTED = ("epochs", "steps", "layers", "heads", "warmup", "num_workers")
"""Settings that people also write after their number: 50 epochs, 12 layers."""

OPTIMIZERS = (
    "adamw",
    "adam",
    "sgd",
    "lion",
    "rmsprop",
    "adagrad",
    "adadelta",
    "adafactor",
    "lamb",
    "lars",
    "nadam",
    "radam",
    "sophia",
    "shampoo",
    "muon",
    "adamax",
    "sgdm",
    "adabelief",
    "novograd",
    "lbfgs",
    "sgd+momentum",
    "adam8bit",
    "adamw8bit",
    "8-bit adam",
    "soap",
)
PRECISIONS = ("fp16", "bf16", "fp32", "fp8", "tf32", "int8", "int4", "fp64", "bfloat16", "float16", "float32", "nf4")
SCHEDULERS = (
    "cosine",
    "linear",
    "step",
    "constant",
    "polynomial",
    "onecycle",
    "one-cycle",
    "exponential",
    "wsd",
    "cosine annealing",
    "plateau",
)
ACTIVATIONS = ("relu", "gelu", "silu", "swish", "swiglu", "tanh", "mish", "elu", "leakyrelu", "leaky relu")

GPU = (
    r"(?:a100|h100|h200|h800|h20|a800|b100|b200|gb200|gh200|v100s?|p100|t4|l40s?|l4|a10g?|a30|a40|a5000|a6000|k80|p40"
    r"|(?:rtx[ -]?)?(?:a6000|6000 ada|[2345]0[6789]0(?:[ -]?ti)?)|mi\d{3}x?|titan(?: rtx| v| xp)?|910b|gaudi[23]?)"
)

METRICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("accuracy", ("accuracy", "acc", "accuracies", "准确率", "精确度", "正确率", "精度指标")),
    ("top-1", ("top-1 accuracy", "top1 accuracy", "top-1", "top1", "top 1")),
    ("top-5", ("top-5 accuracy", "top5 accuracy", "top-5", "top5", "top 5")),
    ("macro-f1", ("macro-f1", "macro f1", "macro_f1")),
    ("micro-f1", ("micro-f1", "micro f1")),
    ("f1", ("f1-score", "f1 score", "f1", "f1值", "f1分数")),
    ("bleu", ("bleu", "sacrebleu", "bleu-4")),
    ("rouge-l", ("rouge-l", "rougel", "rouge l")),
    ("rouge", ("rouge-1", "rouge-2", "rouge")),
    ("perplexity", ("perplexity", "ppl", "困惑度")),
    (
        "loss",
        (
            "validation loss",
            "val loss",
            "test loss",
            "eval loss",
            "training loss",
            "train loss",
            "loss",
            "验证损失",
            "损失",
        ),
    ),
    ("auroc", ("auroc", "roc-auc", "roc auc")),
    ("auc", ("auc",)),
    ("map", ("map@50", "map50", "map", "mean average precision")),
    ("miou", ("miou", "mean iou", "iou", "平均交并比")),
    ("dice", ("dice score", "dice")),
    ("psnr", ("psnr", "峰值信噪比")),
    ("ssim", ("ssim",)),
    ("lpips", ("lpips",)),
    ("fid", ("fid",)),
    ("inception score", ("inception score",)),
    ("wer", ("wer", "word error rate", "词错误率", "字错率")),
    ("cer", ("cer", "character error rate")),
    ("exact match", ("exact match", "exact-match", "em score")),
    ("recall@1", ("recall@1", "r@1")),
    ("recall@5", ("recall@5", "r@5")),
    ("recall@10", ("recall@10", "r@10")),
    ("precision", ("precision and recall",)),
    ("recall", ("recall", "召回率")),
    ("mse", ("mse", "mean squared error", "均方误差")),
    ("mae", ("mae", "mean absolute error")),
    ("rmse", ("rmse",)),
    ("r2", ("r2", "r^2")),
    ("ndcg", ("ndcg@10", "ndcg")),
    ("latency", ("latency", "inference time", "延迟")),
    ("throughput", ("throughput", "tokens per second", "samples per second", "吞吐量")),
    ("memory", ("peak memory", "memory usage", "显存占用")),
    ("pass@1", ("pass@1",)),
    ("error", ("error rate", "test error", "错误率")),
)

ADJECTIVES = (
    "small",
    "tiny",
    "base",
    "large",
    "big",
    "medium",
    "mini",
    "nano",
    "huge",
    "deep",
    "wide",
    "shallow",
    "dense",
)


@cache
def known_models() -> tuple[str, ...]:
    """Well-known models and families, in lower case."""
    return _names("models.txt")


@cache
def known_datasets() -> tuple[str, ...]:
    """Well-known datasets, in lower case."""
    return _names("datasets.txt")


def _names(file: str) -> tuple[str, ...]:
    text = files("agent.offline").joinpath(file).read_text(encoding="utf-8")
    return tuple(name.strip() for name in text.replace("\n", " ").split(",") if name.strip())
