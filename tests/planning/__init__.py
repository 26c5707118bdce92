"""The planner: predicted errors against simulated ones, bounds, inverse questions, bad questions."""
