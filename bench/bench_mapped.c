/* Times the kernels of mapped cells alone, on a box of perturbed trilinear cells made on the device.
 * bench_mapped [--device D] [--bp 1,3,5] [--mass] [--degrees 1-15] [--form element,global] [--geometry
 * stored,vertices,affine]
 *              [--precision double|float] [--factors double|float] [--dofs N] [--side CELLS] [--colours] [--brick
 *              B] [--seconds S]
 *              [--components 1-4] [--full-index] [--sweep] [--variant NAME] [--csv FILE]
 * The index has one integer per row of consecutive nodes, as an operator chooses by itself; --full-index: one per
 * node, as for any numbering.
 * BENCH_CUT in the environment: further cuts to be timed (TESSERA_MAPPED_CUT), separated by ';'.
 * --brick: cells are numbered in bricks of B per direction. --variant: a kernel of the ladder in
 * bench/kernels/mapped_ladder.h, element form, for the degrees that it supports.
 * --mass adds the mass to BP3 and BP5; --side: cells per direction, instead of about --dofs unknowns (2e7); --sweep:
 * several cuts.
 * Element form: dofs are nodes of cells, GB/s and share count the bytes of Swirydowicz et al. (2019), table 1;
 * global form: each vector once, factors once, index once. share: of COPY, the rate of a device-to-device copy on an
 * H200. error: of int 1 = 1 (mass), of A 1 = 0 (stiffness) relative to the largest entry of A x for random x. */
#include "mapped_box.h"

enum { BATCHES = 7 };
#define COPY 4292e9

/* ---- running ------------------------------------------------------------------------------------------- */
static void apply(const Job *job) {
  if (bench.rung >= 0) {
    must(bench_mapped_ladder_run(bench.ctx, &job->ladder, job->cells, job->x, job->y));
    return;
  }
  TeskMapped a = job->kernel.arguments;
  a.geometry = job->g;
  a.index = job->index;
  a.cells = job->cells;
  if (job->global && !bench.colours) {
    must(tesi_mapped_kernel_run_on_zeros(bench.ctx, &job->kernel, &a, job->length, job->meeting, job->x,
                                         job->y));
    return;
  }
  if (job->global) must(bench.device->fill(bench.ctx, bench.precision, job->length, 0, job->y));
  for (int i = 0; i < job->launches; i++) {
    a.cells = job->first[i + 1] - job->first[i];
    a.order = job->order ? (int *)job->order + job->first[i] : NULL;
    must(tesi_mapped_kernel_run(bench.ctx, &job->kernel, &a, job->x, job->y));
  }
}

