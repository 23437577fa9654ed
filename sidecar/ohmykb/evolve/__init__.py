"""Knowledge that grows: from what is in the index and what comes in to plans, and from accepted plans to operations."""
