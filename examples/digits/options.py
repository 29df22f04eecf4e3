"""The command line of the training script."""

import argparse
from collections.abc import Sequence

from examples.digits.augment import POLICIES
from examples.digits.optim import OPTIMIZERS


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The settings; `micro_batch` is the batch size where it was not given."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.micro_batch is None:
        options.micro_batch = options.batch_size
    if options.micro_batch > options.batch_size:
        parser.error(f"argument --micro-batch: {options.micro_batch} is above --batch-size {options.batch_size}")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.digits.train",
        description="Train a small classifier on the handwritten digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_model(parser)
    _add_training(parser)
    _add_memory(parser)
    _add_files(parser)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp", help="three hidden layers, or residual 3x3")
    parser.add_argument("--dataset", choices=["digits"], default="digits", help="what the images are")
    parser.add_argument("--hidden", type=_count, default=128, help="units of each hidden dense layer")
    parser.add_argument("--width", type=_count, default=16, help="channels of the CNN")
    parser.add_argument("--depth", type=_count, default=5, help="residual layers of the CNN")
    parser.add_argument("--dropout", type=_share, default=0.0, help="share of hidden units dropped in training")


def _add_training(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=_count, default=4, help="passes over the training images")
    parser.add_argument("--stop-after-epochs", type=_count, help="stop early, once this many epochs are done in all")
    parser.add_argument("--lr", type=_positive, default=0.01, help="learning rate")
    parser.add_argument("--schedule", choices=["constant", "cosine"], default="constant", help="course of the lr")
    parser.add_argument("--batch-size", type=_count, default=64, help="samples of one optimizer step")
    parser.add_argument("--optimizer", choices=list(OPTIMIZERS), default="momentum", help="update rule")
    parser.add_argument("--weight-decay", type=_not_negative, default=0.0, help="L2 term added to the gradient")
    parser.add_argument("--clip-grad-norm", type=_positive, help="scale gradients down to this norm")
    parser.add_argument("--augmentation", choices=list(POLICIES), default="none", help="A is shift, B is noise + shift")
    parser.add_argument("--seed", type=int, default=0, help="of weights, order, dropout and augmentation")
    parser.add_argument("--fail-on-nan", action="store_true", help="end with an error when the loss is not finite")


def _add_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--micro-batch", type=_count, help="samples held in memory at once; all of a batch if not set")
    parser.add_argument("--grad-checkpoint", action="store_true", help="recompute activations in the backward pass")
    parser.add_argument("--precision", choices=["fp32", "fp64"], default="fp32", help="of weights and activations")


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", metavar="NPZ", help="images (N, 8, 8) and labels (N,); bundled digits if not set")
    parser.add_argument("--workers", type=_whole, default=0, help="threads that prepare batches ahead")
    parser.add_argument("--checkpoint-dir", metavar="DIR", default="checkpoints", help="where each epoch is saved")
    parser.add_argument("--resume", metavar="PATH", help="go on from a checkpoint, or from the newest of a directory")
    parser.add_argument("--log-every", type=_count, default=10, help="steps between two lines")


def _whole(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _not_negative(text: str) -> float:
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value
