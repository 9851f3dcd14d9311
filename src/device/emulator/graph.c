#include "device/emulator/graph.h"
#include <string.h>
#include "device/emulator/fiber.h"
#include "device/emulator/guard.h"

enum { MOST_ARGUMENTS = 16 };

typedef struct Node Node;
struct Node {
  Node *next;
  void *function;
  TesiGrid grid;
  unsigned threads;
  size_t shared;
  void *arguments[MOST_ARGUMENTS]; /* into bytes */
  char *bytes;
  /* One of these is set unless the node is a launch; then only `next` of the members above is used. */
  TesiEmulatedGraph *body; /* a loop */
  TesiMessage *message;    /* messages of ranks */
  const int *go_on;
  int messages;
};

struct TesiEmulatedGraph {
  Node *first, **last;
  TesiEmulatedGraph *outer;
};

TesStatus tesi_emulated_graph_create(TesContext *ctx, TesiEmulatedGraph **graph) {
  TesStatus status = TES_OK;
  TES_NEW(graph);
  (*graph)->last = &(*graph)->first;
done:
  return status;
}

void tesi_emulated_graph_destroy(TesContext *ctx, TesiEmulatedGraph **graph) {
  if (!*graph) return;
  while ((*graph)->first) {
    Node *node = (*graph)->first;
    (*graph)->first = node->next;
    tesi_emulated_graph_destroy(ctx, &node->body);
    tesi_free(ctx, &node->bytes);
    tesi_free(ctx, &node->message);
    tesi_free(ctx, &node);
  }
  tesi_free(ctx, graph);
}

enum { SLOT = 16 }; /* alignment of an argument */

static TesStatus copy_arguments(TesContext *ctx, Node *node, const TeskKernel *kernel, void **arguments) {
  TesStatus status = TES_OK;
  size_t at = 0;
  for (int i = 0; i < kernel->count; i++) at += (kernel->sizes[i] + SLOT - 1) / SLOT * SLOT;
  TES_ALLOC(&node->bytes, at);
  at = 0;
  for (int i = 0; i < kernel->count; i++) {
    node->arguments[i] = memcpy(node->bytes + at, arguments[i], kernel->sizes[i]);
    at += (kernel->sizes[i] + SLOT - 1) / SLOT * SLOT;
  }
done:
  return status;
}

static void append(TesiEmulatedGraph *graph, Node *node) {
  *graph->last = node;
  graph->last = &node->next;
}

TesStatus tesi_emulated_graph_add(TesContext *ctx, TesiEmulatedGraph *graph, void *function, TesiGrid grid,
                                  unsigned threads, size_t shared, void **arguments) {
  TesStatus status = TES_OK;
  Node *node = NULL;
  TES_NEW(&node);
  node->function = function;
  node->grid = grid;
  node->threads = threads;
  node->shared = shared;
  TES_TRY(copy_arguments(ctx, node, function, arguments));
  append(graph, node);
  node = NULL;
done:
  tesi_free(ctx, &node);
  return status;
}

TesStatus tesi_emulated_graph_send(TesContext *ctx, TesiEmulatedGraph *graph, int n,
                                   const TesiMessage *message) {
  TesStatus status = TES_OK;
  Node *node = NULL;
  TES_NEW(&node);
  TES_ALLOC(&node->message, n + 1);
  if (n > 0) memcpy(node->message, message, (size_t)n * sizeof *message);
  node->messages = n;
  append(graph, node);
  node = NULL;
done:
  tesi_free(ctx, &node);
  return status;
}

TesStatus tesi_emulated_graph_loop(TesContext *ctx, TesiEmulatedGraph *graph, const int *go_on,
                                   TesiEmulatedGraph **body) {
  TesStatus status = TES_OK;
  Node *node = NULL;
  TES_NEW(&node);
  TES_TRY(tesi_emulated_graph_create(ctx, &node->body));
  node->go_on = go_on;
  node->body->outer = graph;
  *body = node->body;
  append(graph, node);
  node = NULL;
done:
  tesi_free(ctx, &node);
  return status;
}

TesiEmulatedGraph *tesi_emulated_graph_outer(const TesiEmulatedGraph *body) {
  return body->outer;
}

static bool is_set(const TesContext *ctx, const int *go_on) {
  const TesiKernelState *state = tesi_context_device_state(ctx);
  tesi_guard_open(&state->blocks);
  const bool set = *(const volatile int *)go_on != 0;
  tesi_guard_close(&state->blocks);
  return set;
}

static TesStatus run(TesContext *ctx, Node *n, TesiLaunch launch, TesiSend send) {
  TesStatus status = TES_OK;
  if (n->message) return send(ctx, n->messages, n->message);
  if (!n->body) return launch(ctx, n->function, n->grid, false, n->threads, n->shared, n->arguments);
  while (is_set(ctx, n->go_on)) TES_TRY(tesi_emulated_graph_run(ctx, n->body, launch, send));
done:
  return status;
}

TesStatus tesi_emulated_graph_run(TesContext *ctx, const TesiEmulatedGraph *graph, TesiLaunch launch,
                                  TesiSend send) {
  TesStatus status = TES_OK;
  for (Node *n = graph->first; n; n = n->next) TES_TRY(run(ctx, n, launch, send));
done:
  return status;
}
