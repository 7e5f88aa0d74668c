"""What the repsq command does: one file for each of its words."""
