"""A note nobody links to goes in; the places where others speak of it come out, as links to be made."""
