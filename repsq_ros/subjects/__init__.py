"""Robots that live in a process: for dry runs and for the tests."""
