"""The protocols of one test: which phases it has, when, with which command in force."""
