"""Checks: can this target be measured, and what is left on it?"""
