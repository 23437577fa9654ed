"""The tables of the index: all of them derived from the vault, and safe to delete."""

RECIPE = 2
"""Raise it when scanning or segmenting changes what is stored: every note is then read again."""

INDEX_MIGRATIONS = (
    """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('revision', 0), ('recipe', 0);

CREATE TABLE files (
    id INTEGER PRIMARY KEY,           -- identity, kept over renames
    path TEXT NOT NULL UNIQUE,
    kind INTEGER NOT NULL,            -- FileKind
    scope INTEGER NOT NULL,           -- Scope
    name_key TEXT NOT NULL,           -- what links find it by: last part, folded, without .md
    size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER, inode INTEGER,  -- as last read
    hash BLOB                         -- sha256 of the bytes in the index; NULL pending, empty: cannot be read
) STRICT;

CREATE TABLE notes (                  -- notes, and canvases for their text
    id INTEGER PRIMARY KEY REFERENCES files ON DELETE CASCADE,
    title TEXT NOT NULL,
    type TEXT, domain TEXT,           -- folded
    date TEXT,                        -- the note's own date, ISO, when its properties name one
    flags INTEGER NOT NULL,           -- 1 private, 2 protected, 4 managed
    properties TEXT NOT NULL,         -- JSON
    headings TEXT NOT NULL,           -- JSON [[level, text, line], …]
    blocks TEXT NOT NULL              -- JSON [id, …]
) STRICT;

CREATE TABLE aliases (
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    alias TEXT NOT NULL,
    key TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
    tag TEXT NOT NULL,                -- lower case, no #
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    PRIMARY KEY (tag, note)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    target INTEGER REFERENCES files ON DELETE SET NULL,
    kind INTEGER NOT NULL,            -- place in LINK_KINDS
    raw TEXT NOT NULL, linkpath TEXT NOT NULL, subpath TEXT, display TEXT NOT NULL,
    line INTEGER, start INTEGER NOT NULL,
    key TEXT,                         -- the property that holds it
    name_key TEXT NOT NULL,           -- what it would find: as in files
    subpath_found INTEGER             -- NULL not looked at or nothing to look at
) STRICT;

CREATE TABLE texts (note INTEGER PRIMARY KEY REFERENCES notes ON DELETE CASCADE, text TEXT NOT NULL) STRICT;

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    note INTEGER NOT NULL REFERENCES notes ON DELETE CASCADE,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL,  -- code points in the note's text
    line INTEGER NOT NULL, heading TEXT NOT NULL,
    hash BLOB NOT NULL                -- of title and text: what a vector belongs to
) STRICT;

CREATE TABLE vector_sets (            -- one an encoder; filled by encoding
    id INTEGER PRIMARY KEY, encoder TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;

CREATE TABLE problems (
    path TEXT NOT NULL, line INTEGER, code TEXT NOT NULL, message TEXT NOT NULL,
    origin INTEGER NOT NULL           -- 0 found by the walk, 1 found in the file
) STRICT;

CREATE VIRTUAL TABLE words USING fts5 (
    name, alias, tag, heading, property, path, body, sound,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);

CREATE TABLE terms (                  -- Latin words ever met, to find parts of words; grows only
    id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE
) STRICT;
""",
    """
ALTER TABLE notes ADD COLUMN names_hash BLOB NOT NULL DEFAULT x'';  -- of title, name and aliases
ALTER TABLE vector_sets ADD COLUMN query_means BLOB;  -- float32[2, dim]: mean of queries by language

CREATE TABLE encoded (                -- which texts have a vector, and where it lies
    set_id INTEGER NOT NULL REFERENCES vector_sets ON DELETE CASCADE,
    hash BLOB NOT NULL,               -- names_hash of a note, or hash of a chunk
    slot INTEGER,                     -- rowid in vectors_<set>; NULL: nothing of it is worth encoding
    language INTEGER NOT NULL,        -- 0 Latin and others, 1 Chinese
    PRIMARY KEY (set_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX encoded_slot ON encoded (set_id, slot);
""",
)

