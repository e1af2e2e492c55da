"""Diagnoses: why do the users of a share complain?"""
