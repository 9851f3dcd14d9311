#include "problem/field_rows.h"
#include <stdio.h>
#include <string.h>
#include "problem/in_time.h"
#include "problem/support.h"

static const TesiFieldRow rows[] = {
    {"u", TESI_FROM_U, 0, TESI_FIELD_VALUE, 0, NULL, false, "component x of the solution; of scalars u alone",
     .unit = "[u]"},
    {"ux", TESI_FROM_U, 0, 0, 0, NULL, false, "du/dx", .unit = "[u]/length"},
    {"uy", TESI_FROM_U, 0, 1, 0, NULL, false, "du/dy", .unit = "[u]/length"},
    {"uz", TESI_FROM_U, 0, 2, 3, NULL, false, "du/dz", .unit = "[u]/length"},
    {"v", TESI_FROM_U, 1, TESI_FIELD_VALUE, 0, NULL, false, "component y", .unit = "[u]"},
    {"vx", TESI_FROM_U, 1, 0, 0, NULL, false, "dv/dx", .unit = "[u]/length"},
    {"vy", TESI_FROM_U, 1, 1, 0, NULL, false, "dv/dy", .unit = "[u]/length"},
    {"vz", TESI_FROM_U, 1, 2, 3, NULL, false, "dv/dz", .unit = "[u]/length"},
    {"w", TESI_FROM_U, 2, TESI_FIELD_VALUE, 3, NULL, false, "component z", .unit = "[u]"},
    {"wx", TESI_FROM_U, 2, 0, 3, NULL, false, "dw/dx", .unit = "[u]/length"},
    {"wy", TESI_FROM_U, 2, 1, 3, NULL, false, "dw/dy", .unit = "[u]/length"},
    {"wz", TESI_FROM_U, 2, 2, 3, NULL, false, "dw/dz", .unit = "[u]/length"},
    {"p", TESI_FROM_P, 0, TESI_FIELD_VALUE, 0, NULL, false, "pressure", .unit = "[p]"},
    {"px", TESI_FROM_P, 0, 0, 0, NULL, false, "dp/dx", .unit = "[p]/length"},
    {"py", TESI_FROM_P, 0, 1, 0, NULL, false, "dp/dy", .unit = "[p]/length"},
    {"pz", TESI_FROM_P, 0, 2, 3, NULL, false, "dp/dz", .unit = "[p]/length"},
    {"lambda", TESI_FROM_DATA, 0, TESI_FIELD_VALUE, 0, NULL, true, "Lame's first constant", .unit = "stress"},
    {"mu", TESI_FROM_DATA, 1, TESI_FIELD_VALUE, 0, NULL, true, "shear modulus", .unit = "stress"},
    {"thermal_strain", TESI_FROM_DATA, 2, TESI_FIELD_VALUE, 0, NULL, true,
     "data.expansion times data.temperature", .unit = "1"},
    {"sxx", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3,
     "lambda*(ux + vy + wz - 3*thermal_strain) + 2*mu*(ux - thermal_strain)", false, "stress",
     .unit = "stress"},
    {"syy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3,
     "lambda*(ux + vy + wz - 3*thermal_strain) + 2*mu*(vy - thermal_strain)", false, "stress",
     .unit = "stress"},
    {"szz", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3,
     "lambda*(ux + vy + wz - 3*thermal_strain) + 2*mu*(wz - thermal_strain)", false, "stress",
     .unit = "stress"},
    {"sxy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3, "mu*(uy + vx)", false, "stress", .unit = "stress"},
    {"syz", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3, "mu*(vz + wy)", false, "stress", .unit = "stress"},
    {"sxz", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3, "mu*(uz + wx)", false, "stress", .unit = "stress"},
    {"von_mises", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3,
     "sqrt(((sxx - syy)*(sxx - syy) + (syy - szz)*(syy - szz) + (szz - sxx)*(szz - sxx))/2 + 3*(sxy*sxy + "
     "syz*syz + sxz*sxz))",
     false, "equivalent stress", .unit = "stress", .in_files = true},
    {"strain_energy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 3,
     "(sxx*(ux - thermal_strain) + syy*(vy - thermal_strain) + szz*(wz - thermal_strain) + sxy*(uy + vx) + "
     "syz*(vz + wy) + sxz*(uz + wx))/2",
     true, "energy a volume", .unit = "stress"},
    {"sxx", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2,
     "lambda*(ux + vy - 3*thermal_strain) + 2*mu*(ux - thermal_strain)", false, "stress", .unit = "stress",
     .flat = "lambda*(ux + vy - 2*thermal_strain) + 2*mu*(ux - thermal_strain)"},
    {"syy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2,
     "lambda*(ux + vy - 3*thermal_strain) + 2*mu*(vy - thermal_strain)", false, "stress", .unit = "stress",
     .flat = "lambda*(ux + vy - 2*thermal_strain) + 2*mu*(vy - thermal_strain)"},
    {"sxy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2, "mu*(uy + vx)", false, "stress", .unit = "stress"},
    {"szz", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2, "lambda*(ux + vy - 3*thermal_strain) - 2*mu*thermal_strain",
     true, "stress out of the plane; 0 in plane stress", .unit = "stress", .flat = "0"},
    {"von_mises", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2,
     "sqrt(((sxx - syy)*(sxx - syy) + (syy - szz)*(syy - szz) + (szz - sxx)*(szz - sxx))/2 + 3*sxy*sxy)",
     false, "equivalent stress", .unit = "stress", .in_files = true},
    {"strain_energy", TESI_FROM_TEXT, 0, TESI_FIELD_VALUE, 2,
     "(sxx*(ux - thermal_strain) + syy*(vy - thermal_strain) - szz*thermal_strain + sxy*(uy + vx))/2", true,
     "energy a volume", .unit = "stress"},
    {"mean_u", TESI_FROM_MEAN, 0, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of u", .unit = "[u]"},
    {"mean_v", TESI_FROM_MEAN, 1, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of v", .unit = "[u]"},
    {"mean_w", TESI_FROM_MEAN, 2, TESI_FIELD_VALUE, 3, NULL, true, "mean in time of w", .unit = "[u]"},
    {"mean_p", TESI_FROM_MEAN, 3, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of p", .unit = "[p]"},
    {"mean_uu", TESI_FROM_SQUARE, 0, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of u^2", .unit = "[u]^2"},
    {"mean_vv", TESI_FROM_SQUARE, 1, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of v^2", .unit = "[u]^2"},
    {"mean_ww", TESI_FROM_SQUARE, 2, TESI_FIELD_VALUE, 3, NULL, true, "mean in time of w^2", .unit = "[u]^2"},
    {"mean_pp", TESI_FROM_SQUARE, 3, TESI_FIELD_VALUE, 0, NULL, true, "mean in time of p^2", .unit = "[p]^2"},
    {"ut", TESI_FROM_RATE, 0, TESI_FIELD_VALUE, 0, NULL, true, "du/dt", .unit = "[u]/time"},
    {"vt", TESI_FROM_RATE, 1, TESI_FIELD_VALUE, 0, NULL, true, "dv/dt", .unit = "[u]/time"},
    {"wt", TESI_FROM_RATE, 2, TESI_FIELD_VALUE, 3, NULL, true, "dw/dt", .unit = "[u]/time"},
};
enum { ROWS = sizeof rows / sizeof *rows };
static const TesiFieldRow *own[TESI_OWN_FIELD_ROWS];
static int owns;

const TesiFieldRow *tesi_field_row(int number) {
  return number < ROWS ? &rows[number] : number < ROWS + owns ? own[number - ROWS] : NULL;
}

bool tesi_field_row_add(const TesiFieldRow *row) {
  const TesiFieldRow *other;
  for (int i = 0; (other = tesi_field_row(i)); i++)
    if (!strcmp(other->name, row->name)) return false;
  if (owns == TESI_OWN_FIELD_ROWS || row->from != TESI_FROM_TEXT || !row->text) return false;
  own[owns++] = row;
  return true;
}

static unsigned kind_of(const TesiFieldsOf *of) {
  return of->flow ? TESI_OF_FLOWS : of->stressed ? TESI_OF_DISPLACEMENTS : TESI_OF_SCALARS;
}

static bool is_there(const TesiFieldRow *row, const TesiFieldsOf *of) {
  const bool component = row->part < of->components || row->part == TESI_AXES;
  if (row->dim == 3 ? of->dim < 3 : row->dim == 2 && of->dim == 3) return false;
  switch (row->from) {
  case TESI_FROM_U:
    return component;
  case TESI_FROM_P:
    return of->flow;
  case TESI_FROM_DATA:
    return of->stressed;
  case TESI_FROM_TEXT:
    return (row->of ? row->of : TESI_OF_DISPLACEMENTS) & kind_of(of);
  case TESI_FROM_MEAN:
  case TESI_FROM_SQUARE:
    return of->average && component && (row->part != TESI_AXES || of->flow);
  case TESI_FROM_RATE:
    break;
  }
  return of->in_time && component;
}

/* Gives u and its derivatives their other names. Their own names are added after the list, and are not shown. */
static int rename_fields(const TesiFieldNames *names, int count, TesiField *field, const TesiFieldRow **row) {
  int all = count;
  for (int i = 0; i < count && all < TESI_FIELDS; i++) {
    const char *old = field[i].name;
    if (old[0] != 'u' || (old[1] && (!strchr("xyzt", old[1]) || old[2]))) continue;
    if (row) row[all] = row[i];
    field[all] = field[i];
    field[all++].unlisted = true;
    field[i].name = !old[1] ? names->name : names->slope[old[1] == 't' ? 3 : old[1] - 'x'];
  }
  return all;
}

int tesi_fields_named(const TesiFieldsOf *of, TesiField *field, const TesiFieldRow **row) {
  int count = 0;
  const TesiFieldRow *r;
  for (int i = 0; (r = tesi_field_row(i)); i++) {
    if (!is_there(r, of)) continue;
    const bool flat = of->plane == TES_PLANE_STRESS && r->flat;
    if (row) row[count] = r;
    field[count++] = (TesiField){.name = r->name,
                                 .derivative = r->derivative,
                                 .text = flat ? r->flat : r->text,
                                 .unlisted = r->unlisted && !(of->stressed && r->from == TESI_FROM_RATE),
                                 .in_files = r->in_files,
                                 .rate.is = r->from == TESI_FROM_RATE && !of->stressed};
  }
  return of->names && of->names->name ? rename_fields(of->names, count, field, row) : count;
}

void tesi_field_names_set(const char *name, TesiFieldNames *names) {
  names->name = name;
  for (int d = 0; d < 4 && name; d++)
    snprintf(names->slope[d], sizeof names->slope[d], "%.*s%c", TESI_FIELD_NAME - 1, name, "xyzt"[d]);
}

bool tesi_field_name_taken(const char *name) {
  const TesiFieldRow *r;
  for (int i = 0; (r = tesi_field_row(i)); i++)
    if (!strcmp(r->name, name)) return true;
  return false;
}

TesiFieldsOf tesi_support_fields(const TesiSupport *row, int dim, bool in_time, bool average,
                                 const TesiFieldNames *names) {
  return (TesiFieldsOf){.dim = dim,
                        .components = row->vector ? dim : 1,
                        .flow = row->flow,
                        .stressed = row->has & TESI_BIT(TESI_HAS_LAMBDA),
                        .in_time = in_time,
                        .average = average,
                        .names = names};
}

/* ---- of a problem -------------------------------------------------------------------------------------- */

/* Nodal values of components; for elements rt and dg, the parts of one vector. */
static void place(const TesProblem *p, const TesiFieldRow *row, TesiField *f) {
  const TesiFlowEquation *flow = p->equation->flow;
  const bool pressure = row->from == TESI_FROM_P || row->part == TESI_AXES;
  f->space = flow ? p->space : p->space->part[row->part];
  f->vector = !flow && p->equation->vector ? p->component[row->part] : p->u;
  if (!flow) return;
  f->part = flow->scalar ? 0 : pressure ? p->space->dim : row->part;
}

/* The mean in time, or the mean of squares, as the value of a field. */
static void place_mean(const TesiAverage *a, const TesiFieldRow *row, TesiField *f) {
  const int power = row->from == TESI_FROM_SQUARE;
  const bool pressure = row->part == TESI_AXES, nodal = f->space->element->nodal;
  const TesiAveraged *of = &a->of[pressure && nodal ? 1 : 0];
  f->vector = !nodal || pressure ? of->mean[power] : &of->component[power][row->part];
}

int tesi_problem_fields(const TesProblem *p, TesiField *field) {
  const TesiEquation *e = p->equation;
  const TesiInTime *it = p->in_time;
  const TesiFieldRow *row[TESI_FIELDS];
  const bool flow = tesi_problem_is_flow(p);
  const TesiFieldsOf of = {.dim = p->mesh->dim,
                           .components = flow || e->vector ? p->mesh->dim : 1,
                           .flow = flow,
                           .stressed = e->stressed,
                           .in_time = it && (!e->second_order || it->rate[0]),
                           .average = it && it->march.average.count > 0,
                           .plane = p->variant.plane,
                           .names = &p->names};
  const int count = tesi_fields_named(&of, field, row);
  const TesiRate rate = of.in_time && !e->second_order ? tesi_problem_rate(p) : (TesiRate){.is = false};
  for (int i = 0; i < count; i++) {
    TesiField *f = &field[i];
    f->time = it ? it->march.time : 0;
    if (row[i]->from != TESI_FROM_TEXT) (e->place ? e->place : place)(p, row[i], f);
    if (row[i]->from == TESI_FROM_MEAN || row[i]->from == TESI_FROM_SQUARE)
      place_mean(&it->march.average, row[i], f);
    if (!f->rate.is) continue;
    f->rate = rate;
    if (f->space->element->nodal && row[i]->part) f->rate.offset = row[i]->part * f->space->length;
  }
  return count;
}
