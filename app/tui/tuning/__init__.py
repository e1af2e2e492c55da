"""The screens of changing one thing: the catalogue of what can be changed, the ladder of what was."""
