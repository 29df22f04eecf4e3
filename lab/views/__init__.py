"""What people ask to see: pure reading, answered with cards."""
