/* The SIMD widths of this build, and the choice of functions by width. Files *_simd.c are compiled once per width
 * (tensor/simd.h). From CMake come TESI_SIMD_WIDTHS, the sum of the widths (128 is one of them but in builds for one
 * processor), and TESI_SIMD_DEGREES:
 * degrees 1 to this have loops of their own.
 * On x86 the narrowest width has general loops only, since every processor of the last ten years has a wider width. */
#ifndef TESI_SIMD_BUILDS_H
#define TESI_SIMD_BUILDS_H

#include <stdbool.h>

/* name_512, name_256 or name_128: the largest width of this build that is not above `bits`; if there is none, the
 * smallest width. */
#if (TESI_SIMD_WIDTHS & 384) == 384
#define TESI_PICK_256(bits, name) ((bits) >= 256 ? name##_256 : name##_128)
#elif TESI_SIMD_WIDTHS & 256
#define TESI_PICK_256(bits, name) ((void)(bits), name##_256)
#else
#define TESI_PICK_256(bits, name) ((void)(bits), name##_128)
#endif
#if TESI_SIMD_WIDTHS == 512
#define TESI_SIMD_PICK(bits, name) ((void)(bits), name##_512)
#elif TESI_SIMD_WIDTHS & 512
#define TESI_SIMD_PICK(bits, name) ((bits) >= 512 ? name##_512 : TESI_PICK_256(bits, name))
#else
#define TESI_SIMD_PICK(bits, name) TESI_PICK_256(bits, name)
#endif

#if defined(__x86_64__)
#define TESI_SIMD_NARROW_DEGREES 0
#else
#define TESI_SIMD_NARROW_DEGREES TESI_SIMD_DEGREES
#endif

/* The largest width of this build that is not above `most`; if there is none, the smallest width. */
int tesi_simd_built(int most);
/* Degrees from 1 to this number have specialised loops at this width. */
int tesi_simd_degrees(int bits);
/* For descriptions: "specialised" or "general". "general" is extended by a hint if a full build is specialised up to
 * `most`. */
const char *tesi_simd_word(bool specialised, int degree, int most);

#endif
