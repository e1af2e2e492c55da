"""Loads in the notebook: their records, histograms, scenarios, tables."""
