"""Trials and sweeps: interleaved measurements of settings that sharebench changes."""
