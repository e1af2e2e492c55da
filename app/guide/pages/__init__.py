"""The pages of the guide, a module a step."""
