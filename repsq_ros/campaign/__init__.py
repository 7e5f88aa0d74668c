"""What a run is: the protocol of one test, the order of tests, the fold to a result."""
