"""What the machines have, and who uses it."""

from backends.base import Gpu, Node
from backends.errors import BackendError
from lab.cards import Card, Table
from lab.recipe.model import plain
from lab.services import Lab
from lab.words import plural, size


def machines_card(lab: Lab, gpu_type: str | None = None) -> Card:
    """Every node with its GPUs (those of one type when asked for), free CPUs and memory."""
    rows: list[tuple[str, ...]] = []
    silent: list[str] = []
    for name, backend in lab.backends.items():
        try:
            nodes = backend.inventory()
        except BackendError as error:
            silent.append(f"{name} did not answer: {error}")
            continue
        for node in nodes:
            rows += _node_rows(name, node, gpu_type)
    kind = gpu_type or "GPU"
    gpus = [row for row in rows if row[1]]
    title = f"{plural(len(gpus), kind)} in the lab" if gpus else f"The lab has no {kind}"
    table = Table(("node", "GPU", "memory", "busy", "by", "CPUs free", "RAM free"), tuple(rows)) if rows else None
    return Card("gpus", title, "\n".join(silent), table=table)


def _node_rows(backend: str, node: Node, gpu_type: str | None) -> list[tuple[str, ...]]:
    name = node.name if node.name == backend else f"{backend}/{node.name}"
    cpus = "?" if node.cpus is None else f"{'?' if node.cpus_free is None else node.cpus_free}/{node.cpus}"
    memory = f"{size(node.memory_free)} of {size(node.memory_total)}"
    gpus = [gpu for gpu in node.gpus if gpu_type is None or plain(gpu_type) in plain(gpu.name)]
    if not gpus:
        return [(name, "", "", "", "", cpus, memory)] if gpu_type is None else []
    return [(name, *_gpu_cells(gpu), cpus, memory) for gpu in gpus]


def _gpu_cells(gpu: Gpu) -> tuple[str, str, str, str]:
    busy = "?" if gpu.utilisation is None else f"{gpu.utilisation}%"
    return (
        f"{gpu.index} {gpu.name}",
        f"{size(gpu.memory_used)} of {size(gpu.memory_total)}",
        busy,
        ", ".join(gpu.users),
    )
