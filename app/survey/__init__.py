"""Surveys: one path of every host."""
