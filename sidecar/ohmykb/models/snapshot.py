"""Named arrays in one file, mapped into memory: what took a second to unpack is there in milliseconds.

The file is derived and may be lost or damaged at any time: it is written whole or not at all, says
what it was made of, and every array carries a checksum. Integers are little-endian.

    8 bytes magic · u32 length of the header · u32 its crc32 · header (JSON) · arrays, each at a multiple of 64
"""

import contextlib
import json
import mmap
import os
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC: Final = b"OMKBarr1"
_FRONT: Final = struct.Struct("<8sII")
_ALIGN: Final = 64
LARGE: Final = 16_000_000
"""Bytes from which an array is checked by `sound` only: reading it all would undo what mapping gains."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Arrays are read-only views of the file; one that is replaced meanwhile stays readable."""

    arrays: "dict[str, NDArray[Any]]"
    checks: dict[str, int]
    """crc32 of each array."""

    def sound(self) -> bool:
        """Whether every array still is what was written; reads all of them."""
        return all(zlib.crc32(array.data) == self.checks[name] for name, array in self.arrays.items())


def open_snapshot(path: "Path", made_of: str) -> Snapshot | None:
    """The snapshot at `path`, or None where there is none, it was made of something else, or it is damaged."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, length, check = _FRONT.unpack_from(data)
        header = data[_FRONT.size : _FRONT.size + length]
        if magic != _MAGIC or zlib.crc32(header) != check:
            return None
        told = json.loads(header)
        if told["made_of"] != made_of or told["size"] != len(data):
            return None
        arrays, checks = {}, {}
        for name, (kind, shape, offset, crc) in told["arrays"].items():
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(data, dtype=kind, count=count, offset=offset).reshape(shape)
            if array.nbytes < LARGE and zlib.crc32(array.data) != crc:
                return None
            arrays[name], checks[name] = array, crc
        return Snapshot(arrays, checks)
    except (OSError, ValueError, struct.error):  # not there, empty, cut short
        return None


def write_snapshot(path: "Path", made_of: str, arrays: "Mapping[str, NDArray[Any]]") -> bool:
    """Puts the arrays at `path` in one move. False where the disk does not let us: nothing depends on it."""
    solid = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    places: dict[str, list[object]] = {}
    offset = 0
    for name, array in solid.items():
        places[name] = [array.dtype.str, list(array.shape), offset, zlib.crc32(array.data)]
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    start = _header_room(made_of, places, offset)
    for place in places.values():
        place[2] = int(str(place[2])) + start
    header = json.dumps({"made_of": made_of, "size": start + offset, "arrays": places}).encode()
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("xb") as file:
            file.write(_FRONT.pack(_MAGIC, len(header), zlib.crc32(header)) + header)
            file.write(bytes(start - file.tell()))
            for array in solid.values():
                file.write(array.data)
                file.write(bytes(-array.nbytes % _ALIGN))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:  # a full or read-only disk; on Windows also a file that another process has mapped
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        return False
    return True


def _header_room(made_of: str, places: "Mapping[str, list[object]]", size: int) -> int:
    """Where the arrays begin: a generous multiple of the alignment, since offsets in the header grow by it."""
    bare = len(json.dumps({"made_of": made_of, "size": size, "arrays": places}))
    return -(-(_FRONT.size + bare + 16 * (len(places) + 1)) // _ALIGN) * _ALIGN
