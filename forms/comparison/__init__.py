"""Comparisons of series: verdict, differences, reports."""
