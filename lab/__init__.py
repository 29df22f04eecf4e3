"""The law and the memory: plans, runs, queue, diagnosis, remedies, results. Everything true is a row here."""
