"""What the commands do; nothing here is imported before one of them is called, but for its errors."""
