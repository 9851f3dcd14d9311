#include "base/simd_builds.h"

int tesi_simd_built(int most) {
  int narrowest = 0;
  for (int bits = 512; bits >= 128; bits /= 2)
    if (TESI_SIMD_WIDTHS & bits) {
      if (bits <= most) return bits;
      narrowest = bits;
    }
  return narrowest;
}

int tesi_simd_degrees(int bits) {
  return bits > 128 ? TESI_SIMD_DEGREES : TESI_SIMD_NARROW_DEGREES;
}

const char *tesi_simd_word(bool specialised, int degree, int most) {
  if (specialised) return "specialised";
  return degree > most ? "general" : "general: not specialised in this build";
}