SECONDARY = {
    "files_name": "CREATE INDEX IF NOT EXISTS files_name ON files (name_key)",
    "notes_type": "CREATE INDEX IF NOT EXISTS notes_type ON notes (type) WHERE type IS NOT NULL",
    "notes_domain": "CREATE INDEX IF NOT EXISTS notes_domain ON notes (domain) WHERE domain IS NOT NULL",
    "aliases_note": "CREATE INDEX IF NOT EXISTS aliases_note ON aliases (note)",
    "aliases_key": "CREATE INDEX IF NOT EXISTS aliases_key ON aliases (key)",
    "tags_note": "CREATE INDEX IF NOT EXISTS tags_note ON tags (note)",
    "links_source": "CREATE INDEX IF NOT EXISTS links_source ON links (source, target)",
    "links_target": "CREATE INDEX IF NOT EXISTS links_target ON links (target, source) WHERE target IS NOT NULL",
    "links_name": "CREATE INDEX IF NOT EXISTS links_name ON links (name_key)",
    # Nearly empty, and asked at every save: without it the links are read through.
    "links_unchecked": "CREATE INDEX IF NOT EXISTS links_unchecked ON links (target)"
    " WHERE subpath IS NOT NULL AND subpath_found IS NULL",
    "chunks_note": "CREATE INDEX IF NOT EXISTS chunks_note ON chunks (note)",
    "notes_names": "CREATE INDEX IF NOT EXISTS notes_names ON notes (names_hash)",
    "chunks_hash": "CREATE INDEX IF NOT EXISTS chunks_hash ON chunks (hash)",
    "problems_path": "CREATE INDEX IF NOT EXISTS problems_path ON problems (path)",
}
"""Made when the index is opened; left out while a vault is built from nothing."""

STATE_MIGRATIONS = (
    """
CREATE TABLE renames (                -- what a rebuild could not know: where a note came from
    at REAL NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL
) STRICT;
CREATE INDEX renames_old ON renames (old);
""",
    """
CREATE TABLE dismissed (              -- pairs that a person said do not belong together, both ways round
    note TEXT NOT NULL, other TEXT NOT NULL, PRIMARY KEY (note, other)
) STRICT, WITHOUT ROWID;
""",
    """
CREATE TABLE displaced (              -- links that meant a file which they do not lead to any more, though it is there
    source TEXT NOT NULL, raw TEXT NOT NULL, linkpath TEXT NOT NULL, subpath TEXT, kind TEXT NOT NULL,
    target TEXT NOT NULL,             -- what the link meant, by the path it has now
    at REAL NOT NULL, how TEXT NOT NULL  -- what moved: target, source, other
) STRICT;
CREATE UNIQUE INDEX displaced_link ON displaced (source, raw, linkpath, ifnull(subpath, ''));
CREATE INDEX displaced_target ON displaced (target);

CREATE TABLE lost (                   -- links whose target is gone
    source TEXT NOT NULL, raw TEXT NOT NULL, linkpath TEXT NOT NULL, subpath TEXT, kind TEXT NOT NULL,
    target TEXT NOT NULL,             -- the path that the gone file had
    hash BLOB,                        -- sha256 of its bytes, where they were known
    at REAL NOT NULL,
    fell_to TEXT,                     -- what the link led to from then on, if anything
    found TEXT                        -- the one file that had those bytes later on
) STRICT;
CREATE UNIQUE INDEX lost_link ON lost (source, raw, linkpath, ifnull(subpath, ''));
CREATE INDEX lost_hash ON lost (hash) WHERE hash IS NOT NULL AND found IS NULL;
CREATE INDEX lost_found ON lost (found) WHERE found IS NOT NULL;

CREATE TABLE anchors (                -- headings and block ids that were renamed inside a note
    note TEXT NOT NULL, kind TEXT NOT NULL,
    key TEXT NOT NULL,                -- the old one as links are compared
    old TEXT NOT NULL, new TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (note, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE broken_since (           -- when a link was first seen to lead nowhere
    source TEXT NOT NULL, linkpath TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (source, linkpath)
) STRICT, WITHOUT ROWID;

CREATE TABLE review (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL,
    key TEXT NOT NULL,                -- what names the proposal over time: paths and more, NUL between
    at REAL NOT NULL, summary TEXT NOT NULL, payload TEXT NOT NULL,
    confidence REAL NOT NULL, reasons TEXT NOT NULL,
    state TEXT NOT NULL,              -- open, accepted, rejected, snoozed
    until REAL, op TEXT,
    UNIQUE (kind, key)
) STRICT;
CREATE INDEX review_state ON review (state);

CREATE TABLE left_alone (             -- links to notes not written yet that are meant; source empty: anywhere
    source TEXT NOT NULL, linkpath TEXT NOT NULL, PRIMARY KEY (source, linkpath)
) STRICT, WITHOUT ROWID;
""",
)
