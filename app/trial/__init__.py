"""Trials, sweeps and tuning: a server's setting is changed, measured and restored."""
