"""The statistics: plain sequences of numbers in, figures out."""
