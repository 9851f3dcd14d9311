/* A font as outlines (tools/font_table.py). */
#ifndef TESI_FONT_H
#define TESI_FONT_H

/* Lengths are 56ths of the height of capitals. */
enum { TESI_FONT_CAPITAL = 56 };

/* A letter: contours separated by blanks, each a list of points. A '!' precedes a point beside a quadratic curve. A
 * point is x + 7 and y + 18 as characters from '#' on, y upwards from the base line. */
typedef struct TesiGlyph {
  int code, width;
  const char *outline;
} TesiGlyph;

extern const TesiGlyph tesi_font[]; /* [tesi_font_size], in ascending order of codes */
extern const int tesi_font_size;

#endif
