#include "io/case/case_schema.h"
#include <float.h>
#include "io/expression/units.h"
#include <string.h>

#define AT(member) offsetof(TesiCaseDraft, member)
#define SOLVER(member) AT(c.problem.solver.member)
#define ANY .low = -DBL_MAX, .high = DBL_MAX
#define WORDS(...)                                                                                           \
  (const char *const[]) {                                                                                    \
    __VA_ARGS__, NULL                                                                                        \
  }

/* The rows of one face, or of all faces; conditions in the order of TesiNamed. */
#define FACE(name, member, hide, note, text)                                                                 \
  {.path = "boundary." name,                                                                                 \
   .type = TESI_KEY_ONE_OF,                                                                                  \
   .target = AT(member.condition),                                                                           \
   .repeated = hide,                                                                                         \
   .fallback_note = note,                                                                                    \
   .help = text},                                                                                            \
      {.path = "boundary." name ".dirichlet",                                                                \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "u = this; `exact`: data.exact"},                                                             \
      {.path = "boundary." name ".neumann",                                                                  \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "a du/dn = this, n the outer normal"},                                                        \
      {.path = "boundary." name ".robin",                                                                    \
       .type = TESI_KEY_MAP,                                                                                 \
       .repeated = true,                                                                                     \
       .help = "a du/dn + alpha u = g; elasticity: springs, sigma n + alpha u = g"},                         \
      {.path = "boundary." name ".robin.alpha",                                                              \
       .type = TESI_KEY_EXPRESSION,                                                                          \
       .target = AT(member.alpha),                                                                           \
       .required = true,                                                                                     \
       .repeated = true,                                                                                     \
       .help = "coefficient of u, not negative"},                                                            \
      {.path = "boundary." name ".robin.g",                                                                  \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .lists = true,                                                                                        \
       .target = AT(member.g),                                                                               \
       .required = true,                                                                                     \
       .repeated = true,                                                                                     \
       .help = "right-hand side; elasticity: a list"},                                                       \
      {.path = "boundary." name ".velocity",                                                                 \
       .type = TESI_KEY_VECTOR,                                                                              \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "flows: u = this; null: this component is free (navier_stokes); `exact`: the velocity of "    \
               "data.exact"},                                                                                \
      {.path = "boundary." name ".slip",                                                                     \
       .type = TESI_KEY_CHOICE,                                                                              \
       .target = AT(member.slip),                                                                            \
       .choices = WORDS("true"),                                                                             \
       .repeated = true,                                                                                     \
       .help = "flows: u.n = 0 without tangential stress; element q on any faces, curved ones too, others "  \
               "on faces along the axes; the word `slip` says the same"},                                    \
      {.path = "boundary." name ".outflow",                                                                  \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .lists = true,                                                                                        \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "flows: nu du/dn - p n = this, or 0; transport: a du/dn = 0; the word `outflow` says 0"},     \
      {.path = "boundary." name ".pressure",                                                                 \
       .type = TESI_KEY_EXPRESSION,                                                                          \
       .target = AT(member.pressure),                                                                        \
       .repeated = true,                                                                                     \
       .help = "flows: nu du/dn - p n = -this n; elasticity: sigma n = -this n"},                            \
      {.path = "boundary." name ".flux",                                                                     \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "transport: a du/dn - (b.n) u = this, what enters"},                                          \
      {.path = "boundary." name ".displacement",                                                             \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .lists = true,                                                                                        \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help =                                                                                               \
           "elasticity: u = this list, where null leaves a component free; `exact`: data.exact; also on "    \
           "named groups of curves and points of a mesh file"},                                              \
      {.path = "boundary." name ".traction",                                                                 \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .lists = true,                                                                                        \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "elasticity: sigma n = this list, n the outer normal"},                                       \
      {.path = "boundary." name ".roller",                                                                   \
       .type = TESI_KEY_CHOICE,                                                                              \
       .target = AT(member.slip),                                                                            \
       .choices = WORDS("true"),                                                                             \
       .repeated = true,                                                                                     \
       .help =                                                                                               \
           "elasticity: u.n = 0 without tangential stress, on faces of any direction, curved ones too; the " \
           "word `roller` says the same"},                                                                   \
      {.path = "boundary." name ".force",                                                                    \
       .type = TESI_KEY_VECTOR,                                                                              \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "elasticity: the total force on these faces, as a uniform traction: force / area; in 2D per " \
               "unit of thickness; on named groups of curves force / length, of points in equal parts"},     \
      {.path = "boundary." name ".symmetry",                                                                 \
       .type = TESI_KEY_CHOICE,                                                                              \
       .target = AT(member.slip),                                                                            \
       .choices = WORDS("true"),                                                                             \
       .repeated = true,                                                                                     \
       .help =                                                                                               \
           "flows: slip, elasticity: a roller, on planes of symmetry; the word `symmetry` says the same"},   \
      {.path = "boundary." name ".radial",                                                                   \
       .type = TESI_KEY_BOUNDARY,                                                                            \
       .target = AT(member.g),                                                                               \
       .repeated = true,                                                                                     \
       .help = "elasticity: the displacement along the normals of a bore or a shaft, away from its axis or " \
               "middle, "                                                                                    \
               "without tangential stress; 0: a roller"},                                                    \
  {                                                                                                          \
    .path = "boundary." name ".priority", .type = TESI_KEY_INTEGER, .target = AT(member.priority),           \
    .low = -1000, .high = 1000, .beside = true, .fallback = "0", .repeated = true,                           \
    .help = "beside the condition: where two boundaries with values meet, the values of the larger number "  \
            "hold; "                                                                                         \
            "of equal numbers the later boundary holds, in flows in time the shorter velocity"               \
  }

