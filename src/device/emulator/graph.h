/* Recorded work of the emulator: launches with the values of their arguments, for replays. As on a GPU, later changes
 * by the host have no effect. */
#ifndef TESI_EMULATOR_GRAPH_H
#define TESI_EMULATOR_GRAPH_H

#include "device/kernel.h"
#include "parallel/comm.h"

typedef struct TesiEmulatedGraph TesiEmulatedGraph;
typedef TesStatus (*TesiLaunch)(TesContext *ctx, void *function, TesiGrid grid, bool together,
                                unsigned threads, size_t shared, void **arguments);
typedef TesStatus (*TesiSend)(TesContext *ctx, int n, const TesiMessage *message);

TesStatus tesi_emulated_graph_create(TesContext *ctx, TesiEmulatedGraph **graph);
void tesi_emulated_graph_destroy(TesContext *ctx, TesiEmulatedGraph **graph);
/* function: a TeskKernel, which knows the sizes of its arguments. */
TesStatus tesi_emulated_graph_add(TesContext *ctx, TesiEmulatedGraph *graph, void *function, TesiGrid grid,
                                  unsigned threads, size_t shared, void **arguments);
/* Messages of ranks. */
TesStatus tesi_emulated_graph_send(TesContext *ctx, TesiEmulatedGraph *graph, int n,
                                   const TesiMessage *message);
/* Work that is added to *body is repeated while *go_on is not 0. The graph owns *body. */
TesStatus tesi_emulated_graph_loop(TesContext *ctx, TesiEmulatedGraph *graph, const int *go_on,
                                   TesiEmulatedGraph **body);
/* The graph that contains this body; NULL: it is not a body. */
TesiEmulatedGraph *tesi_emulated_graph_outer(const TesiEmulatedGraph *body);
TesStatus tesi_emulated_graph_run(TesContext *ctx, const TesiEmulatedGraph *graph, TesiLaunch launch,
                                  TesiSend send);

#endif
