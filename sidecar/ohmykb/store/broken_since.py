"""Since when links lead nowhere: after a grace time one that nothing can be proposed for is dead."""

from ohmykb.store.connection import Database, transaction


def follow(state: Database, db: Database, now: float) -> None:
    """Brings the times at which links were first seen broken in step with the links that are broken now."""
    broken = db.rows(
        "SELECT DISTINCT f.path, l.linkpath FROM links l CROSS JOIN files f ON f.id = l.source WHERE l.target IS NULL"
    )
    with transaction(state):
        state.execute(
            "CREATE TEMP TABLE IF NOT EXISTS broken"
            " (source TEXT, linkpath TEXT, PRIMARY KEY (source, linkpath)) WITHOUT ROWID"
        )
        state.execute("DELETE FROM temp.broken")
        state.executemany("INSERT INTO temp.broken VALUES (?, ?)", broken)
        state.execute(
            "DELETE FROM broken_since WHERE NOT EXISTS (SELECT 1 FROM temp.broken b"
            " WHERE b.source = broken_since.source AND b.linkpath = broken_since.linkpath)"
        )
        state.execute("INSERT OR IGNORE INTO broken_since SELECT source, linkpath, ? FROM temp.broken", (now,))


def first_seen(state: Database) -> dict[tuple[str, str], float]:
    """(source, linkpath) → when that link was first seen to lead nowhere, seconds since the epoch."""
    return {(source, linkpath): at for source, linkpath, at in state.rows("SELECT * FROM broken_since")}
