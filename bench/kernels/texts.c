#include "kernels/texts.h"
#include <string.h>

/* The build embeds them; NULL ends the list. */
extern const TesiText bench_kernel_texts[];

TesStatus bench_program_get(TesContext *ctx, const TesiProgramDesc *desc, TesiProgram **program) {
  TesiProgramDesc with_text = *desc;
  for (const TesiText *t = bench_kernel_texts; t->name; t++)
    if (!strcmp(t->name, desc->file)) with_text.text = t->text;
  return tesi_program_get(ctx, &with_text, program);
}
