"""What is due goes in, turn after turn; whatever one turn runs into is told to the log."""
