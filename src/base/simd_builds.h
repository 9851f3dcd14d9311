/* Which SIMD widths this library is built for, and how a caller takes the functions of one of them.
 * Files *_simd.c are compiled once a width (tensor/simd.h). From CMake come TESI_SIMD_WIDTHS, the sum of the widths
 * (128 is one of them but in builds for one processor), and TESI_SIMD_DEGREES: degrees 1 to this have loops of
 * their own.
 * On x86 the narrowest width has the general loops alone: every processor of the last ten years has a wider one. */
#ifndef TESI_SIMD_BUILDS_H
#define TESI_SIMD_BUILDS_H

#include <stdbool.h>

/* name_512, name_256 or name_128: the widest that is built and not wider than `bits`; below all, the narrowest. */
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

/* The widest width that is built and not wider than `most`; below all, the narrowest. */
int tesi_simd_built(int most);
/* Degrees 1 to this have loops of their own at that width. */
int tesi_simd_degrees(int bits);
/* For descriptions: "specialised" or "general"; the latter says so where a full build is specialised up to `most`. */
const char *tesi_simd_word(bool specialised, int degree, int most);

#endif
