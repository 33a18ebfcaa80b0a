"""The gravity that controllers count on; planner and simulated ground have theirs in their configuration."""

GRAVITY = 9.81  # [m/s²]
