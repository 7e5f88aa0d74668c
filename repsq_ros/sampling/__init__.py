"""Which case to test next: target densities, proposals, importance weights."""