/* clang-format off */
const TesiKey tesi_case_keys[] = {
  {.path = "problem", .type = TESI_KEY_CHOICE, .target = AT(c.problem.equation),
   .choices = tesi_equation_words, .required = true,
   .help = "the equation; poisson: -div(a grad u) + c u = f; stokes: -div(nu grad u) + alpha u + grad p = f, "
     "div u = 0, on boxes; transport: u_t - div(a grad u) + b . grad u + c u = f in time, or "
     "steady without u_t; elasticity: -div(lambda div u I + 2 mu eps(u)) = f; "
     "navier_stokes: u_t + u . grad u - nu div(grad u) + grad p = f, div u = 0 in time"},

  {.path = "constants", .type = TESI_KEY_CONSTANTS, .fallback_note = "none",
   .help = "names of numbers, for all expressions of the case; a name may stand in those below it"},
  {.path = "units", .type = TESI_KEY_CHOICE, .target = AT(units), .choices = tesi_units_words, .fallback = "none",
   .help = "the system that all numbers of the case are in; then a number may have a unit behind it, as 210 GPa, "
     "0.3 mm, 7850 kg/m^3, and is turned into the system: SI (m, kg, s, K) or mm-N-MPa (mm, t, s, K)"},
  {.path = "tables", .type = TESI_KEY_TABLES, .fallback_note = "none",
   .help = "functions of one variable: NAME(s) through the points of a file of two columns, s ascending, constant "
           "beyond its ends; cubic: smooth and monotone between the points"},

  {.path = "mesh", .type = TESI_KEY_MAP, .required = true, .help = "the domain and its cells"},
  {.path = "mesh.kind", .type = TESI_KEY_CHOICE, .target = AT(c.mesh.kind),
   .choices = WORDS("auto", "box", "forest"), .fallback = "auto",
   .help = "what the mesh is made of: box, a grid; forest, trees, which can be refined in places. auto: a box "
     "is a box unless there is `adapt` or `refine_where`, or it is periodic and a key of the solver is for trees; all "
     "else is a forest"},
  {.path = "mesh.box", .type = TESI_KEY_MAP, .help = "a rectangle or cuboid"},
  {.path = "mesh.box.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "the number of entries of `cells`", .help = "directions: 2 (x, y) or 3 (x, y, z)"},
  {.path = "mesh.box.cells", .type = TESI_KEY_INTEGERS, .target = AT(c.mesh.cells), .low = 1, .high = 1000000,
   .required = true, .help = "cells in each direction; multigrid halves any number of them"},
  {.path = "mesh.box.lower", .type = TESI_KEY_NUMBERS, .target = AT(c.mesh.lower), ANY, .fallback = "0",
   .help = "lower corner"},
  {.path = "mesh.box.upper", .type = TESI_KEY_NUMBERS, .target = AT(c.mesh.upper), ANY, .fallback = "1",
   .help = "upper corner, above the lower one in each direction"},
  {.path = "mesh.box.spacing", .type = TESI_KEY_MAP, .fallback_note = "equal cells", .help = "graded cells"},
  {.path = "mesh.box.spacing.x", .type = TESI_KEY_SPACING, .fallback_note = "equal cells",
   .help = "where the vertices lie: an expression in s that ascends from 0 at s = 0 to 1 at s = 1, or the list of all "
           "cells + 1 coordinates, ascending (`lower` and `upper` may then be left out)"},
  {.path = "mesh.box.spacing.y", .type = TESI_KEY_SPACING, .fallback_note = "equal cells", .help = "the same in y"},
  {.path = "mesh.box.spacing.z", .type = TESI_KEY_SPACING, .fallback_note = "equal cells", .help = "the same in z"},
  {.path = "mesh.box.periodic", .type = TESI_KEY_CHOICE, .target = AT(periodic), /* a bit per direction */
   .choices = WORDS("none", "x", "y", "xy", "z", "xz", "yz", "xyz"), .fallback = "none",
   .help = "directions in which opposite faces are one"},
  {.path = "mesh.ball", .type = TESI_KEY_MAP, .help = "a disk or ball; boundary: surface"},
  {.path = "mesh.ball.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "3", .help = "directions"},
  {.path = "mesh.ball.centre", .type = TESI_KEY_NUMBERS, .target = AT(c.mesh.centre), ANY,
   .fallback_note = "0", .help = "its centre"},
  {.path = "mesh.ball.radius", .type = TESI_KEY_NUMBER, .target = AT(c.mesh.radius), .low = 0,
   .high = DBL_MAX, .open = true,
   .fallback_note = "1", .help = "its radius"},
  {.path = "mesh.shell", .type = TESI_KEY_MAP, .help = "a ring or spherical shell; boundaries: inner, outer"},
  {.path = "mesh.shell.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "3", .help = "directions"},
  {.path = "mesh.shell.centre", .type = TESI_KEY_NUMBERS, .target = AT(c.mesh.centre), ANY,
   .fallback_note = "0", .help = "its centre"},
  {.path = "mesh.shell.radius", .type = TESI_KEY_NUMBER, .target = AT(c.mesh.radius), .low = 0,
   .high = DBL_MAX, .open = true,
   .fallback_note = "1", .help = "the outer radius"},
  {.path = "mesh.shell.inner_radius", .type = TESI_KEY_NUMBER, .target = AT(c.mesh.inner_radius), .low = 0,
   .high = DBL_MAX,
   .open = true, .fallback_note = "half the radius", .help = "the inner radius"},
  {.path = "mesh.l_shape", .type = TESI_KEY_MAP,
   .help = "(-1, 1)^2 without its lower right quarter; boundaries: outer, notch (3D: back, front)"},
  {.path = "mesh.l_shape.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "2", .help = "directions"},
  {.path = "mesh.fichera", .type = TESI_KEY_MAP, .help = "(-1, 1)^3 without one eighth; boundaries: outer, notch"},
  {.path = "mesh.fichera.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "3", .help = "directions"},
  {.path = "mesh.channel", .type = TESI_KEY_MAP,
   .help = "a channel round a cylinder; boundaries: inflow, outflow, walls, cylinder"},
  {.path = "mesh.channel.dim", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.dim), .low = 2, .high = 3,
   .fallback_note = "2", .help = "directions"},
  {.path = "mesh.file", .type = TESI_KEY_FILE, .target = AT(file), .fallback_note = "none",
   .help = "a Gmsh file of quadrilaterals or hexahedra (`split`: of others too), "
     "relative to the case's folder; its physical groups "
     "name boundaries and materials"},
  {.path = "mesh.split", .type = TESI_KEY_CHOICE, .target = AT(split), .choices = WORDS("false", "true"),
   .fallback = "false",
   .help = "true: all cells of the file are split at the middles of edges, faces and cells: triangles become 3 "
           "quadrilaterals, tetrahedra 4 hexahedra, prisms 6, also of second degree; with pyramids every cell becomes "
           "tetrahedra first"},
  {.path = "mesh.periodic", .type = TESI_KEY_CHOICE, .target = AT(file_periodic), .choices = WORDS("none", "file"),
   .fallback = "none", .help = "file: faces that the mesh file's $Periodic calls one are one"},
  {.path = "mesh.refine", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.refine), .low = 0, .high = 18, .fallback = "0",
   .help = "uniform refinements: times that all cells are halved in every direction"},
  {.path = "mesh.refine_where", .type = TESI_KEY_EXPRESSION, .target = AT(where), .fallback_note = "nowhere",
   .help = "cells in which this is positive at a vertex or the middle are refined further"},
  {.path = "mesh.refine_times", .type = TESI_KEY_INTEGER, .target = AT(refine_times), .low = 0, .high = 18,
   .fallback = "1",
   .help = "how often `refine_where` is applied"},
  {.path = "mesh.map", .type = TESI_KEY_VECTOR, .target = AT(map), .fallback_note = "none",
   .help = "where each point of the domain goes; the mesh is a forest, whose cells become polynomials of "
           "`geometry_degree`"},
  {.path = "mesh.geometry_degree", .type = TESI_KEY_INTEGER, .target = AT(c.mesh.geometry_degree), .low = 1, .high = 8,
   .fallback = "2", .help = "polynomial degree of curved cells"},

  {.path = "space", .type = TESI_KEY_MAP, .help = "the finite elements"},
  {.path = "space.degree", .type = TESI_KEY_INTEGER, .target = AT(c.problem.degree), .low = 1, .high = 20,
   .fallback = "4",
   .fallback_note = "4; rt: 2",
   .help = "polynomial degree per direction; 1 to 10 are specialised, higher ones are slower; rt: 1 to 15"},
  {.path = "space.element", .type = TESI_KEY_CHOICE, .target = AT(c.problem.element),
   .choices = tesi_element_words, .fallback = "auto",
   .help = "q: continuous; dg: discontinuous, poisson and transport on boxes; rt: Raviart-Thomas "
     "velocity and discontinuous pressure, flows on boxes; iso: Q1-iso-Q2/Q1, navier_stokes on boxes, whose pressure "
     "has one node per vertex of the mesh; auto: rt for stokes on boxes, else q"},

  {.path = "space.name", .type = TESI_KEY_NAME, .target = AT(c.problem.name), .fallback_note = "u",
   .help = "what u is called in files, pictures, tables and expressions, as temperature: its derivatives are "
     "then temperaturex .., in time temperaturet; u stays known"},
  {.path = "space.stabilization", .type = TESI_KEY_CHOICE, .target = AT(stabilization),
   .choices = tesi_stabilization_words, .fallback = "auto",
   .all_rows = true,
   .help = "transport: streamline terms (supg); auto: where the largest cell Peclet number is above 1; navier_stokes "
     "with element q: none (auto), or grad_div, 0.1 |u| h (div u, div v)"},

  {.path = "data", .type = TESI_KEY_MAP, .help = "the functions of the equation"},
  {.path = "data.f", .type = TESI_KEY_FIELD, .target = AT(f), .fallback = "1",
   .fallback_note = "1; flows, transport, elasticity: 0", .help = "right-hand side; flows, elasticity: a list"},
  {.path = "data.a", .type = TESI_KEY_MATRIX, .target = AT(a), .fallback = "1",
   .help = "diffusion, positive; a list of one per direction, or of the rows of a matrix, symmetric and positive "
     "definite, is a matrix a in div(a grad u): not of element dg"},
  {.path = "data.b", .type = TESI_KEY_VECTOR, .target = AT(b), .fallback_note = "0",
   .map_too = true, .help = "velocity, a list, or {file: FILE}"},
  {.path = "data.b.file", .type = TESI_KEY_FILE, .target = AT(c.b_file), .fallback_note = "none",
   .help = "the velocity of this checkpoint of a flow, whose mesh has all points of this one's; in time "
     "also a pattern, as flow-*.h5: the checkpoints of a run (output.checkpoint.keep), linear in time between two"},
  {.path = "data.c", .type = TESI_KEY_EXPRESSION, .target = AT(reaction), .fallback = "0",
   .help = "reaction, not negative"},
  {.path = "data.exact", .type = TESI_KEY_FIELD, .target = AT(exact), .fallback_note = "not known",
   .map_too = true,
   .help = "exact solution: the report tells the errors; elasticity: a list; flows: {velocity: [..], pressure: ..}"},
  {.path = "data.exact.velocity", .type = TESI_KEY_VECTOR, .target = AT(exact),
   .fallback_note = "not known", .help = "the exact velocity"},
  {.path = "data.exact.pressure", .type = TESI_KEY_EXPRESSION, .target = AT(exact_pressure),
   .fallback_note = "not known",
   .help = "the exact pressure; its mean does not matter where no face is open"},
  {.path = "data.initial", .type = TESI_KEY_EXPRESSION, .target = AT(initial), .map_too = true,
   .fallback_note = "data.exact, else 0",
   .help = "the solution at `time.start`, taken at the nodes; elasticity: {displacement: [..], velocity: [..]}; "
     "navier_stokes: {velocity: [..], pressure: ..}; or {file: FILE}"},
  {.path = "data.initial.file", .type = TESI_KEY_FILE, .target = AT(c.initial_file), .fallback_note = "none",
   .all_rows = true,
   .help = "the last state of this checkpoint, taken at the nodes: of transport u, of elasticity u and u_t, of "
     "navier_stokes velocity and pressure; its mesh has all points of this one's"},
  {.path = "data.initial.displacement", .type = TESI_KEY_VECTOR, .target = AT(initial),
   .fallback_note = "data.exact, else 0", .help = "u at `time.start`"},
  {.path = "data.initial.velocity", .type = TESI_KEY_VECTOR, .target = AT(initial_velocity),
   .fallback_note = "that of data.exact, else 0",
   .help = "at `time.start`: elasticity u_t, navier_stokes u, where at boundaries their values hold"},
  {.path = "data.initial.pressure", .type = TESI_KEY_EXPRESSION, .target = AT(initial_pressure),
   .fallback_note = "of the openings, else 0",
   .help = "the pressure"},
  {.path = "data.nu", .type = TESI_KEY_EXPRESSION, .target = AT(a), .fallback_note = "1",
   .help = "viscosity, positive; a number with element q and in time"},
  {.path = "data.alpha", .type = TESI_KEY_EXPRESSION, .target = AT(reaction), .fallback_note = "0",
   .help = "mass term, a number not negative"},
  {.path = "data.mean_velocity", .type = TESI_KEY_VECTOR, .target = AT(mean_velocity), .fallback_note = "none",
   .help = "a number or null per direction: the mean velocity that a uniform force "
     "keeps there, where the domain is periodic; the force is told"},
  {.path = "data.form", .type = TESI_KEY_CHOICE, .target = AT(form),
   .choices = tesi_form_words, .fallback = "auto",
   .help = "stokes: gradient, nu grad u, or symmetric, 2 nu eps(u); auto: symmetric where nu is not a number. "
     "transport: convective (auto), b . grad u, or conservative, div(b u)"},

  {.path = "data.lambda", .type = TESI_KEY_EXPRESSION, .target = AT(lambda), .fallback_note = "none",
   .help = "Lame's first constant, with `mu`: 3 lambda + 2 mu > 0 (2D: lambda + mu > 0)"},
  {.path = "data.mu", .type = TESI_KEY_EXPRESSION, .target = AT(a), .fallback_note = "none",
   .help = "the shear modulus, positive"},
  {.path = "data.young", .type = TESI_KEY_EXPRESSION, .target = AT(young), .fallback_note = "none",
   .help = "Young's modulus, positive, with `poisson` in the place of lambda and mu"},
  {.path = "data.poisson", .type = TESI_KEY_EXPRESSION, .target = AT(poisson), .fallback_note = "none",
   .help = "Poisson's ratio, between -1 and 1/2"},
  {.path = "data.plane", .type = TESI_KEY_CHOICE, .target = AT(c.problem.plane), .choices = WORDS("strain", "stress"),
   .fallback = "strain", .help = "in 2D: nothing moves out of the plane, or no stress acts out of it"},
  {.path = "data.density", .type = TESI_KEY_EXPRESSION, .target = AT(reaction), .fallback_note = "1",
   .help = "with `time`, `gravity` or `rotation`: mass a volume, positive"},
  {.path = "data.gravity", .type = TESI_KEY_VECTOR, .target = AT(gravity), .fallback_note = "none",
   .help = "acceleration, a list: density times it is added to f"},
  {.path = "data.rotation", .type = TESI_KEY_MAP, .fallback_note = "none",
   .help = "the body turns: density speed^2 times the way from the axis is added to f"},
  {.path = "data.rotation.speed", .type = TESI_KEY_EXPRESSION, .target = AT(speed), .required = true,
   .help = "angle per time, in radians"},
  {.path = "data.rotation.axis", .type = TESI_KEY_NUMBERS, .target = AT(rotation_axis), ANY,
   .fallback_note = "[0, 0, 1]",
   .help = "in 3D: the direction of the axis, of any length; in 2D the axis is along z"},
  {.path = "data.rotation.point", .type = TESI_KEY_NUMBERS, .target = AT(rotation_point), ANY, .fallback = "0",
   .help = "a point on the axis"},
  {.path = "data.temperature", .type = TESI_KEY_EXPRESSION, .target = AT(temperature), .fallback_note = "none",
   .help = "above that of the body without stress: thermal strain is expansion times temperature"},
  {.path = "data.expansion", .type = TESI_KEY_EXPRESSION, .target = AT(expansion), .fallback_note = "none",
   .help = "coefficient of thermal expansion, needed with `temperature`"},

  {.path = "data.materials", .type = TESI_KEY_MAP, .fallback_note = "none",
   .help = "NAME: {a, c, f} (elasticity: lambda, mu or young, poisson; density, f, "
     "expansion, temperature) for materials that a mesh file "
     "names; what is left out is as above. A box has none"},

  {.path = "boundary", .type = TESI_KEY_MAP,
   .help = "what holds on the faces of the box, or on boundaries by their names"},
  FACE("all", all, false, "dirichlet: 0",
       "faces without an entry of their own; where it is given, also those that a mesh file gives no name; where "
       "it is not, solve and check tell which faces have the default"),
  FACE("left", face[0], false, "as `all`", "the face x = lower"),
  FACE("right", face[1], false, "as `all`", "the face x = upper"),
  FACE("bottom", face[2], false, "as `all`", "the face y = lower"),
  FACE("top", face[3], false, "as `all`", "the face y = upper"),
  FACE("back", face[4], false, "as `all`", "the face z = lower; 3D only"),
  FACE("front", face[5], false, "as `all`", "the face z = upper; 3D only"),

  {.path = "time", .type = TESI_KEY_MAP, .fallback_note = "none",
   .help = "the solution in time; f, boundary values and data.exact may then "
     "depend on t"},
  {.path = "time.start", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.start), ANY, .fallback = "0",
   .help = "where it begins"},
  {.path = "time.end", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.end), ANY, .required = true,
   .help = "where it ends"},
  {.path = "time.step", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.step), .low = 0, .high = DBL_MAX,
   .open = true, .fallback_note = "none",
   .all_rows = true,
   .help = "longest length of a step; all steps are equal, and the last one ends at time.end"},
  {.path = "time.cfl", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.cfl), .low = 0, .high = 10,
   .open = true, .fallback_note = "navier_stokes without step: 0.3, element rt 0.5",
   .help = "instead of `step`: distances of nodes that the flow crosses a step at most"},
  {.path = "time.tolerance", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.tolerance), .low = 0, .high = 1,
   .open = true, .fallback_note = "none",
   .help = "by bdf2, imex_bdf2, newmark and generalized_alpha, instead of `step`: the "
     "local error of a step in L2, of the velocity, relative to the largest solution so far"},
  {.path = "time.max_step", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.max_step), .low = 0, .high = DBL_MAX,
   .open = true, .fallback_note = "a hundredth of the time", .help = "with cfl and tolerance: the longest step"},
  {.path = "time.min_step", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.min_step), .low = 0, .high = DBL_MAX,
   .open = true, .fallback_note = "none", .help = "the same: a shorter step ends the run, exit status 1"},
  {.path = "time.steady", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.steady), .low = 0, .high = DBL_MAX,
   .fallback = "0",
   .all_rows = true,
   .help = "end earlier where the change a unit of time is this fraction of the largest solution so far, both in "
     "L2; 0: never"},
  {.path = "time.method", .type = TESI_KEY_CHOICE, .target = AT(c.problem.time.method),
   .choices = tesi_time_method_words,
   .fallback = "auto",
   .help = "formula of a step (docs/time.md); auto: bdf2; elasticity: backward_euler, newmark or "
     "generalized_alpha (auto); navier_stokes: auto, imex_bdf2, with element rt imex_bdf3, with element iso explicit"},
  {.path = "time.rho_inf", .type = TESI_KEY_NUMBER, .target = AT(c.problem.time.rho_inf), .low = 0, .high = 1,
   .fallback = "0.8",
   .help = "generalized_alpha: what a step leaves of the highest frequencies; 1: the trapezoidal rule"},

  {.path = "solver", .type = TESI_KEY_MAP, .help = "how the system is solved"},
  {.path = "solver.method", .type = TESI_KEY_CHOICE, .target = SOLVER(method),
   .choices = tesi_method_words,
   .fallback = "auto", .help = "V-cycles, full multigrid, or a Krylov method preconditioned by a V-cycle; direct: fast "
     "diagonalization of a whole box with constant coefficients, else sparse factors (MUMPS)"},
  {.path = "solver.smoother", .type = TESI_KEY_CHOICE, .target = SOLVER(smoother),
   .choices = tesi_smoother_words,
   .fallback = "auto",
   .help = "vertex patches (multiplicative or damped additive), a point smoother, or on meshes of trees "
     "patches of cells, or of lines of stretched cells; transport: incomplete factors, cells in the order of the flow"},
  {.path = "solver.local_solver", .type = TESI_KEY_CHOICE, .target = SOLVER(local),
   .choices = tesi_local_words, .fallback = "auto",
   .help = "a on each patch: as it is (constant a), its mean, its mean scaled safely, its best separable fit, its "
     "square root at the nodes; stokes: exact, conjugate gradients on each patch, or its dense inverse"},
  {.path = "solver.order", .type = TESI_KEY_CHOICE, .target = SOLVER(order),
   .choices = tesi_order_words,
   .fallback = "auto", .help = "order of the patches after the coarse correction, compared with before"},
  {.path = "solver.pre_smoothing", .type = TESI_KEY_INTEGER, .target = AT(pre), .low = 0, .high = 100,
   .automatic = true, .fallback = "auto", .help = "sweeps before the coarse correction"},
  {.path = "solver.post_smoothing", .type = TESI_KEY_INTEGER, .target = AT(post), .low = 0, .high = 100,
   .automatic = true, .fallback = "auto", .help = "sweeps after it"},
  {.path = "solver.smoother_degree", .type = TESI_KEY_INTEGER, .target = SOLVER(smoother_degree), .low = 1, .high = 100,
   .fallback_note = "that of the smoother; elasticity: 5",
   .help = "degree of the polynomial of chebyshev, and of that over patches of cell_patch and line_patch"},
  {.path = "solver.colours", .type = TESI_KEY_CHOICE, .target = SOLVER(colours),
   .choices = WORDS("parquet", "red_black", "lexicographic"), .fallback = "parquet",
   .help = "colours of the patches: 2^dim, twice as many, of patches that share no face, or 2^dim in "
           "the order of their numbers"},
  {.path = "solver.penalty", .type = TESI_KEY_CHOICE, .target = SOLVER(penalty),
   .choices = WORDS("auto", "standard", "paper"), .fallback = "auto",
   .help = "penalty of jumps: k (k + 1) / h; auto: twice that at boundaries for degree 1; "
     "paper: (k + 1)(k + 2) / h"},
  {.path = "solver.coarse", .type = TESI_KEY_CHOICE, .target = SOLVER(coarse),
   .choices = tesi_coarse_words,
   .fallback = "auto",
   .help = "the coarsest level: dense factors, conjugate gradients with algebraic multigrid (hypre) or with the "
     "diagonal, sparse factors (MUMPS), or cycles of smoothed aggregation"},
  {.path = "solver.coarsening", .type = TESI_KEY_CHOICE, .target = SOLVER(coarsening),
   .choices = tesi_coarsening_words,
   .fallback = "auto",
   .help = "what is coarsened first on meshes of trees: refinements are taken back, or the degree is halved; auto: "
     "the degree, from 5 on, where cells are sheared"},
  {.path = "solver.tolerance", .type = TESI_KEY_NUMBER, .target = SOLVER(tolerance), .low = 0, .high = 1, .open = true,
   .fallback = "1e-9", .fallback_note = "1e-9; with `time` 1e-3",
   .help = "stop when the residual is this fraction of the right-hand side, or of what `tolerance_of` says"},
  {.path = "solver.tolerance_of", .type = TESI_KEY_CHOICE, .target = SOLVER(tolerance_of),
   .choices = WORDS("auto", "step", "load"), .fallback = "auto",
   .help = "with `time`: step (auto), the residual of the old solution with the new boundary values; load, that of the "
     "boundary values alone"},
  {.path = "solver.guess", .type = TESI_KEY_INTEGER, .target = AT(guess), .low = 0, .high = 4, .fallback = "3",
   .help = "with `time`: old solutions from which a solve starts, extrapolated or, of transport with tolerances below "
     "1e-3, combined to the least residual; 0: it starts from zero"},
  {.path = "solver.max_iterations", .type = TESI_KEY_INTEGER, .target = SOLVER(max_iterations), .low = 1,
   .high = 1000000,
   .fallback = "100", .help = "give up after so many iterations"},
  {.path = "solver.precision", .type = TESI_KEY_CHOICE, .target = SOLVER(precision),
   .choices = WORDS("mixed", "double", "single"),
   .fallback = "mixed", .help = "mixed: multigrid in single inside a method in double precision"},
  {.path = "solver.deterministic", .type = TESI_KEY_CHOICE, .target = AT(c.deterministic),
   .choices = WORDS("false", "true"), .fallback = "false",
   .help = "true: the same bits for the same case, device and number of threads, as `--deterministic`"},

  {.path = "adapt", .type = TESI_KEY_MAP, .fallback_note = "none",
   .all_rows = true, .help = "refinement where the error is"},
  {.path = "adapt.estimator", .type = TESI_KEY_CHOICE, .target = AT(c.adapt.estimator),
   .choices = WORDS("residual", "dwr"),
   .fallback = "residual",
   .all_rows = true, .help = "residual: for the energy norm; dwr: dual-weighted residuals, for the goal"},
  {.path = "adapt.goal", .type = TESI_KEY_MAP, .fallback_note = "none",
   .help = "what dwr is to find, exactly one: `point`, `mean`, `integral` or `force`"},
  {.path = "adapt.goal.point", .type = TESI_KEY_NUMBERS, .target = AT(c.adapt.goal.point), ANY, .fallback_note = "none",
   .help = "the value of u, or of what `of` says, at this point"},
  {.path = "adapt.goal.mean", .type = TESI_KEY_NAME, .target = AT(goal[0]), .fallback_note = "none",
   .help = "the mean of u over domain, or the boundary, which is not Dirichlet, or material of this name"},
  {.path = "adapt.goal.integral", .type = TESI_KEY_NAME, .target = AT(goal[1]), .fallback_note = "none",
   .help = "the integral of u over the same"},
  {.path = "adapt.goal.force", .type = TESI_KEY_NAME, .target = AT(goal[2]), .fallback_note = "none",
   .help = "the force of the support of this name on the body"},
  {.path = "adapt.goal.of", .type = TESI_KEY_NAME, .target = AT(goal_of), .fallback_note = "u; force: x",
   .help = "elasticity: the component of the displacement, u, v or w; of a force the direction, x, y or z. Of a point "
     "also an expression that is linear in the solution and its derivatives: ux, sxx, sxx + syy"},
  {.path = "adapt.marking", .type = TESI_KEY_CHOICE, .target = AT(c.adapt.marking),
   .choices = WORDS("bulk", "fraction"),
   .fallback = "bulk",
   .help = "bulk: the cells that make up a fraction of the estimate; fraction: a fraction of the cells"},
  {.path = "adapt.fraction", .type = TESI_KEY_NUMBER, .target = AT(c.adapt.fraction), .low = 0.001, .high = 1,
   .fallback_note = "0.5 (bulk), 0.2 (fraction)", .help = "that fraction"},
  {.path = "adapt.steps", .type = TESI_KEY_INTEGER, .target = AT(c.adapt.steps), .low = 1, .high = 1000,
   .fallback = "10",
   .help = "solves at most"},
  {.path = "adapt.tolerance", .type = TESI_KEY_NUMBER, .target = AT(c.adapt.tolerance), .low = 0,
   .high = DBL_MAX, .fallback = "0",
   .help = "stop when the estimate, for a goal the sum of absolute indicators, is not above this; one missed "
     "is exit status 1; 0: no tolerance"},
  {.path = "adapt.max_dofs", .type = TESI_KEY_INTEGER, .target = AT(max_dofs), .low = 0, .high = 2147483647,
   .fallback = "0",
   .help = "no mesh with more unknowns is solved; 0: no limit"},
  {.path = "adapt.every", .type = TESI_KEY_INTEGER, .target = AT(c.adapt.every), .low = 1, .high = 1000000000,
   .fallback_note = "when the flow has crossed two cells",
   .help = "with `time`: the mesh is changed after so many steps"},
  {.path = "adapt.max_level", .type = TESI_KEY_INTEGER, .target = AT(c.adapt.max_level), .low = 1, .high = 18,
   .fallback_note = "none", .help = "with `time`: refinements above the first mesh, at most; needed without max_dofs"},

  {.path = "output", .type = TESI_KEY_MAP, .help = "files to write, relative to the working folder"},
  {.path = "output.folder", .type = TESI_KEY_FILE, .target = AT(c.folder), .fallback_note = "the working folder",
   .help = "where the files below go, made where it is missing; absolute names and files of options stay where they "
     "are"},
  {.path = "output.vtu", .type = TESI_KEY_FILE, .target = AT(c.vtu), .fallback_note = "none",
   .map_too = true, .help = "the solution for ParaView; of steps, in time or adaptive, a file each, and a list of "
     "them; in time FILE or {file, every}"},
  {.path = "output.vtu.file", .type = TESI_KEY_FILE, .target = AT(c.vtu), .required = true,
   .help = "its name"},
  {.path = "output.vtu.every", .type = TESI_KEY_EVERY, .target = AT(c.vtu_every),
   .fallback_note = "start, end and 50 between",
   .help = "in time: how often; with minutes numbers of files are those of steps"},
  {.path = "output.vtkhdf", .type = TESI_KEY_FILE, .target = AT(c.vtkhdf), .fallback_note = "none",
   .map_too = true, .help = "the same fields as HDF5 for ParaView, all steps in one file; in time FILE or {file, "
     "every}"},
  {.path = "output.vtkhdf.file", .type = TESI_KEY_FILE, .target = AT(c.vtkhdf), .required = true,
   .help = "its name"},
  {.path = "output.vtkhdf.every", .type = TESI_KEY_EVERY, .target = AT(c.vtkhdf_every),
   .fallback_note = "start, end and 50 between", .help = "in time: how often"},
  {.path = "output.series", .type = TESI_KEY_FILE, .target = AT(c.series), .fallback_note = "none", .map_too = true,
   .all_rows = true,
   .help = "in time: a CSV file with a row a step, FILE or {file, every}: time, step, dt, iterations, cells, dofs, the "
     "fields at output.points, output.values"},
  {.path = "output.series.file", .type = TESI_KEY_FILE, .target = AT(c.series), .required = true,
   .help = "its name"},
  {.path = "output.series.every", .type = TESI_KEY_EVERY, .target = AT(c.series_every), .fallback_note = "1",
   .help = "how often"},
  {.path = "output.average", .type = TESI_KEY_MAP, .fallback_note = "none",
   .all_rows = true,
   .help = "in time: mean, rms, least, largest and main frequency of output.values over all steps; navier_stokes "
     "with element q: also means of the fields and of their squares"},
  {.path = "output.average.from", .type = TESI_KEY_NUMBER, .target = AT(c.average_from), ANY, .required = true,
   .help = "the time when they begin"},
  {.path = "output.checkpoint", .type = TESI_KEY_FILE, .target = AT(c.checkpoint), .fallback_note = "none",
   .map_too = true,
   .all_rows = true,
   .help = "mesh and solution, after each step of an adaptive solve, as HDF5, with which `tessera solve "
     "--restart` goes on; in time FILE or {file, every}, with the histories of the steps"},
  {.path = "output.checkpoint.file", .type = TESI_KEY_FILE, .target = AT(c.checkpoint), .required = true,
   .help = "its name"},
  {.path = "output.checkpoint.every", .type = TESI_KEY_EVERY, .target = AT(c.checkpoint_every),
   .fallback_note = "{minutes: 10}", .help = "in time: how often; and at the end"},
  {.path = "output.checkpoint.keep", .type = TESI_KEY_CHOICE, .target = AT(c.checkpoint_keep),
   .choices = WORDS("false", "true"), .fallback = "false",
   .help = "true: in time, of each one a copy stays as FILE-NNN.h5, NNN being the step, and one of the start"},
  {.path = "output.json", .type = TESI_KEY_FILE, .target = AT(c.json), .fallback_note = "none",
   .help = "the report; - is the standard output"},
  {.path = "output.points", .type = TESI_KEY_POINTS, ANY, .fallback_note = "none",
   .all_rows = true,
   .help = "the solution at these points, told and in the report; one outside of the mesh by less than a "
     "hundredth of a cell is moved to it"},
  {.path = "output.values", .type = TESI_KEY_VALUES, ANY, .fallback_note = "none",
   .all_rows = true,
   .help = "numbers of the solution, told and in the report: {KIND: WHERE, of: EXPRESSION}, see below"},
  {.path = "output.lines", .type = TESI_KEY_LINES, ANY, .fallback_note = "none",
   .help = "the solution along lines, as CSV: s, x, y (, z), then the fields"},
  {.path = "output.png", .type = TESI_KEY_PICTURE, ANY, .fallback_note = "none",
   .help = "a picture: FILE (PNG; SVG or PDF if it ends in .svg or .pdf), or {file (or --png FILE), of (u), slice "
     "(3D: z=0.5), edges (false), width (900), every (1), range ([least, largest]), colours (auto; viridis, "
     "diverging), title, warp (elasticity: points are drawn at x + warp times displacement), arrows (true: of velocity "
     "or displacement; a list of expressions, as [-ux, -uy])}; one per step of an adaptive solve; in time as "
     "output.vtu"},
  {.path = "output.film", .type = TESI_KEY_FILE, .target = AT(c.film), .fallback_note = "none",
   .help = "in time, and of adaptive solves: the pictures of output.png, which are PNG files, one after the other, ten "
     "a second, as one animated PNG"},
  {.path = "output.plot", .type = TESI_KEY_PICTURE, ANY, .fallback_note = "none",
   .all_rows = true,
   .help = "in time: a figure (SVG, or PDF where FILE ends in .pdf) of output.values over time: FILE, or {file, of: "
     "[names of values] (all)}; it is drawn at the end from output.series, with the rows of before a restart; "
     "values whose sizes differ by more than a factor of ten have a panel each"},
};
/* clang-format on */

const int tesi_case_key_count = sizeof tesi_case_keys / sizeof *tesi_case_keys;

int tesi_case_row(const char *path) {
  for (int i = 0; i < tesi_case_key_count; i++)
    if (!strcmp(tesi_case_keys[i].path, path)) return i;
  return -1;
}

const char *tesi_key_name(const TesiKey *key) {
  const char *dot = strrchr(key->path, '.');
  return dot ? dot + 1 : key->path;
}

bool tesi_case_is_child(int row, int parent) {
  const char *path = tesi_case_keys[row].path, *rest = path;
  if (parent >= 0) {
    const size_t length = strlen(tesi_case_keys[parent].path);
    if (strncmp(path, tesi_case_keys[parent].path, length) || path[length] != '.') return false;
    rest = path + length + 1;
  }
  return !strchr(rest, '.');
}
