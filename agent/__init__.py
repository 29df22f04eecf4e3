"""The mind: the tool-calling loop, its tools, the planner and the words. It proposes and permits nothing."""
