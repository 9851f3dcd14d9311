/* The NVIDIA driver, opened at run time: no CUDA header or library is needed to build. */
#ifndef TESI_CUDA_DRIVER_H
#define TESI_CUDA_DRIVER_H

#include "base/base.h"

typedef unsigned long long TesiCuAddress;
typedef struct TesiCuFunction_ *TesiCuFunction;
typedef struct TesiCuModule_ *TesiCuModule;
typedef struct TesiCuStream_ *TesiCuStream;
typedef struct TesiCuGraph_ *TesiCuGraph;
typedef struct TesiCuGraphExec_ *TesiCuGraphExec;
typedef struct TesiCuContext_ *TesiCuContext;
typedef struct TesiCuNode_ *TesiCuNode;

typedef struct TesiCuShared { /* CUipcMemHandle */
  char bytes[64];
} TesiCuShared;

/* CUgraphNodeParams, of conditional nodes. */
typedef struct TesiCuNodeParameters {
  int type, zeros[3];
  union {
    long long size[29];
    struct {
      unsigned long long condition;
      int type;
      unsigned size;
      TesiCuGraph *body; /* [size], by the driver */
      TesiCuContext context;
    } conditional;
  };
  long long zero;
} TesiCuNodeParameters;

/* Attributes of devices and functions, by the driver's numbers. */
enum {
  TESI_CU_MULTIPROCESSORS = 16,
  TESI_CU_COMPUTE_MAJOR = 75,
  TESI_CU_COMPUTE_MINOR = 76,
  TESI_CU_FUNCTION_LOCAL_BYTES = 3,
  TESI_CU_FUNCTION_REGISTERS = 4,
  TESI_CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
  TESI_CU_DEVICE_MAX_SHARED_OPTIN = 97,
  TESI_CU_SUCCESS = 0,
  TESI_CU_OUT_OF_MEMORY = 2
};

/* All entry points in use: X(name here, exported symbol, arguments). */
#define TESI_CU_LIST(X)                                                                                      \
  X(init, "cuInit", (unsigned))                                                                              \
  X(driver_version, "cuDriverGetVersion", (int *))                                                           \
  X(device_count, "cuDeviceGetCount", (int *))                                                               \
  X(device_get, "cuDeviceGet", (int *, int))                                                                 \
  X(device_name, "cuDeviceGetName", (char *, int, int))                                                      \
  X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                             \
  X(device_bus, "cuDeviceGetPCIBusId", (char *, int, int))                                                   \
  X(context_retain, "cuDevicePrimaryCtxRetain", (TesiCuContext *, int))                                      \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                  \
  X(context_set, "cuCtxSetCurrent", (TesiCuContext))                                                         \
  X(module_load, "cuModuleLoadDataEx", (TesiCuModule *, const void *, unsigned, int *, void **))             \
  X(module_unload, "cuModuleUnload", (TesiCuModule))                                                         \
  X(module_function, "cuModuleGetFunction", (TesiCuFunction *, TesiCuModule, const char *))                  \
  X(function_set, "cuFuncSetAttribute", (TesiCuFunction, int, int))                                          \
  X(function_get, "cuFuncGetAttribute", (int *, int, TesiCuFunction))                                        \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, TesiCuFunction, int, size_t))          \
  X(launch, "cuLaunchKernel",                                                                                \
    (TesiCuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, TesiCuStream,     \
     void **, void **))                                                                                      \
  X(launch_together, "cuLaunchCooperativeKernel",                                                            \
    (TesiCuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, TesiCuStream,     \
     void **))                                                                                               \
  X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                                    \
  X(allocate, "cuMemAlloc_v2", (TesiCuAddress *, size_t))                                                    \
  X(release, "cuMemFree_v2", (TesiCuAddress))                                                                \
  X(pin, "cuMemAllocHost_v2", (void **, size_t))                                                             \
  X(unpin, "cuMemFreeHost", (void *))                                                                        \
  X(share, "cuIpcGetMemHandle", (TesiCuShared *, TesiCuAddress))                                             \
  X(open_shared, "cuIpcOpenMemHandle_v2", (TesiCuAddress *, TesiCuShared, unsigned))                         \
  X(close_shared, "cuIpcCloseMemHandle", (TesiCuAddress))                                                    \
  X(to_device, "cuMemcpyHtoDAsync_v2", (TesiCuAddress, const void *, size_t, TesiCuStream))                  \
  X(to_host, "cuMemcpyDtoHAsync_v2", (void *, TesiCuAddress, size_t, TesiCuStream))                          \
  X(set_bytes, "cuMemsetD8Async", (TesiCuAddress, unsigned char, size_t, TesiCuStream))                      \
  X(stream_create, "cuStreamCreate", (TesiCuStream *, unsigned))                                             \
  X(stream_synchronize, "cuStreamSynchronize", (TesiCuStream))                                               \
  X(stream_destroy, "cuStreamDestroy_v2", (TesiCuStream))                                                    \
  X(capture_begin, "cuStreamBeginCapture_v2", (TesiCuStream, int))                                           \
  X(capture_end, "cuStreamEndCapture", (TesiCuStream, TesiCuGraph *))                                        \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (TesiCuGraphExec *, TesiCuGraph, unsigned long long))  \
  X(graph_launch, "cuGraphLaunch", (TesiCuGraphExec, TesiCuStream))                                          \
  X(graph_exec_destroy, "cuGraphExecDestroy", (TesiCuGraphExec))                                             \
  X(graph_destroy, "cuGraphDestroy", (TesiCuGraph))                                                          \
  X(error_name, "cuGetErrorName", (int, const char **))                                                      \
  X(error_text, "cuGetErrorString", (int, const char **))

/* The entry points of loops in graphs, NULL in drivers before CUDA 12.4. */
#define TESI_CU_LOOPS(X)                                                                                     \
  X(capture_info, "cuStreamGetCaptureInfo_v2",                                                               \
    (TesiCuStream, int *, unsigned long long *, TesiCuGraph *, const TesiCuNode **, size_t *))               \
  X(set_dependencies, "cuStreamUpdateCaptureDependencies", (TesiCuStream, TesiCuNode *, size_t, unsigned))   \
  X(capture_to_graph, "cuStreamBeginCaptureToGraph",                                                         \
    (TesiCuStream, TesiCuGraph, const TesiCuNode *, const void *, size_t, int))                              \
  X(condition_create, "cuGraphConditionalHandleCreate",                                                      \
    (unsigned long long *, TesiCuGraph, TesiCuContext, unsigned, unsigned))                                  \
  X(add_node, "cuGraphAddNode",                                                                              \
    (TesiCuNode *, TesiCuGraph, const TesiCuNode *, size_t, TesiCuNodeParameters *))

typedef struct TesiCuDriver {
#define X(name, symbol, arguments) int(*name) arguments;
  TESI_CU_LIST(X)
  TESI_CU_LOOPS(X)
#undef X
} TesiCuDriver;

/* Opens the driver (once per process) and initialises it. Errors: TES_MISSING with cause and remedy. */
TesStatus tesi_cu_open(TesContext *ctx, const TesiCuDriver **driver);
/* Whether all entry points of loops are there. */
bool tesi_cu_has_loops(const TesiCuDriver *driver);
/* "CUDA_ERROR_..." and its explanation, for messages. */
const char *tesi_cu_name(const TesiCuDriver *driver, int error);
const char *tesi_cu_text(const TesiCuDriver *driver, int error);

#endif
