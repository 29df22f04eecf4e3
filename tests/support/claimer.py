"""A process that claims and submits all it can: `python -m tests.support.claimer URL OWNER`. Prints the keys."""

import sys

from lab import queue
from lab.store import Store
from tests.support.labrows import NOW, claim


def main(url: str, owner: str) -> None:
    store = Store(url)
    print("ready", flush=True)
    sys.stdin.readline()
    while (found := claim(store, owner)) is not None:
        with store.write() as tx:
            queue.submitted(tx, found, owner=owner, handle={"ref": found.key}, at=NOW)
        print(found.key, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
