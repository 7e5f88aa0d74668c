"""Recordings in, the same campaign out."""
