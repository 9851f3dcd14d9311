/* SIMD vectors for the files *_simd.c, which are compiled once a vector width (TESI_SIMD_BITS = 128, 256, 512).
 * TESI_SIMD(name) gives each build's functions their own name: name_128, name_256, name_512. */
#ifndef TESI_SIMD_H
#define TESI_SIMD_H

#define TESI_PASTE2(a, b) a##_##b
#define TESI_PASTE(a, b) TESI_PASTE2(a, b)
#define TESI_SIMD(name) TESI_PASTE(name, TESI_SIMD_BITS)

#endif
