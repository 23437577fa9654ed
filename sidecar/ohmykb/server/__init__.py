"""HTTP requests go in; JSON from the rooms below comes out."""
