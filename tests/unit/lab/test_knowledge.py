"""What is learned, and which cells it is carried to."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlmodel import Session

from lab import knowledge
from lab.recipe.files import recipe_from
from lab.recipe.model import Recipe
from lab.remedies.change import Change
from lab.remedies.choose import Proven
from lab.store import Store, sqlite_url

AT = datetime(2026, 1, 1, tzinfo=UTC)
HALVED = Change("halve-micro-batch-double-accumulation", "micro-batch 256", settings={"micro_batch": 256})
KNOWN = {"model": "cnn", "dataset": "digits", "batch_size": 512, "width": 16, "lr": 0.1, "augmentation": "A"}
MEMORY = {"memory_bytes": 768, "gpu_type": None}


def recipe(knobs: dict[str, str]) -> Recipe:
    settings = {
        "batch_size": {"type": "int"},
        "width": {"type": "int"},
        "lr": {"type": "float"},
        "augmentation": {"type": "str"},
        "alpha": {"type": "float", "aliases": ["weight_decay"]},
    }
    return recipe_from({"name": "r", "command": "x", "settings": settings, "knobs": knobs}, "r")


RECIPE = recipe({"micro_batch": "--micro", "gradient_checkpointing": "--gc"})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store(sqlite_url(tmp_path_factory.mktemp("lab") / "labhand.db"))
    store.migrate()
    yield store
    store.close()


@pytest.fixture
def tx(store: Store) -> Iterator[Session]:
    with store.write() as session:
        yield session
        session.rollback()


def learn(tx: Session, change: Change = HALVED, category: str = "host-oom", of: Recipe = RECIPE, **parts: Any) -> None:
    context = knowledge.context_of(of, {**KNOWN, **parts.get("settings", {})}, {**MEMORY, **parts.get("need", {})})
    knowledge.learn(tx, "r", category, context, change, held=parts.get("held", True), at=AT)
    tx.flush()


def carried(tx: Session, of: Recipe = RECIPE, **parts: Any) -> dict[str, Any]:
    settings = {**KNOWN, **parts.get("settings", {})}
    need = {**MEMORY, **parts.get("need", {})}
    return knowledge.known_remedies(tx, of, settings, need, frozenset(parts.get("varied", ())))


@pytest.mark.parametrize(
    ("parts", "is_carried"),
    [
        ({}, True),
        ({"settings": {"batch_size": 1024}}, True),
        ({"settings": {"lr": 0.5, "augmentation": "B", "seed": 3, "alpha": 0.1}}, True),
        ({"need": {"memory_bytes": 512}}, True),
        ({"varied": ["lr", "batch_size"]}, True),
        ({"settings": {"batch_size": 400}}, False),
        ({"settings": {"batch_size": 700}}, False),
        ({"settings": {"batch_size": None}}, False),
        ({"settings": {"model": "mlp"}}, False),
        ({"settings": {"width": 8}}, False),
        ({"need": {"memory_bytes": 1024}}, False),
        ({"need": {"memory_bytes": None}}, False),
        ({"need": {"gpu_type": "A100"}}, False),
        ({"settings": {"micro_batch": 128}}, False),
        ({"varied": ["micro_batch"]}, False),
    ],
)
def test_a_repair_is_carried_where_it_is_needed_at_least_as_much(
    tx: Session, parts: dict[str, Any], is_carried: bool
) -> None:
    learn(tx)
    found = carried(tx, **parts)
    assert bool(found) == is_carried
    if found:
        whole = {**KNOWN, **parts.get("settings", {})}["batch_size"]
        assert found["settings"] == {"micro_batch": 256}
        assert found["words"] == [f"micro-batch 256 (effective batch stays {whole})"]


def test_memory_of_the_host_says_nothing_of_the_gpu(tx: Session) -> None:
    learn(tx, category="gpu-oom-capacity")
    assert carried(tx, need={"memory_bytes": None})


def test_only_what_saves_memory_is_carried(tx: Session) -> None:
    both = Change("x", "", {"lr": 0.01, "gradient_checkpointing": True}, env={"NCCL_P2P_DISABLE": "1"}, resume=True)
    learn(tx, both)
    found = carried(tx)
    assert (found["settings"], found["env"]) == ({"gradient_checkpointing": True}, {})
    assert found["words"] == ["gradient checkpointing on"]


@pytest.mark.parametrize("category", ["numerical-divergence", "external-network"])
def test_other_faults_are_not_foreseen(tx: Session, category: str) -> None:
    learn(tx, category=category)
    assert carried(tx) == {}


def test_what_did_not_mostly_hold_is_not_carried(tx: Session) -> None:
    learn(tx)
    learn(tx, held=False)
    assert carried(tx) == {}
    learn(tx)
    assert carried(tx)
    context = knowledge.context_of(RECIPE, KNOWN, MEMORY)
    assert knowledge.proven(tx, "r", "host-oom", context) == [Proven(HALVED.action, 3, 2)]
    assert knowledge.proven(tx, "r", "gpu-oom-capacity", context) == []


def test_with_accumulation_alone_the_batch_size_is_carried_unless_it_is_compared(tx: Session) -> None:
    alone = recipe({"accumulation": "--accum"})
    learn(tx, Change("x", "", {"batch_size": 256, "accumulation": 2}), of=alone)
    found = carried(tx, alone, settings={"batch_size": 1024})
    assert found["settings"] == {"batch_size": 256, "accumulation": 4}
    assert carried(tx, alone, varied=["batch_size"]) == {}
