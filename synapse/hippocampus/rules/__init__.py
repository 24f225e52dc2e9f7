"""The rules by which one fact contradicts another: one rule, or one way of reading, a file."""
