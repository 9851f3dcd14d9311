/* Tables of iso.h, and its calls on the host. */
#include "operator/iso/iso.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"
#include "operator/iso/iso_device.h"

/* ---- tables ---------------------------------------------------------------------------------------------- */

/* The widths of the cells of other ranks behind the lower and upper end of the last direction; 0: there is none. */
static TesStatus find_beyond(const TesMesh *mesh, double beyond[2]) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int d = mesh->dim - 1;
  double *x = NULL;
  TES_CHECK(!tesi_mesh_gridded(mesh),
            "ranks cut boxes of element iso in the last direction only: leave ranks_along out");
  TES_TRY(tesi_mesh_gather_vertices(mesh, d, &x));
  for (int end = 0; end < 2; end++) {
    const int at = mesh->window[d].first + (end ? mesh->box[d] + 1 : 0);
    beyond[end] = tesi_mesh_cut(mesh, 2 * d + end) ? x[at] - x[at - 1] : 0;
  }
done:
  tesi_free(ctx, &x);
  return status;
}

/* Row sums of masses count the cells beyond too. */
static TesStatus fill_axis(TesContext *ctx, const TesMesh *mesh, int d, const double beyond[2],
                           TesiIsoAxis *axis) {
  TesStatus status = TES_OK;
  const bool there = d < mesh->dim;
  axis->cells = there ? mesh->box[d] : 0;
  axis->coarse = axis->cells + 1, axis->fine = 2 * axis->cells + 1;
  const int fine = axis->fine, coarse = axis->coarse;
  TES_ALLOC(&axis->x, fine);
  for (int j = 0; j < 3; j++) {
    TES_ALLOC(&axis->M[j], fine);
    TES_ALLOC(&axis->K[j], fine);
    TES_ALLOC(&axis->C[j], fine);
  }
  for (int j = 0; j < 5; j++) {
    TES_ALLOC(&axis->RM[j], coarse);
    TES_ALLOC(&axis->RC[j], coarse);
  }
  TES_ALLOC(&axis->divided, fine);
  TES_ALLOC(&axis->coarse_divided, coarse);
  if (!there) { /* integrals over a point: M = 1 */
    axis->M[1][0] = axis->divided[0] = axis->coarse_divided[0] = axis->RM[2][0] = 1;
    goto done;
  }
  for (int i = 0; i < coarse; i++) {
    const double *const X = mesh->coordinates[d];
    axis->x[2 * i] = X[i];
    if (i < axis->cells) axis->x[2 * i + 1] = (X[i] + X[i + 1]) / 2;
    axis->coarse_divided[i] =
        2 / ((i ? X[i] - X[i - 1] : beyond[0]) + (i < axis->cells ? X[i + 1] - X[i] : beyond[1]));
  }
  for (int i = 0; i < fine; i++) {
    const double left = i ? axis->x[i] - axis->x[i - 1] : 0,
                 right = i + 1 < fine ? axis->x[i + 1] - axis->x[i] : 0;
    axis->divided[i] = 2 / ((i ? left : beyond[0] / 2) + (i + 1 < fine ? right : beyond[1] / 2));
    axis->M[0][i] = left / 6, axis->M[1][i] = (left + right) / 3, axis->M[2][i] = right / 6;
    axis->K[0][i] = i ? -1 / left : 0, axis->K[2][i] = i + 1 < fine ? -1 / right : 0;
    axis->K[1][i] = -axis->K[0][i] - axis->K[2][i];
    axis->C[0][i] = i ? 0.5 : 0, axis->C[2][i] = i + 1 < fine ? -0.5 : 0;
    axis->C[1][i] = axis->C[0][i] + axis->C[2][i];
  }
  for (int i = 0; i < coarse; i++)
    for (int row = 2 * i - 1; row <= 2 * i + 1; row++)
      for (int j = 0; j < 3 && row >= 0 && row < fine; j++) {
        const int column = row + j - 1, t = column - 2 * i + 2;
        const double weight = row == 2 * i ? 1 : 0.5;
        if (column < 0 || column >= fine) continue;
        axis->RM[t][i] += weight * axis->M[j][row];
        axis->RC[t][i] += weight * axis->C[2 - j][column]; /* C' */
      }
done:
  return status;
}

static void free_axis(TesContext *ctx, TesiIsoAxis *axis) {
  for (int j = 0; j < 3; j++) {
    tesi_free(ctx, &axis->M[j]);
    tesi_free(ctx, &axis->K[j]);
    tesi_free(ctx, &axis->C[j]);
  }
  for (int j = 0; j < 5; j++) {
    tesi_free(ctx, &axis->RM[j]);
    tesi_free(ctx, &axis->RC[j]);
  }
  tesi_free(ctx, &axis->x);
  tesi_free(ctx, &axis->divided);
  tesi_free(ctx, &axis->coarse_divided);
}

