"""The doors: chat surfaces, the command line and the local page. They know platforms and decide nothing."""
