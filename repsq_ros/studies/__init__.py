"""Studies without a robot: what a specification costs, and how often two labs would agree."""