/* Numbers that one thread needs: iso_simd.c. */
static int64_t share_of(const TesiIso *iso) {
  const int64_t row = tesi_iso_row(iso), dim = iso->dim, ny = iso->axis[1].fine;
  const int64_t rows = dim + dim * (dim + 1) / 2 + 2 + 3 * dim * 4, sums = dim == 3 ? 3 * 9 * ny + 1 : 6;
  const int64_t planes = 2 * (int64_t)iso->axis[0].coarse * iso->axis[1].coarse;
  const int64_t momentum = (rows + sums) * row, divergence = 4 * row + (dim == 3 ? planes : 0);
  return ((momentum > divergence ? momentum : divergence) + 7) / 8 * 8;
}

TesStatus tesi_iso_create(const TesMesh *mesh, const uint8_t *given, TesiIso **iso) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiIso *self = NULL;
  static const double none[2];
  double beyond[2];
  *iso = NULL;
  TES_CHECK(mesh->kind == TES_MESH_BOX, "element iso needs a mesh of kind box");
  for (int d = 0; d < mesh->dim; d++)
    TES_CHECK(!mesh->box_periodic[d], "element iso needs boundaries in all directions: %c is periodic",
              "xyz"[d]);
  TES_NEW(&self);
  self->context = tesi_context_retain(ctx);
  self->dim = mesh->dim;
  self->nodes = self->pressures = 1;
  TES_TRY(find_beyond(mesh, beyond));
  for (int d = 0; d < 3; d++) {
    TES_TRY(fill_axis(ctx, mesh, d, d + 1 == mesh->dim ? beyond : none, &self->axis[d]));
    self->nodes *= self->axis[d].fine;
    self->pressures *= self->axis[d].coarse;
  }
  for (int f = 0; f < 6 && f < 2 * mesh->dim; f++) /* gcc wants to see the 6 */
    self->given[f] = tesi_mesh_cut(mesh, f) ? 0 : given[f];
  for (int end = 0; end < 2; end++) self->cut[end] = tesi_mesh_cut(mesh, 2 * (mesh->dim - 1) + end);
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_iso_device_create(self, &self->device));
  } else {
    self->threads = tesi_team_threads(ctx, 20 * self->nodes);
    self->share = share_of(self);
    TES_ALLOC(&self->memory, self->threads * self->share);
  }
  *iso = self;
  self = NULL;
done:
  tesi_iso_destroy(&self);
  return status;
}

void tesi_iso_destroy(TesiIso **iso) {
  if (!iso || !*iso) return;
  TesiIso *self = *iso;
  TesContext *ctx = self->context;
  *iso = NULL;
  tesi_iso_device_destroy(&self->device);
  for (int d = 0; d < 3; d++) free_axis(ctx, &self->axis[d]);
  tesi_free(ctx, &self->memory);
  tesi_free(ctx, &self);
  tes_context_destroy(&ctx);
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

typedef struct Momentum {
  TesiIsoHost host;
  TesiIsoMomentum *run;
} Momentum;

static void momentum(const void *data, TesiSpan span) {
  const Momentum *m = data;
  const TesiIso *iso = m->host.iso;
  if (span.first < span.end)
    m->run(&m->host, (int)span.first, (int)span.end, iso->memory + span.thread * iso->share);
}

/* At cuts u, loads and given values are on both ranks: each adds half of them. */
static void halve(const TesiIsoHost *h, int end) {
  const TesiIso *iso = h->iso;
  const int n[3] = {iso->axis[0].fine, iso->axis[1].fine, iso->axis[2].fine};
  for (int64_t j = 0; j < iso->nodes / n[iso->dim - 1]; j++) {
    const int64_t i = tesi_iso_end_node(iso, end, j);
    const int at[3] = {(int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1])};
    const double factor =
        h->k * iso->axis[0].divided[at[0]] * iso->axis[1].divided[at[1]] * iso->axis[2].divided[at[2]];
    for (int c = 0; c < iso->dim; c++) {
      const int64_t e = c * iso->nodes + i;
      h->next[e] -=
          0.5 * (tesi_iso_is_given(iso, c, at) ? h->given[e] : h->u[e] + (h->load ? factor * h->load[e] : 0));
    }
  }
}

