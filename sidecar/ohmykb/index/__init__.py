"""Changed files go in; an index that is true to the disk comes out."""
