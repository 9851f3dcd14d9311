/* Recorded work of the emulator: launches and the values their arguments had, to be run again. As on a GPU, what
 * the host changes after the recording does not enter. */
#ifndef TESI_EMULATOR_GRAPH_H
#define TESI_EMULATOR_GRAPH_H

#include "device/kernel.h"

typedef struct TesiEmulatedGraph TesiEmulatedGraph;
typedef TesStatus (*TesiLaunch)(TesContext *ctx, void *function, TesiGrid grid, bool together,
                                unsigned threads, size_t shared, void **arguments);

TesStatus tesi_emulated_graph_create(TesContext *ctx, TesiEmulatedGraph **graph);
void tesi_emulated_graph_destroy(TesContext *ctx, TesiEmulatedGraph **graph);
/* function: a TeskKernel, which knows the sizes of its arguments. */
TesStatus tesi_emulated_graph_add(TesContext *ctx, TesiEmulatedGraph *graph, void *function, TesiGrid grid,
                                  unsigned threads, size_t shared, void **arguments);
/* What is added to *body is repeated as long as *go_on is not 0. *body is the graph's. */
TesStatus tesi_emulated_graph_loop(TesContext *ctx, TesiEmulatedGraph *graph, const int *go_on,
                                   TesiEmulatedGraph **body);
/* The graph in which a body stands; NULL: it is none. */
TesiEmulatedGraph *tesi_emulated_graph_outer(const TesiEmulatedGraph *body);
TesStatus tesi_emulated_graph_run(TesContext *ctx, const TesiEmulatedGraph *graph, TesiLaunch launch);

#endif