TesStatus tesi_iso_momentum(TesiIso *iso, const TesiIsoStep *step) {
  if (iso->device) return tesi_iso_device_momentum(iso->device, iso, step);
  const Momentum m = {{iso, step->k, step->nu, step->u->data, step->s->data, step->given->data,
                       step->load ? step->load->data : NULL, step->next->data},
                      TESI_SIMD_PICK(tes_context_simd_bits(iso->context), tesi_iso_momentum)};
  tesi_team_for(iso->threads, iso->axis[iso->dim - 1].fine, momentum, &m);
  for (int end = 0; end < 2; end++)
    if (iso->cut[end]) halve(&m.host, end);
  return TES_OK;
}

typedef struct Divergence {
  const TesiIso *iso;
  double scale;
  const double *u;
  double *b;
  TesiIsoDivergence *run;
} Divergence;

static void divergence(const void *data, TesiSpan span) {
  const Divergence *d = data;
  if (span.first < span.end)
    d->run(d->iso, d->scale, d->u, (int)span.first, (int)span.end,
           d->iso->memory + span.thread * d->iso->share, d->b);
}

TesStatus tesi_iso_divergence(TesiIso *iso, double scale, const TesVector *u, TesVector *b) {
  if (iso->device) return tesi_iso_device_divergence(iso->device, iso, scale, u, b);
  const Divergence d = {iso, scale, u->data, b->data,
                        TESI_SIMD_PICK(tes_context_simd_bits(iso->context), tesi_iso_divergence)};
  tesi_team_for(iso->threads, iso->axis[iso->dim - 1].coarse, divergence, &d);
  return TES_OK;
}

typedef struct Pressure {
  const TesiIso *iso;
  double rate;
  const double *q, *b;
  double *p, *s;
} Pressure;

/* Rows of x. */
static void pressure(const void *data, TesiSpan span) {
  const Pressure *r = data;
  const TesiIsoAxis *axis = r->iso->axis;
  const int n = axis[0].coarse;
  for (int64_t line = span.first; line < span.end; line++) {
    const double rate = r->rate * axis[1].coarse_divided[line % axis[1].coarse] *
                        axis[2].coarse_divided[line / axis[1].coarse];
    const int64_t at = line * n;
    for (int i = 0; i < n; i++) {
      r->p[at + i] += r->q[at + i] + rate * axis[0].coarse_divided[i] * r->b[at + i];
      r->s[at + i] = r->p[at + i] + r->q[at + i];
    }
  }
}

TesStatus tesi_iso_pressure(TesiIso *iso, double rate, const TesVector *q, const TesVector *b, TesVector *p,
                            TesVector *s) {
  if (iso->device) return tesi_iso_device_pressure(iso->device, iso, rate, q, b, p, s);
  const Pressure r = {iso, rate, q->data, b->data, p->data, s->data};
  tesi_team_for(tesi_team_threads(iso->context, 4 * iso->pressures),
                (int64_t)iso->axis[1].coarse * iso->axis[2].coarse, pressure, &r);
  return TES_OK;
}

typedef struct Embedding {
  const TesiIso *iso;
  const double *s;
  double *w;
} Embedding;

/* Rows of x of the fine grid. */
static void embed(const void *data, TesiSpan span) {
  const Embedding *e = data;
  const TesiIsoAxis *axis = e->iso->axis;
  const int n = axis[0].coarse;
  for (int64_t line = span.first; line < span.end; line++) {
    const int64_t y = line % axis[1].fine, z = line / axis[1].fine, ny = axis[1].coarse;
    const double *a = e->s + (z / 2 * ny + y / 2) * n, *b = e->s + (z / 2 * ny + (y + 1) / 2) * n,
                 *c = e->s + ((z + 1) / 2 * ny + y / 2) * n, *d = e->s + ((z + 1) / 2 * ny + (y + 1) / 2) * n;
    double *w = e->w + line * axis[0].fine, left = 0;
    for (int i = 0; i < n; i++) {
      const double own = 0.25 * ((a[i] + b[i]) + (c[i] + d[i]));
      if (i) w[2 * i - 1] = 0.5 * (left + own);
      w[2 * i] = left = own;
    }
  }
}

TesStatus tesi_iso_embed(TesiIso *iso, const TesVector *s, TesVector *w) {
  if (iso->device) return tesi_iso_device_embed(iso->device, s, w);
  tesi_team_for(tesi_team_threads(iso->context, iso->nodes), (int64_t)iso->axis[1].fine * iso->axis[2].fine,
                embed, &(Embedding){iso, s->data, w->data});
  return TES_OK;
}
