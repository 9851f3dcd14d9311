/* Flows in case files: the shapes of their values, and which keys belong to which problem. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

static const TesiYaml *given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

bool tesi_case_face_word(TesiCaseReader *r, int row, const char *text) {
  int *condition = (int *)((char *)&r->draft + tesi_case_keys[row].target);
  if (strcmp(text, "slip") != 0 && strcmp(text, "outflow") != 0 && strcmp(text, "roller") != 0) return false;
  *condition = *text == 's' ? TESI_CASE_SLIP : *text == 'o' ? TESI_CASE_OUTFLOW : TESI_CASE_ROLLER;
  return true;
}

static TesStatus belongs(TesiCaseReader *r, const char *path, const char *to) {
  const TesiYaml *node = given(r, path);
  return node ? tesi_case_error(r, tesi_case_row(path), node, "belongs to %s", to) : TES_OK;
}

/* Of transport: nothing diffuses out. */
static TesStatus check_zero_outflow(TesiCaseReader *r, const char *path, const TesiCaseFace *face) {
  char below[80];
  double zero = 0;
  snprintf(below, sizeof below, "%s.outflow", path);
  const int row = tesi_case_row(below);
  if (!face->g[0] || (!r->entries[row] && tes_function_constant(face->g[0], &zero) && zero == 0))
    return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected 0: transport has no other outflow");
}

/* Dirichlet, Neumann and Robin are for scalars, the others for flows, and outflow for transport too. */
TesStatus tesi_case_check_face(TesiCaseReader *r, const char *name, const TesiCaseFace *face) {
  const bool flow = tesi_case_is_flow(r);
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char path[64], below[80];
  double zero = 1;
  snprintf(path, sizeof path, "boundary.%s", name);
  const int row = tesi_case_row(path);
  if (!face->condition) return TES_OK;
  if (r->draft.c.problem.equation == TES_ELASTICITY) return tesi_case_check_elastic_face(r, path, face);
  if (face->condition > TESI_CASE_FLUX)
    return tesi_case_error(r, row, r->node[row], "displacement, traction and roller belong to elasticity");
  if (!flow && face->condition == TESI_CASE_OUTFLOW && r->draft.c.problem.equation == TES_TRANSPORT)
    return check_zero_outflow(r, path, face);
  if (face->condition == TESI_CASE_FLUX) {
    if (r->draft.c.problem.equation != TES_TRANSPORT)
      TES_TRY(tesi_case_error(r, row, r->node[row], "flux belongs to transport%s",
                              flow ? "" : "; poisson has dirichlet, neumann and robin"));
    goto done;
  }
  if (flow != (face->condition > TESI_CASE_ROBIN)) {
    TES_TRY(tesi_case_error(
        r, row, r->node[row],
        flow ? "flows have velocity, slip, outflow and pressure"
        : r->draft.c.problem.equation == TES_TRANSPORT
            ? "velocity, slip and pressure belong to flows; transport has dirichlet, neumann, "
              "robin, flux and outflow"
            : "velocity, slip, outflow and pressure belong to flows; "
              "poisson has dirichlet, neumann and robin"));
    goto done;
  }
  if (!flow) goto done;
  if (face->condition == TESI_CASE_VELOCITY && !face->g[0] && !face->g[1] && !face->g[2] && !r->error_count)
    TES_TRY(tesi_case_error(r, row, r->node[row], "no component of the velocity is given: that is outflow"));
  snprintf(below, sizeof below, "%s.outflow", path);
  const int outflow = tesi_case_row(below);
  if (r->node[outflow] && !r->entries[outflow] && face->g[0] &&
      !(tes_function_constant(face->g[0], &zero) && zero == 0))
    TES_TRY(tesi_case_error(r, outflow, r->node[outflow], "expected 0 or a list of %d expressions",
                            tesi_case_dim(r)));
done:
  return status;
}

static TesStatus check_faces(TesiCaseReader *r) {
  static const char *const names[6] = {"left", "right", "bottom", "top", "back", "front"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(tesi_case_check_face(r, "all", &r->draft.all));
  for (int i = 0; i < 6; i++) TES_TRY(tesi_case_check_face(r, names[i], &r->draft.face[i]));
done:
  return status;
}

static TesStatus refuse_keys(TesiCaseReader *r, int count, const char *const *path, const char *why) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (int i = 0; i < count; i++)
    if (given(r, path[i])) TES_TRY(tesi_case_error(r, tesi_case_row(path[i]), given(r, path[i]), "%s", why));
done:
  return status;
}

