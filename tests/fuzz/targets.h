/* What the fuzzers feed with bytes, and what t8_corpus replays. Each returns normally or aborts. */
#ifndef TESI_FUZZ_TARGETS_H
#define TESI_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* An expression: parsed, evaluated, differentiated, written as C. */
void fuzz_expression(const uint8_t *data, size_t size);
/* A case file; leading lines "#set key.path=value" are overrides. */
void fuzz_case(const uint8_t *data, size_t size);
/* A Gmsh file. */
void fuzz_mesh(const uint8_t *data, size_t size);

#endif
