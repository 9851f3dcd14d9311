/* A loop of a recording: a kernel that sets the condition, then a while node. The body of the node is recorded on its
 * own stream and ends with the same kernel. */
#include "device/cuda/loop.h"

enum { FIRST_VERSION = 12040, CONDITIONAL = 13, WHILE = 1, SET_DEPENDENCIES = 1, OWN_THREAD = 1 };

#define CU(cu, call)                                                                                         \
  do {                                                                                                       \
    const int error_ = (cu)->call;                                                                           \
    if (error_)                                                                                              \
      TES_FAIL(TES_INTERNAL, "GPU: %s (%s) in %s", tesi_cu_name(cu, error_), tesi_cu_text(cu, error_),       \
               #call);                                                                                       \
  } while (0)

/* ---- what loops need ----------------------------------------------------------------------------------- */

static TesStatus prepare(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops) {
  TesStatus status = TES_OK;
  const TesiProgramDesc desc = {.file = "loop.cu", .macros = {{TESI_RELOCATABLE, 1}}};
  TesiProgram *program;
  TesiKernelUse use;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_loop_test", 0, &loops->test));
  TES_TRY(tesi_kernel_use(ctx, &loops->test, 32, 0, &use)); /* loads it */
  for (int i = 0; i < TESI_CUDA_LOOPS; i++) CU(cu, stream_create(&loops->stream[i], 1));
  loops->there = true;
done:
  return status;
}

bool tesi_cuda_loops(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops) {
  int version = 0;
  if (loops->asked) return loops->there;
  loops->asked = true;
  cu->driver_version(&version);
  if (version < FIRST_VERSION || !tesi_cu_has_loops(cu)) return false;
  if (prepare(ctx, cu, loops) == TES_OK) return true;
  tesi_log(ctx, TES_LOG_DETAIL, "the host decides about loops: %s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  return false;
}

void tesi_cuda_loops_destroy(const TesiCuDriver *cu, TesiCudaLoops *loops) {
  for (int i = 0; i < TESI_CUDA_LOOPS; i++)
    if (loops->stream[i]) cu->stream_destroy(loops->stream[i]);
}

/* ---- one loop ------------------------------------------------------------------------------------------ */

/* The graph that is being recorded on a stream, and the nodes on which the next node depends. */
typedef struct Place {
  TesiCuGraph graph;
  const TesiCuNode *after;
  size_t count;
} Place;

static TesStatus find_place(TesContext *ctx, const TesiCuDriver *cu, TesiCuStream stream, Place *place) {
  TesStatus status = TES_OK;
  int state;
  unsigned long long number;
  CU(cu, capture_info(stream, &state, &number, &place->graph, &place->after, &place->count));
  if (!place->graph) TES_FAIL(TES_INTERNAL, "a loop outside of a recording");
done:
  return status;
}

static TesStatus test(TesContext *ctx, const TesiCudaLoops *loops, int level) {
  unsigned long long condition = loops->condition[level];
  const int *go_on = loops->go_on[level];
  return tesi_kernel_launch(ctx, &loops->test, (TesiGrid){1, 1, 1}, 32, 0, (void *[]){&condition, &go_on});
}

TesStatus tesi_cuda_loop_begin(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops,
                               TesiCuContext context, const int *go_on, TesiCuStream *stream) {
  TesStatus status = TES_OK;
  const int level = loops->depth;
  Place place = {0};
  TesiCuNode node = NULL;
  TesiCuNodeParameters parameters = {.type = CONDITIONAL,
                                     .conditional = {.type = WHILE, .size = 1, .context = context}};
  if (level == TESI_CUDA_LOOPS)
    TES_FAIL(TES_INTERNAL, "loops of recorded work stand more than %d deep", TESI_CUDA_LOOPS);
  TES_TRY(find_place(ctx, cu, *stream, &place));
  CU(cu, condition_create(&loops->condition[level], place.graph, context, 0, 0));
  loops->go_on[level] = go_on;
  TES_TRY(test(ctx, loops, level));
  TES_TRY(find_place(ctx, cu, *stream, &place));
  parameters.conditional.condition = loops->condition[level];
  CU(cu, add_node(&node, place.graph, place.after, place.count, &parameters));
  CU(cu, set_dependencies(*stream, &node, 1, SET_DEPENDENCIES));
  CU(cu, capture_to_graph(loops->stream[level], parameters.conditional.body[0], NULL, NULL, 0, OWN_THREAD));
  loops->outer[level] = *stream;
  *stream = loops->stream[level];
  loops->depth++;
done:
  return status;
}

TesStatus tesi_cuda_loop_end(TesContext *ctx, const TesiCuDriver *cu, TesiCudaLoops *loops,
                             TesiCuStream *stream) {
  TesStatus status = TES_OK;
  const int level = loops->depth - 1;
  TesiCuGraph body = NULL;
  status = test(ctx, loops, level);
  const int error = cu->capture_end(*stream, &body);
  *stream = loops->outer[level];
  loops->depth = level;
  if (status == TES_OK && error)
    TES_FAIL(TES_INTERNAL, "GPU: %s (%s) at the end of a loop", tesi_cu_name(cu, error),
             tesi_cu_text(cu, error));
done:
  return status;
}
