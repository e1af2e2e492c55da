"""The processes that make the load, here and on other machines."""