/* Keys that are there, and not for a flow; shapes of those that are. */
static TesStatus refuse_scalar_keys(TesiCaseReader *r) {
  static const char *const scalar[] = {"data.a", "data.c", "data.materials"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int exact = tesi_case_row("data.exact"), f = tesi_case_row("data.f");
  TES_TRY(refuse_keys(r, 3, scalar, "stokes and navier_stokes do not have this"));
  if (r->draft.c.adapt.estimator == TES_ESTIMATE_DWR && given(r, "adapt.estimator"))
    TES_TRY(tesi_case_error(r, tesi_case_row("adapt.estimator"), given(r, "adapt.estimator"),
                            "dwr is for one component; flows have residual"));
  if (r->node[exact] && r->node[exact]->kind != TESI_YAML_MAP)
    TES_TRY(tesi_case_error(r, exact, r->node[exact], "expected {velocity: [..], pressure: ..}"));
  if (given(r, "data.exact.pressure") && !given(r, "data.exact.velocity"))
    TES_TRY(tesi_case_error(r, exact, r->node[exact], "velocity is missing"));
  if (r->node[f] && !r->entries[f])
    TES_TRY(tesi_case_error(r, f, r->node[f], "expected a list of expressions, one a direction"));
done:
  return status;
}

/* The key that makes a mesh other than a box of kind box; NULL: it is one. */
static const char *unlike_box(const TesiCaseReader *r) {
  static const char *const keys[] = {"adapt", "mesh.refine_where", "mesh.map"};
  for (int i = 0; i < 3; i++)
    if (given(r, keys[i])) return keys[i];
  return given(r, "mesh.box") && r->draft.c.mesh.kind != TES_MESH_FOREST ? NULL : "mesh";
}

static TesStatus require_box(TesiCaseReader *r, const char *element) {
  const char *const key = unlike_box(r);
  if (!key) return TES_OK;
  return tesi_case_error(
      r, tesi_case_row(key), given(r, key),
      "element %s is for boxes of kind box, without adapt, refine_where and map; other meshes "
      "have q",
      element);
}

static TesStatus check_number(TesiCaseReader *r, const char *path, const TesFunction *f, bool positive);

/* What flows with continuous elements have in common. */
static TesStatus check_continuous(TesiCaseReader *r) {
  enum { LEAST = 2, MOST = 8 };
  static const char *const of_rt[] = {"solver.colours", "solver.penalty"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const int degree = tesi_case_row("space.degree"), form = tesi_case_row("data.form");
  static const char *const of_steady[] = {"data.alpha"};
  TES_TRY(refuse_keys(r, 2, of_rt, "belongs to stokes with element rt"));
  if (d->c.problem.equation != TES_STOKES) TES_TRY(refuse_keys(r, 1, of_steady, "belongs to stokes"));
  TES_TRY(check_number(r, "data.alpha", d->reaction, false));
  TES_TRY(check_number(r, "data.nu", d->a, true));
  const bool iso = d->c.problem.element == TES_ELEMENT_ISO;
  if (!iso && (d->c.problem.degree < LEAST || d->c.problem.degree > MOST))
    TES_TRY(tesi_case_error(r, degree, r->node[degree], "expected %d to %d for flows with element q, got %d",
                            LEAST, MOST, d->c.problem.degree));
  if (r->node[form] && d->form == TES_FLOW_SYMMETRIC)
    TES_TRY(tesi_case_error(r, form, r->node[form],
                            "flows with element q have the form gradient: nu is a number"));
done:
  return status;
}

static TesStatus check_stokes(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const int element = tesi_case_row("space.element"), degree = tesi_case_row("space.degree");
  double nu;
  if (d->c.problem.element == TES_ELEMENT_Q || (d->c.problem.element == TES_ELEMENT_AUTO && unlike_box(r)))
    return check_continuous(r);
  TES_TRY(require_box(r, "rt"));
  if (d->a && tes_function_constant(d->a, &nu)) TES_TRY(check_number(r, "data.nu", d->a, true));
  TES_TRY(check_number(r, "data.alpha", d->reaction, false));
  if (!r->node[degree]) d->c.problem.degree = 2;
  if (d->c.problem.degree > 15)
    TES_TRY(tesi_case_error(r, degree, r->node[degree], "expected 1 to 15 with element rt, got %d",
                            d->c.problem.degree));
  if (d->c.problem.element == TES_ELEMENT_DG)
    TES_TRY(tesi_case_error(r, element, r->node[element],
                            "stokes has the elements rt and q; dg is for poisson and transport"));
done:
  return status;
}

/* Over boxes of kind box, of poisson and transport. */
static TesStatus check_dg(TesiCaseReader *r, int row) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const int degree = tesi_case_row("space.degree"), stabilization = tesi_case_row("space.stabilization");
  if (r->node[stabilization] && d->stabilization == TES_STREAMLINE_ALWAYS)
    TES_TRY(tesi_case_error(r, stabilization, r->node[stabilization],
                            "supg is of element q; dg takes upwind traces"));
  if (d->c.problem.equation != TES_POISSON && d->c.problem.equation != TES_TRANSPORT)
    TES_TRY(tesi_case_error(r, row, r->node[row], "dg is for poisson and transport"));
  else
    TES_TRY(require_box(r, "dg"));
  if (d->c.problem.degree > 15)
    TES_TRY(tesi_case_error(r, degree, r->node[degree], "expected 1 to 15 with element dg, got %d",
                            d->c.problem.degree));
done:
  return status;
}

static TesStatus refuse_flow_keys(TesiCaseReader *r) {
  static const char *const flow[] = {"data.nu", "data.alpha", "solver.penalty", "solver.colours"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const int f = tesi_case_row("data.f"), exact = tesi_case_row("data.exact"),
            element = tesi_case_row("space.element");
  const bool dg = d->c.problem.element == TES_ELEMENT_DG, elastic = d->c.problem.equation == TES_ELASTICITY;
  for (int i = 0; i < 4; i++)
    if (!dg || strcmp(flow[i], "solver.penalty") != 0) TES_TRY(belongs(r, flow[i], "flows"));
  if (r->entries[f] && !elastic)
    TES_TRY(tesi_case_error(r, f, r->node[f], "expected one expression, got a list"));
  if (r->entries[exact] && !elastic)
    TES_TRY(tesi_case_error(r, exact, r->node[exact], "expected one expression, got a list"));
  if (given(r, "data.exact.velocity") || given(r, "data.exact.pressure"))
    TES_TRY(tesi_case_error(r, exact, r->node[exact], "velocity and pressure belong to flows: expected %s",
                            elastic ? "a list" : "one expression"));
  TES_TRY(belongs(r, "data.initial.pressure", "navier_stokes"));
  if (d->c.problem.element == TES_ELEMENT_RT)
    TES_TRY(tesi_case_error(r, element, r->node[element],
                            "poisson has the elements q and dg; rt belongs to stokes"));
  if (dg) TES_TRY(check_dg(r, element));
done:
  return status;
}

/* alpha is a number, and nu positive where it is one: elsewhere the operator tells the point. */
static TesStatus check_number(TesiCaseReader *r, const char *path, const TesFunction *f, bool positive) {
  const int row = tesi_case_row(path);
  double value;
  if (!r->node[row] || (tes_function_constant(f, &value) && (positive ? value > 0 : value >= 0)))
    return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected a number %s 0, got '%.60s'",
                         positive ? ">" : ">=", tes_function_text(f));
}

/* Each equation has forms of its own. */
static TesStatus check_form(TesiCaseReader *r) {
  const int row = tesi_case_row("data.form"), form = r->draft.form;
  const TesEquation equation = r->draft.c.problem.equation;
  const bool none = equation == TES_POISSON || equation == TES_ELASTICITY;
  if (!r->node[row] || (form == 0 && !none)) return TES_OK;
  if (none) return tesi_case_error(r, row, r->node[row], "belongs to stokes and transport");
  if ((form > TES_FLOW_SYMMETRIC) == (equation == TES_TRANSPORT)) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "%s",
                         equation == TES_TRANSPORT ? "transport has the forms convective and conservative"
                                                   : "stokes has the forms gradient and symmetric");
}

