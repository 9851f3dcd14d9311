#include "io/utf8.h"

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
