"""Text for language models, as files. Only `agent` reads it."""
