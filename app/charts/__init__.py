"""Terminal pictures of forms: pure functions that give lines of text, with or without colour."""
