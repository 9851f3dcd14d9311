#include "io/utf8.h"
#include <stdio.h>
#include <string.h>

int tesi_utf8_length(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  if (*s < 0x80) return 1;
  if (*s < 0xc2 || *s > 0xf4) return 0;
  const int length = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
  for (int i = 1; i < length; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  const int overlong = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90);
  const int outside = (*s == 0xed && s[1] >= 0xa0) || (*s == 0xf4 && s[1] >= 0x90);
  return overlong || outside ? 0 : length;
}

static int is_control(char c) {
  return ((unsigned char)c < 0x20 && c) || c == 0x7f;
}

const char *tesi_text_control(const char *text) {
  while (*text && !is_control(*text)) text++;
  return *text ? text : NULL;
}

void tesi_text_line(const char *text, char *line, size_t size) {
  static const char letters[] = "abtnvfr"; /* of 0x07 and those behind it */
  enum { LONGEST = 4 };
  size_t used = 0;
  for (; *text && used + LONGEST < size; text++) {
    const int letter = *text - '\a';
    if (!is_control(*text))
      line[used++] = *text;
    else if (letter >= 0 && letter < (int)strlen(letters))
      used += (size_t)sprintf(line + used, "\\%c", letters[letter]);
    else
      used += (size_t)sprintf(line + used, "\\x%02x", (unsigned)*text);
  }
  line[used] = 0;
}
