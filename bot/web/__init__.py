"""The local chat page: threads, cards, buttons and pictures in a browser on this machine."""
