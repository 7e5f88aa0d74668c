"""The test specification: what initiator and replicator share, and what a tester may choose."""
