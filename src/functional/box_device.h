/* Functions at the Gauss points of a box by kernels: the box in device memory, and the text that the kernels
 * include. */
#ifndef TESI_BOX_DEVICE_H
#define TESI_BOX_DEVICE_H

#include "device/kernel.h"
#include "device/vector.h"
#include "functional/batch.h"
#include "kernels/box_arguments.h"

enum { TESI_BOX_THREADS = 128, TESI_BOX_BLOCKS = 8192, TESI_BOX_SHARED = 96 << 10 };

typedef struct TesiBoxDevice {
  TesContext *context;
  void *memory;
  const double *nodes[3], *ends[3], *widths[3]; /* device */
  TesiBatches *batches;                         /* points and basis */
} TesiBoxDevice;

/* q points per direction. */
TesStatus tesi_box_device_create(const TesSpace *space, int q, TesiBoxDevice **box);
void tesi_box_device_destroy(TesiBoxDevice **box);
/* Launches over all cells; `face` >= 0: over the sides on this face. */
TeskBox tesi_box_arguments(const TesiBoxDevice *box, int face);
TeskFace tesi_face_arguments(const TesiBoxDevice *box, int face);

/* Text of tesk_f0, tesk_f1, ... (NULL: 0), tesk_point, tesk_w, tesk_B, tesk_G; *text is NULL if a function has no
 * text. */
TesStatus tesi_box_text(const TesiBoxDevice *box, int count, const TesFunction *const *f, char **text);
/* A kernel of `file` with this text; shared: bytes. */
TesStatus tesi_box_kernel(const TesiBoxDevice *box, const char *file, const char *name, const char *text,
                          size_t shared, TesiKernel *kernel);

#endif
