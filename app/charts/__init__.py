"""Terminal pictures, as pure functions of forms."""
