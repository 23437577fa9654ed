"""The sidecar's log: what happened when, never what stands in a note or was asked."""

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

BYTES: Final = 1_000_000
FILES: Final = 3


def log_to(path: Path) -> logging.Handler:
    """Everything from now on goes there, 1 MB in up to three files, readable for nobody else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    handler = RotatingFileHandler(path, maxBytes=BYTES, backupCount=FILES - 1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("waitress").setLevel(logging.ERROR)
    return handler
