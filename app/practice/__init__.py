"""Embedded servers to practise on."""
