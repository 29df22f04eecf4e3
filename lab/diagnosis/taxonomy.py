"""The vocabulary of a diagnosis: categories, actions, ways to retry. Signature files are checked against it."""

CATEGORIES = frozenset(
    """
    gpu-oom-capacity gpu-oom-fragmentation gpu-memory-contention host-oom shm-exhausted fd-exhausted disk-full
    numerical-divergence device-assert illegal-memory-access collective-mismatch network-fabric cause-not-in-log
    gpu-hardware-fault driver-stack gpu-arch-unsupported gpu-not-visible missing-dependency binary-incompatibility
    code-error config-error data-missing data-invalid permission-denied storage-fault hub-auth external-network
    checkpoint-corrupt checkpoint-mismatch port-conflict walltime preempted node-failure scheduler-rejected
    container-runtime hang user-cancelled no-failure
    """.split()
)

ACTIONS = frozenset(
    """
    halve-micro-batch-double-accumulation enable-gradient-checkpointing shorten-sequence-or-resolution
    reduce-context-length use-memory-efficient-optimizer shard-model-or-optimizer offload-to-cpu disable-cpu-offload
    set-expandable-segments set-max-split-size pad-to-fixed-shapes move-eval-outputs-to-cpu load-checkpoint-on-cpu
    use-larger-gpu pick-free-gpu free-gpu-memory adjust-memory-fraction disable-preallocation fix-device-mapping
    increase-host-memory fewer-workers stream-or-mmap-dataset preprocess-offline more-shm clean-shm
    use-file-system-sharing raise-fd-limit free-disk prune-checkpoints redirect-output-dir
    lower-learning-rate clip-gradients switch-precision-bf16 switch-precision-fp32 resume-from-last-good-checkpoint
    inspect-data patch-code fix-config fix-labels-or-vocab fix-rank-logic fix-path fix-permissions
    rerun-with-launch-blocking rerun-with-diagnostics inspect-other-logs update-or-patch-kernel use-spawn-start-method
    set-tokenizers-parallelism-false remove-stale-lock run-in-detached-session
    install-package pin-or-reinstall-package activate-environment use-matching-cuda-build use-supported-gpu
    update-driver rebuild-image fix-image-path fix-container-flags use-writable-cache-dir
    exclude-node report-hardware reset-gpu-or-reboot contact-admin requeue increase-walltime
    enable-checkpoint-on-signal reduce-resource-request fix-resource-request request-gpu wait-in-queue
    release-held-job kill-stale-process new-port fix-network-interface increase-collective-timeout disable-nccl-p2p
    restage-data repair-or-skip-bad-samples redownload-artifact match-architecture-or-filter-head
    match-world-size-or-convert-checkpoint request-access set-auth-token refresh-credentials prefetch-artifacts
    set-offline-mode add-retry-backoff none
    """.split()
)

RETRIES = frozenset({"as-is", "with-change", "other-node", "no"})

ROLES = frozenset({"cause", "system", "end", "clue", "symptom", "benign", "success", "alive", "attempt"})
"""What a signature's line is to the job:

- `cause`: states a fault that ends the job;
- `system`: the same, told by the machine or the scheduler, often only after the job's own words;
- `end`: somebody or something ended the job; what other lines say after it only follows;
- `clue`: explains another fault, or a failure that nothing else explains; never a fault by itself;
- `symptom`: a fault that usually follows from another;
- `benign`: looks like a fault and is none;
- `success`: the job says that it has finished;
- `alive`: the job went on after what was said before;
- `attempt`: a new try begins here.
"""
