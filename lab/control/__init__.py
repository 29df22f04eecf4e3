"""The control loop: it gives queued runs to machines, looks at them, and settles how they ended.

Each step reads in a short transaction, acts outside any, and applies what it saw guarded by lease or state, so that a
process killed anywhere leaves nothing lost and nothing run twice.
"""
