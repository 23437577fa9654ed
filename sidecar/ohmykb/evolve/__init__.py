"""What the index knows and what a person decided go in; plans come out, and accepted plans go through the door."""
