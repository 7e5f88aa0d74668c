"""Watches: what the scheduler relies on, each a list of sentences that speak against moving."""
