"""The hands: processes, nodes, clusters. They know machines and have never heard of a batch size or a user."""
