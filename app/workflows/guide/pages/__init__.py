"""The pages of the guide's steps: what is said and what can be chosen."""
