"""Stamped samples in, psi or a named reason for INVALID out."""