/* int 1 = 1 or A 1 = 0. */
static double check(Job *job) {
  double largest, result;
  long long n = job->length;
  box_kernel(job, "tesk_box_random", false, (void *[]){&n, &job->x});
  apply(job);
  must(bench.device->maximum(bench.ctx, bench.precision, n, job->y, &largest));
  must(bench.device->fill(bench.ctx, bench.precision, n, 1, job->x));
  apply(job);
  if (job->mass)
    must(bench.device->dot(bench.ctx, bench.precision, n, job->x, job->y, &result));
  else
    must(bench.device->maximum(bench.ctx, bench.precision, n, job->y, &result));
  box_kernel(job, "tesk_box_random", false, (void *[]){&n, &job->x});
  return job->mass ? fabs(result / bench.components - 1) : result / largest;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double measure(const Job *job, double *spread) {
  double seconds[BATCHES], start;
  apply(job);
  must(bench.device->synchronize(bench.ctx));
  start = tesi_now();
  apply(job);
  must(bench.device->synchronize(bench.ctx));
  const int repeats = (int)(bench.seconds / BATCHES / (tesi_now() - start)) + 2;
  for (int i = 0; i < BATCHES; i++) {
    start = tesi_now();
    for (int r = 0; r < repeats; r++) apply(job);
    must(bench.device->synchronize(bench.ctx));
    seconds[i] = (tesi_now() - start) / repeats;
  }
  qsort(seconds, BATCHES, sizeof *seconds, ascending);
  *spread = (seconds[BATCHES - 1] - seconds[0]) / seconds[BATCHES / 2] / 2;
  return seconds[BATCHES / 2];
}

/* Bytes as the paper counts them; or bytes of the global form. */
static double count_bytes(const Job *job) {
  const double np = (double)cube(job->n), points = (double)cube(job->q), cells = (double)job->cells,
               size = (double)tesi_precision_size(bench.precision),
               fsize = (double)tesi_precision_size(bench.factors);
  const int s = 6 * job->stiffness + job->mass;
  double g = job->geometry == TESI_MAPPED_STORED     ? fsize * s * points
             : job->geometry == TESI_MAPPED_VERTICES ? size * 21
                                                     : size * s;
  const TesiMappedKernelDesc desc = describe(job);
  const double index = desc.rows ? 4 * np / job->n : 4 * np;
  return job->global ? 2 * size * (double)job->length + cells * (g + index)
                     : cells * (g + 2 * bench.components * np * size);
}

/* Operations to contract `lines` lines from a to b points, with even and odd halves. */
static double contraction(double lines, double a, double b) {
  return lines * (a * b + a + b);
}

static double count_flops(const Job *job) {
  const double n = job->n, q = job->q;
  double flops = 2 * (contraction(n * n, n, q) + contraction(n * q, n, q) + contraction(q * q, n, q));
  if (job->bp == 5) flops = 0;
  if (job->stiffness) flops += 6 * contraction(q * q, q, q) + 19 * q * q * q;
  if (job->mass) flops += 2 * q * q * q;
  if (job->geometry == TESI_MAPPED_VERTICES) flops += 45 * q * q * q;
  return flops * (double)job->cells * bench.components;
}

static void print_row(const Job *job, double t, double spread, double error, const char *cut) {
  static const char *const geometries[] = {"stored", "vertices", "affine"};
  const TesiMappedCut *c = &job->kernel.cut;
  const double bytes = count_bytes(job), flops = count_flops(job), dofs = (double)job->length;
  char used[64];
  snprintf(used, sizeof used, "%dx%dx%d/%d/%d/%d%s%s", c->cells, c->groups, c->group, c->blocks, c->buffers,
           c->stage,
           c->ahead == 2 ? "/xx"
           : c->ahead    ? "/x"
                         : "",
           c->gradients ? "/g" : "");
  if (bench.rung >= 0) snprintf(used, sizeof used, "%s", bench_mapped_rungs[bench.rung].name);
  printf(
      "BP%d%s x%d %-7s %-8s %s p=%-2d %8lld cells %6.2f Mdof %9.4f ms +-%4.1f%% %7.2f GDoF/s %6.0f GFLOP/s "
      "%5.0f GB/s %5.1f%% "
      "err %.0e  %s %s\n",
      job->bp, job->bp != 1 && job->mass ? "+m" : "", bench.components, job->global ? "global" : "element",
      geometries[job->geometry], bench.precision == TES_DOUBLE ? "f64" : "f32", job->degree,
      (long long)job->cells, dofs * 1e-6, t * 1e3, spread * 100, dofs / t * 1e-9, flops / t * 1e-9,
      bytes / t * 1e-9, 100 * bytes / t / COPY, error, used, cut);
  fflush(stdout);
  if (!bench.csv) return;
  fprintf(bench.csv, "%d,%d,%d,%s%s%s,%s,%s,%s,%d,%lld,%.0f,%.6g,%.3g,%.5g,%.5g,%.5g,%.4f,%.2g,%s\n", job->bp,
          job->mass, bench.components, job->global ? "global" : "element", bench.colours ? " coloured" : "",
          job->global && bench.full ? " full index" : "", geometries[job->geometry],
          bench.precision == TES_DOUBLE ? "float64" : "float32",
          bench.factors == TES_DOUBLE ? "float64" : "float32", job->degree, (long long)job->cells, dofs,
          t * 1e3, spread, dofs / t * 1e-9, flops / t * 1e-9, bytes / t * 1e-9, bytes / t / COPY, error, used);
  fflush(bench.csv);
}

static void time_cut(Job *job, const char *cut) {
  double spread, error;
  setenv("TESSERA_MAPPED_CUT", cut, 1);
  const TesiMappedKernelDesc desc = describe(job);
  if (bench.rung >= 0 && bench_mapped_rung_refuses(bench.rung, desc.q, desc.collocated)) return;
  must(tesi_mapped_kernel_make_for(bench.ctx, &desc, job->cells, &job->kernel));
  if (bench.rung >= 0) {
    must(bench_mapped_ladder_make(bench.ctx, &desc, bench.rung, job->cells, &job->ladder));
    job->ladder.geometry = job->g;
  }
  if (bench.rehearsal) return;
  must(tesi_mapped_meeting_make(bench.ctx, &job->kernel, &job->meeting));
  error = check(job);
  const double t = measure(job, &spread);
  print_row(job, t, spread, error, cut);
  bench_mapped_ladder_release(bench.ctx, &job->ladder);
  bench.device->release(bench.ctx, &job->meeting);
}

/* Cuts as TESSERA_MAPPED_CUT: cells,groups,warps (1 yes, 2 no),blocks,buffers,stage */
static void sweep(Job *job) {
  char cut[64];
  const int lanes = job->q * job->q, sizes[] = {64, 128, 192, 256}, most = job->global ? 2 : 3;
  for (int stage = 1; stage <= (job->geometry == TESI_MAPPED_STORED ? most : 1); stage++) {
    for (int groups = 1; lanes <= 32 && groups <= 4; groups *= 2) {
      snprintf(cut, sizeof cut, "0,%d,1,0,0,%d", groups, stage);
      time_cut(job, cut);
    }
    for (int i = 0, last = 0; i < 4; i++) {
      const int cells = sizes[i] / lanes < 1 ? 1 : sizes[i] / lanes, threads = (cells * lanes + 31) / 32 * 32;
      if (cells == last) continue;
      last = cells;
      static const int registers[] = {64, 80, 96, 112, 128, 168, 200, 255};
      const int usual = job->stiffness ? 56 + 8 * job->q : 24 + 6 * job->q;
      for (int r = 0, before = 0; r < 8; r++) {
        const int blocks = 65536 / (registers[r] * threads);
        if (registers[r] < usual - 30 || registers[r] > usual + 40 || blocks < 1 || blocks == before)
          continue;
        before = blocks;
        snprintf(cut, sizeof cut, "%d,0,2,%d,%d,%d", cells, blocks, job->stiffness ? (job->q > 6 ? 2 : 3) : 0,
                 stage);
        time_cut(job, cut);
      }
    }
  }
}

/* The cuts of a list separated by ';'. All are compiled at the same time before the measurements. */
static void try_cuts(Job *job, const char *list) {
  for (int timed = 0; timed < 2; timed++)
    for (const char *at = list; *at; at += strcspn(at, ";"), at += *at == ';') {
      char cut[64];
      TesiMappedKernel kernel;
      snprintf(cut, sizeof cut, "%.*s", (int)strcspn(at, ";"), at);
      setenv("TESSERA_MAPPED_CUT", cut, 1);
      const TesiMappedKernelDesc desc = describe(job);
      if (timed)
        time_cut(job, cut);
      else
        must(tesi_mapped_kernel_make_for(bench.ctx, &desc, job->cells, &kernel));
    }
}

static void run_job(int bp, int degree, bool global, TesiMappedGeometry geometry) {
  Job job = {.bp = bp, .degree = degree, .global = global, .geometry = geometry};
  const char *cuts = getenv("BENCH_CUT");
  make_job(&job);
  time_cut(&job, "");
  if (cuts) try_cuts(&job, cuts);
  if (bench.sweep) sweep(&job);
  unsetenv("TESSERA_MAPPED_CUT");
  free_job(&job);
}

int main(int argc, char **argv) {
  const char *device = "cuda", *bps = "1,3,5", *forms = "global,element", *geometries = "stored", *csv = NULL;
  int first = 1, last = 8;
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    bool used = true;
    if (!strcmp(option, "--device"))
      device = value;
    else if (!strcmp(option, "--bp"))
      bps = value;
    else if (!strcmp(option, "--form"))
      forms = value;
    else if (!strcmp(option, "--geometry"))
      geometries = value;
    else if (!strcmp(option, "--precision"))
      bench.precision = bench.factors = value[0] == 'f' ? TES_SINGLE : TES_DOUBLE;
    else if (!strcmp(option, "--factors"))
      bench.factors = value[0] == 'f' ? TES_SINGLE : TES_DOUBLE;
    else if (!strcmp(option, "--dofs"))
      bench.dofs = atof(value);
    else if (!strcmp(option, "--components"))
      bench.components = atoi(value);
    else if (!strcmp(option, "--side"))
      bench.side = atoi(value);
    else if (!strcmp(option, "--variant")) {
      bench.rung = bench_mapped_rung_find(value);
      if (bench.rung < 0) return fprintf(stderr, "there is no variant '%s'\n", value), 2;
    } else if (!strcmp(option, "--brick"))
      bench.brick = atoi(value);
    else if (!strcmp(option, "--seconds"))
      bench.seconds = atof(value);
    else if (!strcmp(option, "--csv"))
      csv = value;
    else if (!strcmp(option, "--degrees")) {
      if (sscanf(value, "%d-%d", &first, &last) == 1) last = first;
    } else {
      used = false;
      if (!strcmp(option, "--mass"))
        bench.mass = true;
      else if (!strcmp(option, "--sweep"))
        bench.sweep = true;
      else if (!strcmp(option, "--full-index"))
        bench.full = true;
      else if (!strcmp(option, "--colours"))
        bench.colours = true;
      else {
        fprintf(stderr, "unknown option %s\n", option);
        return 2;
      }
    }
    i += used;
  }
  char message[2048];
  bench.rehearsal = !strncmp(device, "nvrtc", 5);
  const TesContextDesc desc = {.device = device};
  const TesStatus status = tes_context_create(&desc, &bench.ctx, message, sizeof message);
  if (status != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return tes_status_exit(status);
  }
  bench.device = tesi_context_device(bench.ctx);
  if (csv) {
    bench.csv = fopen(csv, "a");
    if (bench.csv && ftell(bench.csv) == 0)
      fprintf(bench.csv,
              "bp,mass,components,form,geometry,precision,factors,degree,cells,dofs,ms,spread,gdofs,gflops,"
              "gbytes,share,error,cut\n");
  }
  static const char *const names[] = {"stored", "vertices", "affine"};
  for (int bp = 1; bp <= 5; bp += 2)
    for (int form = 0; form < 2; form++)
      for (int g = 0; g < 3; g++)
        for (int degree = first; degree <= last; degree++)
          if (strchr(bps, '0' + bp) && strstr(forms, form ? "global" : "element") &&
              strstr(geometries, names[g]))
            run_job(bp, degree, form, (TesiMappedGeometry)g);
  if (bench.csv) fclose(bench.csv);
  tes_context_destroy(&bench.ctx);
  return 0;
}