/* Q1-iso-Q2/Q1: Algorithm 4 as it is. */
static TesStatus check_iso(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const int degree = tesi_case_row("space.degree");
  if (!r->node[degree]) d->c.problem.degree = 1;
  if (d->c.problem.degree != 1)
    TES_TRY(tesi_case_error(r, degree, r->node[degree], "element iso has the degree 1, got %d",
                            d->c.problem.degree));
  TES_TRY(require_box(r, "iso"));
  if (r->draft.periodic)
    TES_TRY(tesi_case_error(r, tesi_case_row("mesh.box.periodic"), given(r, "mesh.box.periodic"),
                            "element iso needs boundaries in all directions"));
done:
  return status;
}

/* Numbers, one a direction. */
static TesStatus check_mean_velocity(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row("data.mean_velocity");
  TesFunction *const *mean = r->draft.mean_velocity;
  double value;
  if (!r->node[row] || r->error_count) return TES_OK;
  for (int c = 0; c < 3; c++)
    if (mean[c] && !tes_function_constant(mean[c], &value))
      TES_TRY(tesi_case_error(r, row, r->node[row], "expected a number or null in entry %d, got '%.60s'",
                              c + 1, tes_function_text(mean[c])));
  if (!mean[0] && !mean[1] && !mean[2])
    TES_TRY(tesi_case_error(r, row, r->node[row], "expected a number in some direction"));
done:
  return status;
}

