"""The built-in words of experiments: settings with their aliases, named levels, GPUs and metrics.

Each table is plain text, one entry a line, aliases behind a colon and between bars. Blanks, `-` and `_` in an alias
count for nothing. Names of models and datasets are files beside this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Scale = Literal["decades", "powers", "whole", "linear", "words", "switch"]


@dataclass(frozen=True)
class SettingWord:
    """A setting, how a range of it is meant, and how people call it."""

    name: str
    scale: Scale
    aliases: tuple[str, ...]


_SETTINGS = """
lr decades: learning rates|learning rate|lrs|step size|initial lr|base lr|peak lr|max lr|peak learning rate|initial learning rate|学习率|初始学习率|学习速率
batch_size powers: batch sizes|batch|batches|bs|bsz|mini batch size|minibatch size|minibatch|train batch size|批大小|批量大小|批次大小|批尺寸|批量|批次|批处理大小|batch大小
weight_decay decades: weight decays|wd|wds|l2|l2 penalty|l2 regularization|权重衰减|权值衰减|权重衰减系数
epochs whole: epoch|num epochs|number of epochs|training epochs|train epochs|ep|轮数|轮次|轮|个epoch|训练轮数|epoch数|回合
steps whole: training steps|train steps|iterations|iters|iteration|max steps|total steps|gradient steps|updates|步数|步|训练步数|迭代次数|次迭代|个step|个steps
warmup whole: warm up|warmup steps|warmup step|warmup iters|warmup epochs|steps of warmup|warm up steps|预热步数|预热|热身步数|warmup步数
warmup_ratio linear: warmup fraction|warmup proportion|预热比例
dropout linear: dropout rate|dropout rates|drop out|dropouts|dropout prob|dropout probability|dropout p|随机失活|丢弃率|dropout率
attention_dropout linear: attn dropout
drop_path linear: stochastic depth|drop path rate|stochastic depth rate
image_size powers: px|pixels|像素|pixel|image sizes|resolution|resolutions|img size|img sizes|input size|input sizes|input resolution|input resolutions|image resolution|image resolutions|imgsz|crop size|crop sizes|图像尺寸|图像大小|图片尺寸|分辨率|图像分辨率|图片大小|输入分辨率|输入尺寸|输入大小|裁剪尺寸|裁剪大小|输入图像尺寸|图像分辨率大小|图片分辨率|图像输入尺寸|尺寸
patch_size powers: patch sizes|块大小
hidden_size powers: hidden sizes|hidden dim|hidden dims|hidden dimension|hidden dimensions|hidden units|hidden|hidden unit|d model|model dim|embedding size|隐藏层大小|隐藏维度|隐藏层维度|隐层维度|隐层大小|隐藏单元|隐藏层|隐层|隐藏单元数
embedding_dim powers: embedding dim|embedding dims|embedding dimension|embedding dimensions|embed dim|embed dims|嵌入维度
ffn_size powers: ffn dim|ffn dims|mlp dim|feedforward dim|feedforward size
width powers: widths|channels|num channels|宽度|通道数
layers whole: num layers|number of layers|layer|depth|depths|n layers|层数|深度|层|网络深度
heads powers: attention heads|num heads|head|number of heads|n heads|注意力头数|注意力头|头数|个头|个注意力头
temperature linear: temperatures|temp|temps|温度|温度系数
label_smoothing linear: label smooth|ls|标签平滑
gradient_accumulation powers: gradient accumulation steps|grad accumulation|grad accum|grad accum steps|accumulation steps|grad acc|accum steps|gradient accumulation|梯度累积|梯度累积步数|梯度累加
gradient_clipping linear: grad clip|grad clipping|gradient clip|clip grad norm|max grad norm|clipping|clip norm|gradient clipping norm|gradient norm clip|梯度裁剪|梯度截断
lora_rank powers: lora ranks|lora r|rank|ranks|adapter rank|lora秩|lora的秩|秩
lora_alpha powers: lora alphas
lora_dropout linear: lora drop
sequence_length powers: seq length|seq lengths|seq len|seqlen|sequence lengths|max length|max lengths|max len|max seq length|max seq len|max sequence length|context length|context lengths|context size|context sizes|context window|context windows|ctx|ctx len|ctx length|block size|序列长度|最大长度|上下文长度|上下文窗口
momentum linear: momentums|momenta|sgd momentum|动量
beta1 linear: beta 1|β1
beta2 linear: beta 2|β2|adam beta2
eps decades: epsilon|adam eps|adam epsilon|ε
gamma linear: discount|discount factor|lr gamma|γ|折扣因子
alpha linear: alphas|α
beta linear: betas|β
tau linear: τ
lambda decades: lam|lambdas|λ|正则化系数
noise linear: noise level|noise levels|noise std|噪声|噪声强度
data_fraction linear: fraction of the data|training fraction|data fraction|fraction of the training data|training data fraction|fractions of the training data|fractions of the data|of the training data|of the data|of training data|of the training set|of the train set|of the labels|数据比例|的训练数据|的数据|数据量
mixup linear: mixup alpha
cutmix linear: cutmix alpha
ema_decay linear: ema decay rate|ema momentum|ema decays
mask_ratio linear: masking ratio|mask ratios|masking ratios|mask rate|掩码率|掩码比例
num_workers powers: workers|dataloader workers|data workers|data loader workers
kernel_size whole: kernel sizes|卷积核大小|卷积核
num_classes whole: classes|类别数
num_experts powers: experts|number of experts|专家数|个专家
top_k whole: topk experts
beam_size whole: beam|beams|beam width|beam sizes|束宽
num_samples powers: training samples|train samples|training examples|样本数
max_depth whole: tree depth|max tree depth|最大深度
n_estimators powers: num trees|number of trees|trees|estimators
vocab_size powers: vocab sizes|vocabulary size|vocabulary sizes|词表大小
guidance_scale linear: cfg scale|guidance|guidance scales|cfg
timesteps powers: diffusion steps|sampling steps|denoising steps|采样步数|扩散步数
optimizer words: optimizers|optimiser|optimisers|optim|optims|opt|优化器|优化算法
scheduler words: schedulers|lr schedule|lr schedules|lr scheduler|lr schedulers|learning rate schedule|learning rate schedules|learning rate scheduler|schedule|schedules|lr decay|学习率调度|学习率调度器|学习率策略|调度器|调度策略|学习率衰减
precision words: precisions|dtype|dtypes|numeric precision|floating point precision|精度|数值精度|训练精度
activation words: activations|activation function|activation functions|nonlinearity|nonlinearities|act fn|激活函数|激活
loss words: loss function|loss functions|losses|criterion|损失函数|loss函数
normalization words: norm|norms|norm layer|norm layers|normalization layer|normalisation|归一化|归一化方式|归一化层
pooling words: pooling layer|池化|池化方式
augmentation words: augmentations|data augmentation|data augmentations|augmentation strategy|augmentation strategies|augmentation policies|augmentation policy|data augmentation strategies|data augmentation strategy|data augmentation policies|data augmentation policy|augment|augs|aug|aug policy|aug policies|data aug|数据增强策略|数据增强|增强策略|数据增广|增强|数据增强方法|数据增强方式|增强方式
initialization words: init|inits|initializer|initialisation|weight init|初始化|初始化方式
tokenizer words: tokenizers|分词器
attention words: attention type|attention implementation|attn impl
sampler words: samplers|采样器
quantization words: quantisation|quant|量化
positional_encoding words: positional encodings|position encoding|position embedding|positional embedding|positional embeddings|pos enc|位置编码
gradient_checkpointing switch: grad checkpointing|grad checkpoint|gradient checkpoints|gradient checkpoint|grad ckpt|activation checkpointing|activation checkpoint|checkpointing|梯度检查点|激活检查点|梯度checkpoint
ema switch: exponential moving average|weight ema|ema weights|ema of the weights|指数滑动平均|指数移动平均|滑动平均
mixed_precision switch: automatic mixed precision|mixed precision training|混合精度|自动混合精度|混合精度训练
amp switch:
batch_norm switch: batch normalization|batch normalisation|bn|批归一化|批量归一化|bn层
layer_norm switch: layer normalization|ln|层归一化
pretrained switch: pretraining|pre training|pretrained weights|imagenet pretraining|pretrain|imagenet weights|pretrained initialization|预训练|预训练权重
flash_attention switch: flash attn|flash attention 2|flashattention2|fa2
early_stopping switch: early stop|早停|提前停止
skip_connections switch: skip connection|residual connection|residual connections|residuals|跳跃连接|残差连接
weight_tying switch: tied embeddings|weight sharing|tied weights|权重共享|权重绑定
nesterov switch: nesterov momentum
compile switch: torch compile|torch.compile
horizontal_flip switch: horizontal flips|horizontal flipping|random flip|random flips|flip|flips|水平翻转|随机翻转
random_crop switch: random crops|random cropping|随机裁剪
color_jitter switch: color jittering|colour jitter|颜色抖动
random_erasing switch: cutout|随机擦除
class_weights switch: class weighting|class balancing|类别权重
knowledge_distillation switch: distillation|distill|知识蒸馏|蒸馏
lora switch: low rank adaptation
swa switch: stochastic weight averaging
bias switch: biases|偏置
shuffle switch: shuffling|data shuffling
self_conditioning switch: self conditioning
zero switch: deepspeed zero
fsdp switch: fully sharded
"""

COUNTED = frozenset(
    "epochs steps layers heads warmup num_workers num_experts beam_size n_estimators batch_size hidden_size width"
    " num_classes image_size".split()
)
"""Settings that people write after their number: 50 epochs, 12 layers."""

LEVELS: Mapping[str, tuple[str, ...]] = {
    "optimizer": tuple(
        "adamw|adam|sgd|lion|rmsprop|adagrad|adadelta|adafactor|lamb|lars|nadam|radam|sophia|shampoo|muon|adamax|sgdm"
        "|adabelief|novograd|lbfgs|l-bfgs|adam8bit|adamw8bit|8-bit adam|8-bit adamw|8bit adam|soap|ranger|rprop|adan"
        "|prodigy|sgd with momentum|sgd+momentum|sgd + momentum|momentum sgd|nesterov sgd|schedule-free adamw"
        "|schedulefree|adopt|adam-mini|galore".split("|")
    ),
    "precision": tuple(
        "fp16|bf16|fp32|fp8|tf32|int8|int4|fp64|bfloat16|float16|float32|float64|nf4|fp4|16-bit|32-bit|8-bit|4-bit|16bit|32bit"
        "|8bit|4bit|half precision|full precision|single precision|半精度|单精度|全精度|half-precision".split("|")
    ),
    "scheduler": tuple(
        "cosine|linear|step|constant|polynomial|onecycle|one-cycle|1cycle|exponential|wsd|cosine annealing|plateau"
        "|reduce on plateau|reducelronplateau|multistep|cyclic|inverse sqrt|inverse square root|warmup-stable-decay"
        "|cosine decay|step decay|linear decay|linear warmup|cosine with restarts|cosine restarts|exponential decay|余弦退火|余弦|线性|线性衰减|阶梯|指数|常数|恒定".split(
            "|"
        )
    ),
    "activation": tuple(
        "relu|gelu|silu|swish|swiglu|geglu|tanh|mish|elu|selu|leakyrelu|leaky relu|prelu|relu6|softplus|relu2".split(
            "|"
        )
    ),
    "augmentation": tuple(
        "randaugment|randaug|autoaugment|autoaug|trivialaugment|trivialaugmentwide|augmix|augmax|cutout|specaugment|3-augment".split(
            "|"
        )
    ),
    "normalization": tuple(
        "batchnorm|layernorm|groupnorm|instancenorm|rmsnorm|batch norm|layer norm|group norm|instance norm|rms norm|weight norm|spectral norm".split(
            "|"
        )
    ),
    "loss": tuple(
        "cross entropy|cross-entropy|ce|bce|focal|focal loss|dice loss|hinge|huber|smooth l1|l1|triplet|contrastive|infonce|nt-xent|kl"
        "|ce loss|cross entropy loss|mse loss|label smoothing loss|arcface|cosface|交叉熵|焦点损失".split("|")
    ),
    "pooling": ("max", "avg", "mean", "average", "cls", "gap", "attention"),
    "attention": ("sdpa", "flash", "eager", "xformers"),
    "positional_encoding": ("rope", "alibi", "sinusoidal", "learned", "rotary", "nope"),
    "initialization": ("xavier", "kaiming", "he", "glorot", "orthogonal", "normal", "uniform"),
}
"""Levels known by name. Those of `BARE` need no setting beside them; the rest need it, or a list of their kind."""

BARE = ("optimizer", "precision", "activation", "augmentation")
LISTED = ("scheduler", "normalization", "loss", "positional_encoding")
TOGETHER = ("mixup", "cutmix", "random_erasing")
"""Switches that, when contrasted with each other, are ways of augmentation."""

_METRICS = """
accuracy: acc|accuracies|test accuracy|val accuracy|validation accuracy|test acc|val acc|validation acc|准确率|精确度|正确率|精度指标|验证准确率|测试准确率|验证集准确率|测试集准确率
top-1: top 1 accuracy|top1|top 1 acc|top1准确率
top-5: top 5 accuracy|top5|top 5 acc|top5准确率
macro-f1: macro f1 score|f1 macro|宏f1|宏平均f1
micro-f1: micro f1 score
f1: f1 score|f1 scores|f1值|f1分数
bleu: sacrebleu|bleu4|bleu score|bleu scores
rouge-l: rougel
rouge-1:
rouge-2:
rouge: rouge score|rouge scores
perplexity: ppl|val ppl|validation perplexity|test perplexity|val perplexity|困惑度
loss: validation loss|val loss|test loss|eval loss|training loss|train loss|验证损失|损失|训练损失|测试损失|验证loss
auroc: roc auc|rocauc
auc: area under the curve
map: map@50|map50|map@0.5|mean average precision|map50-95|平均精度均值
miou: mean iou|iou|平均交并比|交并比
dice: dice score|dice coefficient
psnr: 峰值信噪比
ssim:
lpips:
fid: fid score|fid50k
inception score:
kid:
wer: word error rate|词错误率|字错率
cer: character error rate|字符错误率
exact match: em score|em
recall@1: r@1|recall1
recall@5: r@5
recall@10: r@10
recall: 召回率|召回
mse: mean squared error|均方误差
mae: mean absolute error|平均绝对误差
rmse: 均方根误差
r2: r^2
ndcg: ndcg@10
mrr:
mcc: matthews correlation
latency: inference time|inference latency|延迟|推理延迟|推理时间
throughput: tokens per second|samples per second|images per second|tokens/s|tokens/sec|samples/s|img/s|images/s|吞吐量|吞吐
memory: peak memory|memory usage|peak gpu memory|gpu memory|peak vram|vram|显存占用|显存|峰值显存
training time: wall clock time|wall clock|wallclock|train time|训练时间|训练耗时
flops: gflops
pass@1:
pass@10:
error: error rate|test error|validation error|错误率
ece: expected calibration error|calibration error
reward: return|episode return|mean reward|average return|episodic return|奖励|回报
spearman: spearman correlation
pearson: pearson correlation
"""

GPUS = (
    "a100|h100|h200|h800|h20|a800|b100|b200|gb200|gh200|v100|p100|t4|l40s|l40|l4|a10g|a10|a30|a40|a5000|a6000|a4000|k80|p40"
    "|rtx 3090|rtx 4090|rtx 2080|rtx 3080|rtx 4080|rtx 5090|rtx 2080 ti|rtx 3080 ti|rtx 3090 ti|rtx a6000|rtx a5000"
    "|2080ti|2080 ti|3090ti|1080ti|rtx 6000 ada|rtx 6000|mi250|mi300|mi300x|mi210|mi250x|titan rtx|titan v|titan xp|titan x|910b|gaudi2|gaudi3"
).split("|")
GPU_NUMBERS = frozenset({2080, 3070, 3080, 3090, 4070, 4080, 4090, 5080, 5090})
"""Cards that are called by a bare number."""

ADJECTIVES = frozenset("small tiny base large big medium mini nano huge deep wide shallow dense xl xxl pico".split())


QUALIFIERS = frozenset(
    "label target output input encoder decoder backbone classifier embedding residual teacher student generator discriminator text vision inner outer actor"
    " critic policy value noise feature channel spatial token query entropy action observation replay router expert adapter head layer".split()
)
"""Nouns that say whose setting it is: `label noise`, `encoder lr`."""


def _rows(table: str) -> list[tuple[str, list[str]]]:
    rows = (line.partition(":") for line in table.strip().splitlines())
    return [(head.strip(), [alias for alias in rest.strip().split("|") if alias]) for head, _colon, rest in rows]


@cache
def settings_table() -> tuple[SettingWord, ...]:
    """The known settings."""
    found: list[SettingWord] = []
    for head, aliases in _rows(_SETTINGS):
        name, scale = head.split()
        found.append(SettingWord(name, scale, (name, *aliases)))  # type: ignore[arg-type]
    return tuple(found)


@cache
def metrics_table() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The known metrics, each with its aliases."""
    return tuple((name, (name, *aliases)) for name, aliases in _rows(_METRICS))


@cache
def names_in(file: str) -> tuple[str, ...]:
    """The names in `models.txt`, `datasets.txt` (between commas) or `common_words.txt` (between blanks)."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    parts = text.split() if file == "common_words.txt" else text.replace("\n", " ").split(",")
    return tuple(part.strip() for part in parts if part.strip())
