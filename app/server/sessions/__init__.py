"""The sessions of an smbd: whose they are, and what each does."""
