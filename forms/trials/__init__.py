"""Trials and sweeps: settings that sharebench changed itself, measured in turns."""
