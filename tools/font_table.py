#!/usr/bin/env python3
"""Prints src/io/picture/font.c from a TrueType font. Usage: font_table.py Roboto-Regular.ttf > src/io/picture/font.c
(needs fontTools). Letters of ASCII and Latin-1, Greek, and some signs. A letter is its code, its width and a text:
contours between blanks, points of two characters, x + 7 and y + 18 from '#' on, in 56ths of the height of capitals,
with '!' before points that a quadratic curve leaves aside."""
import sys

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

CAPITAL, X, Y, FIRST, VALUES = 56, 7, 18, ord("#"), 92
CODES = [*range(0x20, 0x7f), *range(0xa0, 0x100), *range(0x391, 0x3a2), *range(0x3a3, 0x3aa), *range(0x3b1, 0x3ca),
         0x2013, 0x2026, 0x2202, 0x2206, 0x2212, 0x221a, 0x221e, 0x2260, 0x2264, 0x2265]


class Contours(BasePen):
    """Texts of the contours of one letter."""

    def __init__(self, glyphs, scale):
        super().__init__(glyphs)
        self.scale, self.text = scale, []

    def put(self, point, aside=False):
        """A point behind the others of its contour."""
        x, y = (min(max(round(v * self.scale) + shift, 0), VALUES - 1) for v, shift in zip(point, (X, Y)))
        self.text[-1] += ("!" if aside else "") + chr(FIRST + x) + chr(FIRST + y)

    def _moveTo(self, pt):
        self.text.append("")
        self.put(pt)

    def _lineTo(self, pt):
        self.put(pt)

    def qCurveTo(self, *points):
        """Points aside, and the end; None: a closed curve without a point on it."""
        *aside, end = points
        if end is None:
            end = tuple((a + b) / 2 for a, b in zip(aside[-1], aside[0]))
            self._moveTo(end)
        for point in aside:
            self.put(point, True)
        self.put(end)


def literal(text, indent):
    """Lines of C."""
    lines, line = [], ""
    for c in text:
        line += {"\\": "\\\\", "?": "\\?"}.get(c, c)
        if len(line) > 100:
            lines.append(f'{indent}"{line}"')
            line = ""
    return "\n".join([*lines, f'{indent}"{line}"'])


def main(path):
    font = TTFont(path)
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    scale = CAPITAL / font["OS/2"].sCapHeight
    print("/* Outlines of the font Roboto Regular, Copyright 2011 Google Inc., under the Apache License, Version 2.0;\n"
          " * made by tools/font_table.py, which says what the texts mean. */\n"
          '#include "io/picture/font.h"\n\n/* clang-format off */\nconst TesiGlyph tesi_font[] = {')
    count = 0
    for code in CODES:
        if code not in names:
            continue
        pen = Contours(glyphs, scale)
        glyphs[names[code]].draw(pen)
        width = round(glyphs[names[code]].width * scale)
        print(f"  {{0x{code:x}, {width},\n{literal(' '.join(pen.text), '   ')}}},")
        count += 1
    print("};\n/* clang-format on */\n\nconst int tesi_font_size = sizeof tesi_font / sizeof *tesi_font;")


if __name__ == "__main__":
    main(sys.argv[1])