/* Exactly divergence-free, on boxes. */
static TesStatus check_rt_in_time(TesiCaseReader *r) {
  enum { MOST = 8 };
  static const char *const of_others[] = {"data.alpha", "space.stabilization"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const int degree = tesi_case_row("space.degree"), form = tesi_case_row("data.form");
  TES_TRY(refuse_keys(r, 2, of_others, "navier_stokes with element rt does not have this"));
  TES_TRY(check_number(r, "data.nu", d->a, true));
  TES_TRY(require_box(r, "rt"));
  if (!r->node[degree]) d->c.problem.degree = 2;
  if (d->c.problem.degree < 1 || d->c.problem.degree > MOST)
    TES_TRY(tesi_case_error(r, degree, r->node[degree],
                            "expected 1 to %d for navier_stokes with element rt, got %d", MOST,
                            d->c.problem.degree));
  if (r->node[form] && d->form == TES_FLOW_SYMMETRIC)
    TES_TRY(tesi_case_error(r, form, r->node[form], "navier_stokes has the form gradient: nu is a number"));
done:
  return status;
}

/* Each element steps by methods of its own. */
static TesStatus check_flow_method(TesiCaseReader *r) {
  const TesiCaseDraft *d = &r->draft;
  const int row = tesi_case_row("time.method");
  const TesElement element = d->c.problem.element;
  const TesTimeMethod method = d->c.problem.time.method;
  const bool iso = element == TES_ELEMENT_ISO, rt = element == TES_ELEMENT_RT;
  const bool own = iso ? method == TES_TIME_EXPLICIT
                       : method == TES_TIME_IMEX_BDF2 || (rt && method == TES_TIME_IMEX_BDF3);
  if (method == TES_TIME_AUTO || own || !r->node[row]) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "navier_stokes has the methods auto%s",
                         iso  ? " and explicit with element iso"
                         : rt ? ", imex_bdf2 and imex_bdf3 with element rt"
                              : " and imex_bdf2 with element q");
}

static TesStatus check_navier_stokes(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const int element = tesi_case_row("space.element"), initial = tesi_case_row("data.initial");
  TES_TRY(d->c.problem.element == TES_ELEMENT_RT ? check_rt_in_time(r) : check_continuous(r));
  if (d->c.problem.element == TES_ELEMENT_ISO) TES_TRY(check_iso(r));
  if (d->c.problem.element == TES_ELEMENT_DG)
    TES_TRY(tesi_case_error(
        r, element, r->node[element],
        "navier_stokes has the elements q, velocities of the degree and pressures of one less, "
        "rt and iso"));
  TES_TRY(check_flow_method(r));
  if (r->node[initial] && r->node[initial]->kind != TESI_YAML_MAP)
    TES_TRY(tesi_case_error(r, initial, r->node[initial],
                            "expected {velocity: [..], pressure: ..} or {file: FILE}"));
  if (!given(r, "time"))
    TES_TRY(tesi_case_error(r, tesi_case_row("time"), NULL, "is missing: navier_stokes is solved in time"));
done:
  return status;
}

TesStatus tesi_case_check_flow(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const bool flow = tesi_case_is_flow(r), stokes = d->c.problem.equation == TES_STOKES;
  if (d->c.problem.time.method == TES_TIME_EXPLICIT && d->c.problem.equation != TES_NAVIER_STOKES)
    TES_TRY(tesi_case_error(r, tesi_case_row("time.method"), given(r, "time.method"),
                            "explicit is the method of navier_stokes with element iso"));
  if (d->c.problem.time.method == TES_TIME_IMEX_BDF3 && d->c.problem.equation != TES_NAVIER_STOKES)
    TES_TRY(tesi_case_error(r, tesi_case_row("time.method"), given(r, "time.method"),
                            "imex_bdf3 is a method of navier_stokes with element rt"));
  if (d->c.problem.element == TES_ELEMENT_ISO && d->c.problem.equation != TES_NAVIER_STOKES)
    TES_TRY(tesi_case_error(r, tesi_case_row("space.element"), given(r, "space.element"),
                            "iso is an element of navier_stokes"));
  TES_TRY(check_faces(r));
  TES_TRY(check_form(r));
  if (d->c.problem.equation != TES_NAVIER_STOKES || d->c.problem.element == TES_ELEMENT_ISO)
    TES_TRY(belongs(r, "data.mean_velocity", "navier_stokes with element q or rt"));
  TES_TRY(flow ? refuse_scalar_keys(r) : refuse_flow_keys(r));
  if (!flow) goto done;
  if (!stokes) TES_TRY(check_mean_velocity(r));
  TES_TRY(stokes ? check_stokes(r) : check_navier_stokes(r));
  if (!given(r, "data.f")) tes_function_destroy(&d->f[0]);
done:
  return status;
}
