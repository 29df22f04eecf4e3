"""The contract of a diagnosis: what it holds, what it says, and that hints and a lab's own signatures count."""

import io
import json
import subprocess
import sys
from pathlib import Path

from lab.diagnosis import Hints, diagnose, load_signatures, to_json

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.82 GiB. GPU 2 has a total capacity of 79.25 GiB "
    "of which 2.06 GiB is free. Including non-PyTorch memory, this process has 77.18 GiB memory in use. Of the "
    "allocated memory 74.90 GiB is allocated by PyTorch, and 611.40 MiB is reserved by PyTorch but unallocated. If "
    "reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
GIB = 1 << 30


def test_the_object_has_the_fields_of_the_contract() -> None:
    found = to_json(diagnose(b"step 1\nKeyError: 'x'\n", Hints(1)))
    assert json.loads(json.dumps(found)) == found
    assert found["evidence"] == {"line": 2, "text": "KeyError: 'x'"}
    needed = {
        "category",
        "root_cause",
        "evidence",
        "cascade",
        "transient",
        "retry",
        "actions",
        "needs_human",
        "confidence",
    }
    assert needed <= found.keys()


def test_a_stream_is_read_like_bytes() -> None:
    log = b"step 1\n" + OOM.encode()
    assert diagnose(io.BytesIO(log), Hints(1)) == diagnose(log, Hints(1))


def test_the_numbers_are_read_and_the_usual_hint_is_weighed() -> None:
    found = diagnose(f"[rank2]: {OOM}".encode(), Hints(1))
    assert found.values["tried"] == round(3.82 * GIB)
    assert found.values["total"] == round(79.25 * GIB)
    assert found.values["rank"] == 2
    assert found.why_not_the_usual_hint is not None
    assert "611.4 MiB" in found.why_not_the_usual_hint
    assert "3.8 GiB" in found.root_cause


def test_consequences_are_the_cascade() -> None:
    log = f"""[rank2]: {OOM}
[rank0]:[E811 05:31:10.1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(
srun: error: gpu-g02: task 2: Exited with exit code 1
"""
    found = diagnose(log.encode(), Hints(134))
    assert found.evidence is not None
    assert found.evidence.line == 1
    assert [one.line for one in found.cascade] == [2, 3]


def test_the_schedulers_state_speaks_where_the_log_is_silent() -> None:
    log = b"step 1 loss 2\nstep 2 loss 2\n"
    assert diagnose(log, Hints(143, "SIGTERM", "TIMEOUT")).category == "walltime"
    assert diagnose(log, Hints(143, "SIGTERM", "PREEMPTED")).category == "preempted"
    assert diagnose(log, Hints(137, "SIGKILL", "OUT_OF_MEMORY")).category == "host-oom"
    assert diagnose(log, Hints(1, None, "NODE_FAIL")).category == "node-failure"
    assert diagnose(log, Hints(0, None, "COMPLETED")).category == "no-failure"
    assert diagnose(log, Hints(1)).category == "cause-not-in-log"


def test_an_empty_log_is_not_a_fault_that_is_known() -> None:
    found = diagnose(b"", Hints(1))
    assert (found.category, found.evidence) == ("cause-not-in-log", None)
    assert found.confidence < 0.6


def test_the_last_attempt_is_judged() -> None:
    second = "step 1 loss 3\nstep 2 loss 2\nOSError: [Errno 28] No space left on device\n"
    log = f"=== attempt 1/2 ===\n{OOM}\n=== attempt 2/2 ===\n{second}"
    assert diagnose(log.encode(), Hints(1)).category == "disk-full"


def test_a_worse_validation_loss_at_the_end_is_no_divergence() -> None:
    log = "step 1 loss 0.70\nstep 2 loss 0.10\nstep 3 loss 0.02\nval loss 1.4\ntest loss 1.5\nTraining complete\n"
    assert diagnose(log.encode(), Hints(0)).category == "no-failure"


def test_a_loss_that_jumps_and_stays_is_a_divergence_though_the_job_ends_well() -> None:
    log = "step 1 loss 2.9\nstep 2 loss 2.8\nstep 3 loss 10.1\nstep 4 loss 10.4\nstep 5 loss 10.2\nTraining complete\n"
    found = diagnose(log.encode(), Hints(0))
    assert found.category == "numerical-divergence"
    assert found.evidence is not None
    assert found.evidence.line == 3


def test_a_labs_own_signature_decides(tmp_path: Path) -> None:
    own = tmp_path / "ours.yaml"
    own.write_text(
        """
source: our cooling loop
signatures:
  - id: pump-stopped
    category: gpu-hardware-fault
    role: system
    weight: 99
    pattern: 'COOLANT PUMP (?P<pump>\\d+) STOPPED'
    says: The coolant pump stopped{pump}.
    retry: "no"
    actions: [contact-admin]
    needs_human: true
    examples: ['COOLANT PUMP 3 STOPPED']
"""
    )
    found = diagnose(f"step 1\n{OOM}\nbmc: COOLANT PUMP 3 STOPPED\n".encode(), Hints(1), load_signatures([own]))
    assert (found.category, found.retry, found.actions, found.needs_human) == (
        "gpu-hardware-fault",
        "no",
        ("contact-admin",),
        True,
    )
    assert found.root_cause == "The coolant pump stopped (3)."
    assert found.values["pump"] == "3"


def test_the_package_is_cheap_to_import() -> None:
    heavy = ("yaml", "hyperscan", "lab.diagnosis.judge")
    code = f"import sys, lab.diagnosis; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
