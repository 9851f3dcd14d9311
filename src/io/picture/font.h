/* A font as outlines (tools/font_table.py). */
#ifndef TESI_FONT_H
#define TESI_FONT_H

/* Lengths are 56ths of the height of capitals. */
enum { TESI_FONT_CAPITAL = 56 };

/* A letter: contours between blanks, each a list of points, '!' before points beside a quadratic curve; x + 7 and
 * y + 18 as characters from '#' on, y upwards from the base line. */
typedef struct TesiGlyph {
  int code, width;
  const char *outline;
} TesiGlyph;

extern const TesiGlyph tesi_font[]; /* [tesi_font_size], by ascending codes */
extern const int tesi_font_size;

#endif
