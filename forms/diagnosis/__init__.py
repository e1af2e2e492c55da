"""Diagnoses: what the stages say, and how that looks on paper."""
