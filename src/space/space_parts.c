/* Spaces of several components, and products: lists of spaces of one component. */
#include "device/vector.h"
#include "space/space.h"

void tesi_space_be_own_part(TesSpace *s) {
  s->parts = s->scalars = 1;
  s->part[0] = s, s->scalar[0] = s;
  s->part_first[1] = s->first[1] = s->length;
}

TesStatus tesi_space_put_together(TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout[TESI_SCALARS];
  for (int p = 0; p < s->parts; p++) {
    const TesSpace *part = s->part[p];
    TES_CHECK(part->element == s->element || part->element->nodal,
              "part %d is a space of element %s, which is no part of others", p,
              tesi_element_words[part->element->element]);
    TES_CHECK(s->scalars + part->scalars <= TESI_SCALARS, "a space of more than %d components in all",
              TESI_SCALARS);
    for (int i = 0; i < part->scalars; i++, s->scalars++) {
      s->scalar[s->scalars] = part->scalar[i];
      s->first[s->scalars + 1] = s->first[s->scalars] + part->scalar[i]->length;
    }
    s->part_first[p + 1] = s->part_first[p] + part->length;
    s->length += part->length;
    s->dofs += part->dofs;
    s->all_dofs += part->all_dofs;
    layout[p] = part->layout;
  }
  TES_TRY(tesi_layout_put_together(ctx, s->parts, layout, &s->layout));
done:
  return status;
}

/* ---- components ---------------------------------------------------------------------------------------- */

/* The component before c that has values on the same boundaries; c: none has. */
static int same_as(const TesSpace *s, int c) {
  const int names = tes_mesh_boundaries(s->mesh);
  for (int other = 0; other < c; other++) {
    bool same = true;
    for (int i = 0; i <= names; i++) same = same && (s->given[i] >> c & 1) == (s->given[i] >> other & 1);
    if (same) return other;
  }
  return c;
}

/* Whether scalar c has values on a boundary. Component c of element rt: bit 0 on faces of its own direction, bit 1 on
 * others; its pressure nowhere. */
static bool has_values(const TesSpace *s, int c, int boundary) {
  if (s->element->nodal) return s->given[boundary] >> c & 1;
  return c < s->dim && boundary < 2 * s->dim && s->given[boundary] >> (boundary / 2 != c) & 1;
}

static TesStatus create_scalar(TesSpace *s, int c) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(s->mesh);
  TesSpace *scalar;
  TES_TRY(tesi_space_new(ctx, s->mesh, s->degree, s->element, &scalar));
  s->part[c] = scalar;
  TES_ALLOC(&scalar->given, names + 1);
  for (int i = 0; i <= names; i++) scalar->given[i] = has_values(s, c, i);
  TES_TRY(tesi_space_be_scalar(scalar, c < s->dim ? c : -1));
done:
  return tesi_agree(ctx, status);
}

TesStatus tesi_space_create_scalars(TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  for (int c = 0; c < s->parts; c++) {
    const int other = s->element->nodal ? same_as(s, c) : c;
    if (other < c)
      s->part[c] = tesi_space_retain(s->part[other]);
    else
      TES_TRY(create_scalar(s, c));
  }
  TES_TRY(tesi_space_put_together(s));
done:
  return status;
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* Bit i of a boundary: scalar i has values there. */
static TesStatus gather_given(TesSpace *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(s->mesh);
  TES_ALLOC(&s->given, names + 1);
  for (int b = 0; b <= names; b++)
    for (int i = 0; i < s->scalars; i++)
      s->given[b] = (uint8_t)(s->given[b] | (s->scalar[i]->given[b] != 0) << i);
done:
  return status;
}

TesStatus tes_space_create_product(TesContext *context, int count, const TesSpace *const *part,
                                   TesSpace **space) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesSpace *s = NULL;
  TES_REFUSE_NULL(context, part, space);
  *space = NULL;
  TES_CHECK(count >= 1 && count <= TESI_SCALARS, "a product of %d spaces, expected 1..%d", count,
            TESI_SCALARS);
  for (int p = 0; p < count; p++)
    TES_CHECK(part[p] && part[p]->mesh == part[0]->mesh, "part %d of a product %s", p,
              part[p] ? "is over another mesh than part 0" : "is NULL");
  TES_CHECK(part[0]->context == ctx, "the parts belong to another context than the product");
  TES_TRY(tesi_space_new(ctx, part[0]->mesh, part[0]->degree, tesi_element(TES_ELEMENT_AUTO), &s));
  s->product = true;
  for (s->parts = 0; s->parts < count; s->parts++) s->part[s->parts] = tesi_space_retain(part[s->parts]);
  TES_TRY(tesi_space_put_together(s));
  TES_TRY(gather_given(s));
  *space = s;
  s = NULL;
done:
  tes_space_destroy(&s);
  return status;
}

/* Parts that are one space stay one. */
TesStatus tesi_space_create_product_on(const TesSpace *space, const TesMesh *mesh, TesSpace **other) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesSpace *part[TESI_SCALARS] = {NULL};
  *other = NULL;
  for (int p = 0; p < space->parts; p++) {
    int same = 0;
    while (space->part[same] != space->part[p]) same++;
    if (same < p)
      part[p] = tesi_space_retain(part[same]);
    else
      TES_TRY(tesi_space_create_on(space->part[p], mesh, space->part[p]->degree, &part[p]));
  }
  TES_TRY(tes_space_create_product(ctx, space->parts, (const TesSpace *const *)part, other));
done:
  for (int p = 0; p < space->parts; p++) tes_space_destroy(&part[p]);
  return status;
}

/* ---- what they consist of ------------------------------------------------------------------------------ */

int tes_space_components(const TesSpace *space) {
  return space->element->nodal ? space->scalars : 0;
}

int tes_space_parts(const TesSpace *space) {
  return space->parts;
}

const TesSpace *tes_space_part(const TesSpace *space, int part) {
  return part >= 0 && part < space->parts && space->element->nodal ? space->part[part] : NULL;
}

TesStatus tes_vector_part(const TesSpace *space, const TesVector *vector, int part, TesVector **view) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  *view = NULL;
  TES_CHECK(part >= 0 && part < space->parts, "part %d of a space of %d", part, space->parts);
  TES_CHECK(vector->length == space->length, "a vector of length %lld, the space has %lld nodes",
            (long long)vector->length, (long long)space->length);
  TES_TRY(tesi_vector_view(vector, space->part_first[part],
                           space->part_first[part + 1] - space->part_first[part], view));
  (*view)->layout = tesi_layout_retain(space->part[part]->layout);
done:
  return status;
}
