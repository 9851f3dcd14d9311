"""PNG files as the program writes them: three colours, rows with the filters none and up."""
import struct
import zlib


def decode(data, filtered=False):
    """Width, height, and the bytes of the rows; filtered: each row with its filter in front, as in the file."""
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    raw, size, rows, above = zlib.decompress(packed), 3 * width + 1, [], bytes(3 * width)
    if filtered:
        return width, height, raw
    for first in range(0, len(raw), size):
        row = raw[first + 1:first + size]
        if raw[first] not in (0, 2):
            raise ValueError(f"filter {raw[first]}")
        above = bytes((a + b) & 255 for a, b in zip(row, above)) if raw[first] == 2 else row
        rows.append(above)
    return width, height, b"".join(rows)
