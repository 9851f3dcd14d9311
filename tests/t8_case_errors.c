/* Run: ctest -R t8_case_errors. Wrong case files: what is told, and where. */
#include <stdio.h>
#include <string.h>
#include "bare_testing.h"
#include "tessera/case.h"

#define FLOW "problem: stokes\nmesh: {box: {cells: [4, 4]}}\n"
#define HEAD "problem: poisson\nmesh: {box: {dim: 2, cells: [4, 4]}}\n"
#define IN_TIME "problem: navier_stokes\nmesh: {box: {cells: [4, 4]}}\n"
#define TIMED "problem: transport\nmesh: {box: {dim: 2, cells: 4}}\n"

static const struct {
  const char *text, *message; /* the whole message, or its beginning where it ends in "..." */
} wrong[] = {
    {"", "a.yaml:1:1: problem: is missing: the equation..."},
    {"- 1\n- 2\n",
     "a.yaml:1:1: expected keys with values (problem, constants, units, tables, mesh, space, data, "
     "boundary, time, solver, "
     "adapt, output), got a list"},
    {"poisson",
     "a.yaml:1:1: expected keys with values (problem, constants, units, tables, mesh, space, data, "
     "boundary, time, solver, "
     "adapt, output), got a single value"},
    {"problem: poisson\n", "a.yaml:1:1: mesh: is missing: the domain and its cells"},
    {"problem: poisson\nmesh:\n", "a.yaml:2:1: mesh: is missing: the domain and its cells"},
    {"problem: poisson\nmesh: {box: {dim: 2}}\n",
     "a.yaml:2:13: mesh.box.cells: is missing: cells in each direction..."},
    {"problem: poison\nmesh: {box: {cells: [4, 4]}}",
     "a.yaml:1:10: problem: expected poisson, stokes, transport, elasticity or navier_stokes, got 'poison'; "
     "did you mean "
     "'poisson'?"},
    {"problem: [poisson]\nmesh: {box: {cells: [4, 4]}}",
     "a.yaml:1:10: problem: expected poisson, stokes, transport, elasticity or navier_stokes, got a list"},
    {FLOW "data: {nu: 0, alpha: x}", "a.yaml:3:12: data.nu: expected a number > 0, got '0'\n"
                                     "a.yaml:3:22: data.alpha: expected a number >= 0, got 'x'"},
    {FLOW "data: {f: 1}", "a.yaml:3:11: data.f: expected a list of expressions, one per direction"},
    {FLOW "data: {f: [1, 2, 3]}", "a.yaml:3:11: data.f: expected 2 entries, as dim is 2, got 3"},
    {FLOW "data: {exact: x}", "a.yaml:3:15: data.exact: expected {velocity: [..], pressure: ..}"},
    {FLOW "data: {alpha: -1}", "a.yaml:3:15: data.alpha: expected a number >= 0, got '-1'"},
    {FLOW "data: {exact: {velocity: [0]}}",
     "a.yaml:3:26: data.exact.velocity: expected 2 entries, as dim is 2, got 1"},
    {FLOW "space: {degree: 0}", "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '0'"},
    {FLOW "space: {degree: 16}",
     "a.yaml:3:17: space.degree: expected 1 to 15 for stokes with element rt, got 16"},
    {FLOW "space: {element: dg}",
     "a.yaml:3:18: space.element: stokes has the elements rt and q; dg belongs to poisson and transport"},
    {FLOW "space: {element: q, degree: 1}",
     "a.yaml:3:29: space.degree: expected 2 to 8 for stokes with element q, got 1"},
    {FLOW "space: {element: q}\ndata: {nu: 1 + x}",
     "a.yaml:4:12: data.nu: expected a number > 0, got '1 + x'"},
    {IN_TIME "time: {end: 1, step: 0.1}\nspace: {element: iso, degree: 2}",
     "a.yaml:4:31: space.degree: expected 1 for navier_stokes with element iso, got 2"},
    {IN_TIME "time: {end: 1, step: 0.1, method: explicit}",
     "a.yaml:3:35: time.method: navier_stokes with element q has auto and imex_bdf2; explicit belongs to "
     "navier_stokes with element iso"},
    {"problem: poisson\nmesh: {box: {cells: [4, 4]}}\nspace: {element: iso}",
     "a.yaml:3:18: space.element: poisson has the elements q and dg; iso belongs to navier_stokes"},
    {FLOW "space: {element: rt}\nadapt: {steps: 2}", "a.yaml:4:8: adapt: element rt is for boxes of kind "
                                                     "box, without adapt, refine_where and map; other meshes "
                                                     "have q"},
    {"problem: stokes\nmesh: {box: {cells: [4, 4]}, map: [x + y, y]}\nspace: {element: rt}",
     "a.yaml:2:35: mesh.map: element rt is for boxes of kind box, without adapt..."},
    {"problem: stokes\nmesh: {box: {cells: [4, 4]}, refine_where: x - 0.5}\nspace: {element: rt}",
     "a.yaml:2:44: mesh.refine_where: element rt is for boxes of kind box, without adapt..."},
    {FLOW "space: {element: q}\ndata: {nu: -1}", "a.yaml:4:12: data.nu: expected a number > 0, got '-1'"},
    {FLOW "adapt: {estimator: dwr, goal: {point: [0.5, 0.5]}}",
     "a.yaml:3:20: adapt.estimator: dwr belongs to poisson with element q, transport with element q, and "
     "elasticity; flows have residual"},
    {"problem: stokes\nmesh: {kind: forest, box: {cells: [4, 4]}}\nspace: {element: rt}\n",
     "a.yaml:2:7: mesh: element rt is for boxes of kind box, without adapt..."},
    {"problem: stokes\nmesh: {l_shape: {dim: 2}}\nspace: {element: rt}\n",
     "a.yaml:2:7: mesh: element rt is for boxes of kind box, without adapt..."},
    {HEAD "space: {element: rt}",
     "a.yaml:3:18: space.element: poisson has the elements q and dg; rt belongs to stokes and navier_stokes"},
    {TIMED "space: {element: dg, stabilization: supg}",
     "a.yaml:3:37: space.stabilization: transport with element dg has auto and none, because its upwind "
     "traces need no more; supg belongs to transport with element q"},
    {"problem: poisson\nmesh: {l_shape: {dim: 2}}\nspace: {element: dg}",
     "a.yaml:2:7: mesh: element dg is for boxes of kind box, without adapt..."},
    {HEAD "space: {element: dg}\nadapt: {steps: 2}",
     "a.yaml:4:8: adapt: element dg is for boxes of kind box, without adapt..."},
    {IN_TIME "time: {end: 1, step: 0.1}\nspace: {element: rt}\nadapt: {every: 2, max_level: 2}",
     "a.yaml:5:8: adapt: element rt is for boxes of kind box, without adapt..."},
    {"problem: navier_stokes\nmesh: {l_shape: {dim: 2}}\ntime: {end: 1, step: 0.1}\nspace: {element: iso}",
     "a.yaml:2:7: mesh: element iso is for boxes of kind box, without adapt..."},
    {HEAD "space: {element: dg, degree: 16}",
     "a.yaml:3:30: space.degree: expected 1 to 15 for poisson with element dg, got 16"},
    {FLOW "data: {a: 2}", "a.yaml:3:11: data.a: belongs to poisson and transport"},
    {FLOW "boundary: {top: {dirichlet: 0}}", "a.yaml:3:17: boundary.top: stokes with element rt has "
                                             "velocity, slip, outflow, pressure and symmetry; dirichlet "
                                             "belongs to poisson and transport"},
    {FLOW "boundary: {top: {velocity: [1, 0, 0]}}",
     "a.yaml:3:28: boundary.top.velocity: expected 2 entries, as dim is 2, got 3"},
    {FLOW "boundary: {top: {outflow: 1}}",
     "a.yaml:3:27: boundary.top.outflow: expected 0 or a list of 2 expressions"},
    {HEAD "boundary: {top: slip}", "a.yaml:3:17: boundary.top: poisson with element q has dirichlet, neumann "
                                   "and robin; slip belongs to stokes and navier_stokes"},
    {HEAD "boundary: {top: {flux: 1}}", "a.yaml:3:17: boundary.top: poisson with element q has dirichlet, "
                                        "neumann and robin; flux belongs to transport"},
    {"problem: elasticity\nmesh: {box: {cells: [4, 4]}}\ndata: {lambda: 1, mu: 1, form: symmetric}",
     "a.yaml:3:32: data.form: symmetric belongs to stokes, and navier_stokes with element q"},
    {IN_TIME "time: {end: 1, cfl: 0.5, max_step: 0.1, min_step: 1}",
     "a.yaml:3:51: time.min_step: expected at most time.max_step"},
    {"problem: elasticity\nmesh: {box: {cells: [4, 4]}}\ndata: {young: 1, poisson: 0.3}\ntime: {end: 1, cfl: "
     "1}",
     "a.yaml:4:21: time.cfl: belongs to transport and navier_stokes; nothing flows "
     "through a body: take time.step or time.tolerance"},
    {HEAD "data: {form: conservative}", "a.yaml:3:14: data.form: conservative belongs to transport"},
    {FLOW "data: {form: conservative}", "a.yaml:3:14: data.form: stokes with element rt has auto, gradient "
                                        "and symmetric; conservative belongs to transport"},
    {HEAD "time: {end: 1, step: 0.1}\n",
     "a.yaml:3:7: time: belongs to transport, elasticity and navier_stokes; poisson is steady"},
    {HEAD "data: {initial: 0}\n",
     "a.yaml:3:17: data.initial: belongs to problems in time, that is, with `time`"},
    {HEAD "output: {vtu: {file: a.vtu, every: 3}}\n",
     "a.yaml:3:36: output.vtu.every: belongs to problems in time, that is, with `time`"},
    {HEAD "output: {png: {file: a.png, every: {time: 3}}}\n",
     "a.yaml:3:36: output.png.every: {time: ..} belongs to problems in time, that is, with `time`"},
    {HEAD "data: {b: [1, 0]}\n", "a.yaml:3:11: data.b: belongs to transport"},
    {HEAD "space: {stabilization: supg}\n",
     "a.yaml:3:24: space.stabilization: supg belongs to transport with element q"},
    {HEAD "space: {stabilization: grad_div}\n",
     "a.yaml:3:24: space.stabilization: grad_div belongs to navier_stokes with element q"},
    {TIMED "data: {b: [1, 0, 0]}\n", "a.yaml:3:11: data.b: expected 2 entries, as dim is 2, got 3"},
    {TIMED "data: {b: 1}\n",
     "a.yaml:3:11: data.b: expected a list of expressions, one per direction, got '1'"},
    {TIMED "boundary: {right: {outflow: 1}}\n",
     "a.yaml:3:29: boundary.right.outflow: expected 0: transport has no other outflow"},
    {TIMED "data: {b: [1, 0]}\nadapt: {estimator: dwr, goal: {force: left}}\n",
     "a.yaml:4:39: adapt.goal.force: belongs to elasticity; u is a scalar"},
    {TIMED "adapt: {estimator: dwr, goal: {mean: left, of: ux}}\n",
     "a.yaml:3:48: adapt.goal.of: other functions than u belong to points, and to elasticity"},
    {"problem: elasticity\ndata: {lambda: 1, mu: 1}\nmesh: {box: {cells: [4, 4]}}\nadapt: {estimator: dwr, "
     "goal: {mean: left, integral: right}}\n",
     "a.yaml:4:31: adapt.goal: dual-weighted residuals need one goal: point, mean, integral or force"},
    {HEAD "solver: {smoother: jacobi, smoother_degree: 3}\n",
     "a.yaml:3:45: solver.smoother_degree: is for the polynomials of smoother: chebyshev, cell_patch or "
     "line_patch"},
    {HEAD "solver: {smoother_degree: 0}\n",
     "a.yaml:3:27: solver.smoother_degree: expected an integer from 1 to 100, got '0'"},
    {TIMED "time: {end: 1}\n", "a.yaml:3:7: time.step: is missing: longest length of a step..."},
    {TIMED "time: {step: 1}\n", "a.yaml:3:7: time.end: is missing: where it ends"},
    {TIMED "time: {start: 2, end: 1, step: 0.1}\n",
     "a.yaml:3:23: time.end: expected more than time.start, 2, got 1"},
    {TIMED "time: {end: 1, step: 0}\n", "a.yaml:3:22: time.step: expected a number > 0, got '0'"},
    {TIMED "time: {end: 1, step: 1e-9}\n", "a.yaml:3:22: time.step: makes 1e+09 steps, expected at most 1e8"},
    {TIMED "time: {end: 1, step: 0.1, method: bdf5}\n", "a.yaml:3:35: time.method: expected auto..."},
    {TIMED "time: {end: 1, step: 0.1}\nadapt: {every: 2}\n",
     "a.yaml:4:8: adapt.max_level: is missing: with `time` this or max_dofs bounds the mesh"},
    {TIMED "time: {end: 1, step: 0.1}\nadapt: {max_level: 2}\n",
     "a.yaml:4:8: adapt.every: is missing: without a velocity no flow says when the mesh changes"},
    {TIMED "time: {end: 1, step: 0.1}\noutput: {series: {file: a.csv, every: {steps: 3}}}\n",
     "a.yaml:4:39: output.series.every: expected a number of steps, {time: a number > 0} or {minutes: "
     "a number > 0}"},
    {TIMED "time: {end: 1, step: 0.1}\nsolver: {guess: 5}\n",
     "a.yaml:4:17: solver.guess: expected an integer from 0 to 4, got '5'"},
    {HEAD "data: {nu: 1}", "a.yaml:3:12: data.nu: belongs to stokes and navier_stokes"},
    {IN_TIME "space: {degree: 2}", "a.yaml: time: is missing: navier_stokes is solved in time"},
    {IN_TIME "time: {end: 1, step: 0.1, cfl: 0.5}",
     "a.yaml:3:32: time.cfl: expected one of step, cfl and tolerance, got more"},
    {IN_TIME "time: {end: 1, step: 0.1, max_step: 1}",
     "a.yaml:3:37: time.max_step: belongs to steps that differ: with cfl or tolerance in the place of step"},
    {IN_TIME "time: {end: 1}\nspace: {element: dg}",
     "a.yaml:4:18: space.element: navier_stokes has the elements q..."},
    {IN_TIME "time: {end: 1}\nspace: {element: rt, degree: 9}",
     "a.yaml:4:30: space.degree: expected 1 to 8 for navier_stokes with element rt, got 9"},
    {IN_TIME "time: {end: 1, method: bdf2}\nspace: {element: rt}",
     "a.yaml:3:24: time.method: navier_stokes with element rt has auto, imex_bdf2 and imex_bdf3; bdf2 "
     "belongs to transport"},
    {"problem: navier_stokes\nmesh: {l_shape: {dim: 2}}\ntime: {end: 1}\nspace: {element: rt}",
     "a.yaml:2:7: mesh: element rt is for boxes of kind box, without adapt..."},
    {IN_TIME "time: {end: 1}\nspace: {degree: 1}",
     "a.yaml:4:17: space.degree: expected 2 to 8 for navier_stokes with element q, got 1"},
    {IN_TIME "time: {end: 1}\ndata: {nu: 0}", "a.yaml:4:12: data.nu: expected a number > 0, got '0'"},
    {IN_TIME "time: {end: 1}\ndata: {nu: x}", "a.yaml:4:12: data.nu: expected a number > 0, got 'x'"},
    {IN_TIME "time: {end: 1}\ndata: {alpha: 1}", "a.yaml:4:15: data.alpha: belongs to stokes"},
    {IN_TIME "time: {end: 1}\ndata: {initial: 1}",
     "a.yaml:4:17: data.initial: expected {velocity: [..], pressure: ..} or {file: FILE}"},
    {IN_TIME "time: {end: 1}\ndata: {mean_velocity: [1, x]}",
     "a.yaml:4:23: data.mean_velocity: expected a number or null in entry 2, got 'x'"},
    {IN_TIME "time: {end: 1}\ndata: {mean_velocity: [1, null, null]}",
     "a.yaml:4:23: data.mean_velocity: expected 2 entries, as dim is 2, got 3"},
    {IN_TIME "time: {end: 1}\ndata: {mean_velocity: [null, null]}",
     "a.yaml:4:23: data.mean_velocity: expected a number in some direction"},
    {FLOW "data: {mean_velocity: [1, 0]}", "a.yaml:3:23: data.mean_velocity: belongs to navier_stokes with "
                                           "element q or rt; it is kept from step to step"},
    {IN_TIME "time: {end: 1}\noutput: {average: {from: 1}}",
     "a.yaml:4:26: output.average.from: expected less than time.end, 1, got 1"},
    {IN_TIME "time: {end: 1}\noutput: {average: {since: 1}}",
     "a.yaml:4:20: output.average: unknown key 'since'..."},
    {IN_TIME "time: {end: 1}\noutput: {values: {a: {mean: domain, of: mean_u}}}",
     "a.yaml:4:41: output.values.a.of:..."},
    {HEAD "output: {average: {from: 0}}",
     "a.yaml:3:19: output.average: belongs to problems in time, that is, with `time`"},
    {IN_TIME "time: {end: 1, method: bdf3}", "a.yaml:3:24: time.method: navier_stokes with element q has "
                                             "auto and imex_bdf2; bdf3 belongs to transport"},
    {IN_TIME "time: {end: 1}\nboundary: {top: {velocity: [1, 0, 0]}}",
     "a.yaml:4:28: boundary.top.velocity: expected 2 entries, as dim is 2, got 3"},
    {IN_TIME "time: {end: 1}\nboundary: {top: {velocity: [null, null]}}",
     "a.yaml:4:17: boundary.top: no component of the velocity is given: that is outflow"},
    {IN_TIME "time: {end: 1}\nboundary: {top: {velocity: [1, 0], slip: true, priority: 1}}",
     "a.yaml:4:17: boundary.top: expected exactly one of..."},
    {IN_TIME "time: {end: 1}\nboundary: {top: {dirichlet: 1}}",
     "a.yaml:4:17: boundary.top: navier_stokes with element q has velocity, slip, outflow, pressure and "
     "symmetry; "
     "dirichlet belongs to poisson and transport"},
    {TIMED "time: {end: 1, cfl: 0.5}",
     "a.yaml:3:21: time.cfl: is of a velocity: expected data.b, or step or tolerance"},
    {TIMED "time: {end: 1, step: 0.1}\ndata: {initial: {velocity: [1, 0]}}",
     "a.yaml:4:28: data.initial.velocity: belongs to elasticity and navier_stokes..."},
    {HEAD "data: {f: [1, 2]}", "a.yaml:3:11: data.f: expected one expression, got a list"},
    {HEAD "problem: poisson\n", "a.yaml:3:1: key 'problem' was given before, in line 1"},
    {HEAD "space: {degree: 0}\n", "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '0'"},
    {HEAD "space: {degree: 99}\n", "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '99'"},
    {HEAD "space: {degree: 4.5}\n", "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '4.5'"},
    {HEAD "space: {degree: 99999999999999999999}\n",
     "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '99999999999999999999'"},
    {HEAD "space: {degree:}\n", "a.yaml:3:9: space.degree: expected an integer from 1 to 20, got nothing"},
    {HEAD "space: {degree: {a: 1}}\n",
     "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got keys with values"},
    {HEAD "space: 4\n", "a.yaml:3:8: space: expected keys with values (degree, element, name, "
                        "stabilization), got a single value"},
    {HEAD "space: {degre: 4}\n", "a.yaml:3:9: space: unknown key 'degre'; did you mean 'degree'?"},
    {HEAD "Solver: {}\n", "a.yaml:3:1: unknown key 'Solver'; did you mean 'solver'?"},
    {HEAD "solver: {coarse: amg}\n", "a.yaml:3:18: solver.coarse: only meshes of trees have this; a box "
                                     "becomes one with mesh.kind: forest"},
    {HEAD "tolerance: 1\n", "a.yaml:3:1: unknown key 'tolerance'; it belongs to time.tolerance, "
                            "solver.tolerance, adapt.tolerance"},
    {HEAD "space: {quadrature: 4}\n",
     "a.yaml:3:9: space: unknown key 'quadrature'; known keys: degree, element, name, stabilization"},
    {HEAD "data: {f: max(x, y)}\n",
     "a.yaml:3:18: data: unknown key 'y)'; an expression with a comma needs quotes\n..."},
    {HEAD "data: {f: x +}\n",
     "a.yaml:3:11: data.f: expected a number, a name or '(', found the end at column 4 of \"x +\""},
    {HEAD "data: {f: [1, 2]}\n", "a.yaml:3:11: data.f: expected one expression, got a list"},
    {HEAD "data: {f: 1/0}\n", "a.yaml:3:11: data.f: \"1/0\" is infinite or undefined"},
    {HEAD "data: {a: ''}\n", "a.yaml:3:11: data.a: expected an expression in x, y, z, t, a list of one per "
                             "direction, or a list of the rows of a matrix, got nothing"},
    {HEAD "solver: {tolerance: 0}\n",
     "a.yaml:3:21: solver.tolerance: expected a number > 0 and < 1, got '0'"},
    {HEAD "solver: {tolerance: 1}\n",
     "a.yaml:3:21: solver.tolerance: expected a number > 0 and < 1, got '1'"},
    {HEAD "solver: {tolerance: nan}\n",
     "a.yaml:3:21: solver.tolerance: expected a number > 0 and < 1, got 'nan'"},
    {HEAD "solver: {tolerance: 1e-9x}\n",
     "a.yaml:3:21: solver.tolerance: expected a number > 0 and < 1, got '1e-9x'"},
    {HEAD "solver: {tolerance: x}\n",
     "a.yaml:3:21: solver.tolerance: expected a number > 0 and < 1, got 'x'"},
    {HEAD "solver: {max_iterations: 0}\n",
     "a.yaml:3:26: solver.max_iterations: expected an integer from 1 to 1000000, got '0'"},
    {HEAD "solver: {method: multigrid}\n",
     "a.yaml:3:18: solver.method: expected auto, vcycle, fmg, gmres, cg or direct, got 'multigrid'"},
    {HEAD "solver: {precision: Mixed}\n",
     "a.yaml:3:21: solver.precision: expected mixed, double or single, got 'Mixed'; did you mean 'mixed'?"},
    {HEAD "solver: {pre_smoothing: -1}\n",
     "a.yaml:3:25: solver.pre_smoothing: expected auto or an integer from 0 to 100, got '-1'"},
    {HEAD "solver: {pre_smoothing: 0, post_smoothing: 0}\n",
     "a.yaml:3:44: solver.post_smoothing: pre_smoothing and post_smoothing are both 0: nothing would smooth"},
    {HEAD "output: {vtu: ''}\n", "a.yaml:3:15: output.vtu: expected the name of a file, got nothing"},
    {HEAD "output: {vtk: a}\n", "a.yaml:3:10: output: unknown key 'vtk'; did you mean 'vtu'?"},
    {HEAD "boundary: {left: {dirichlet: 0, neumann: 1}}\n",
     "a.yaml:3:18: boundary.left: expected exactly one of dirichlet, neumann, robin, velocity, slip, "
     "outflow, pressure, flux, displacement, traction, roller, force, symmetry, radial, got 2"},
    {HEAD "boundary: {left: {}}\n", "a.yaml:3:18: boundary.left: expected exactly one of dirichlet, neumann, "
                                    "robin, velocity, slip, outflow, pressure, flux, displacement, traction, "
                                    "roller, force, symmetry, radial, got 0"},
    {HEAD "boundary: {left: 0}\n",
     "a.yaml:3:18: boundary.left: expected keys with values (dirichlet, "
     "neumann, robin, velocity, slip, outflow, pressure, flux, displacement, traction, "
     "roller, force, symmetry, radial), got a single value"},
    {HEAD "boundary: {left: {force: [1, 0]}}\n",
     "a.yaml:3:18: boundary.left: poisson with element q has dirichlet, neumann and robin; force belongs to "
     "elasticity"},
    {"problem: elasticity\nmesh: {box: {cells: [4, 4]}}\ndata: {young: 1, poisson: 0}\nboundary: {left: "
     "{force: [1, "
     "0, 0]}}\n",
     "a.yaml:4:26: boundary.left.force: expected 2 entries, as dim is 2, got 3"},
    {"problem: elasticity\nmesh: {box: {cells: [4, 4]}}\ndata: {young: 1, poisson: 0}\nboundary: {left: "
     "{force: 1}}"
     "\n",
     "a.yaml:4:26: boundary.left.force: expected a list of expressions, one per direction..."},
    {HEAD "boundary: {left: {robin: {alpha: 1}}}\n",
     "a.yaml:3:26: boundary.left.robin.g: is missing: right-hand side; elasticity: a list"},
    {HEAD "boundary: {front: {neumann: 0}}\n",
     "a.yaml:3:19: boundary.front: a box of dim 2 has no such face"},
    {HEAD "boundary: {lef: {neumann: 0}}\n",
     "a.yaml:3:12: boundary: unknown key 'lef'; did you mean 'left'?"},
    {HEAD "a: b: c\n",
     "a.yaml:3:5: not valid YAML: invalid nested block mapping on the same line; a text with..."},
    {HEAD "data: {f: *x}\n", "a.yaml:3:11: aliases have no use here; quote a text that begins with *"},
    {HEAD "data: {f: !x}\n", "a.yaml:3:11: tags have no use here; quote a text that begins with !"},
    {HEAD "data: {f: &x 1}\n", "a.yaml:3:11: anchors have no use here; quote a text that begins with &"},
    {HEAD "data: {f: \"\\0\"}\n", "a.yaml:3:12: a text must not contain a 0 byte"},
    {HEAD "---\n" HEAD, "a.yaml:3:1: a second document begins here; a case is one document"},
    {HEAD "data: {f: \xff}\n", "a.yaml:3:11: the byte 0xff is no UTF-8 text"},
    {HEAD "data: {f: \x01}\n", "a.yaml:3:11: the control character 0x01 has no use here"},
    {HEAD "? [a]\n: 1\n", "a.yaml:3:3: a key must be a plain word"},
    {HEAD "a: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n", "a.yaml:3:19: nested deeper than 16 levels"},
};

static const struct {
  const char *box, *message; /* behind "problem: poisson\nmesh: {box: {" */
} wrong_box[] = {
    {"cells: 4", "a.yaml:2:21: mesh.box.cells: 4 says not whether the box is 2D or 3D: give one number per "
                 "direction, e.g. cells: [4, 4], or dim as well"},
    {"cells: [4]", "a.yaml:2:21: mesh.box.cells: expected 2 or 3 entries, got 1"},
    {"cells: [4, 4, 4, 4]", "a.yaml:2:21: mesh.box.cells: expected 2 or 3 entries, got 4"},
    {"cells: [4, 0]",
     "a.yaml:2:25: mesh.box.cells: expected an integer, or a list of one per direction, from "
     "1 to 1000000, got '0'"},
    {"cells: [4, -1]", "a.yaml:2:25: mesh.box.cells: expected an integer,..."},
    {"cells: {x: 4}",
     "a.yaml:2:21: mesh.box.cells: expected an integer, or a list of one per direction, from "
     "1 to 1000000, got keys with values"},
    {"cells: [4, [4, 4]]",
     "a.yaml:2:25: mesh.box.cells: expected an integer, or a list of one per direction, "
     "from 1 to 1000000, got a list"},
    {"dim: 4, cells: 4", "a.yaml:2:19: mesh.box.dim: expected an integer from 2 to 3, got '4'"},
    {"dim: 3, cells: [4, 4]", "a.yaml:2:29: mesh.box.cells: expected 3 entries, as dim is 3, got 2"},
    {"cells: [4, 4], lower: [0, 0, 0]",
     "a.yaml:2:36: mesh.box.lower: expected 2 entries, as dim is 2, got 3"},
    {"cells: [4, 4], upper: [1, 0]",
     "a.yaml:2:36: mesh.box.upper: the box is reversed or empty in y: lower is 0, upper 0"},
    {"cells: [4, 4], lower: 2",
     "a.yaml:2:36: mesh.box.lower: the box is reversed or empty in x: lower is 2, upper 1\n..."},
    {"cells: [4, 4], upper: .inf",
     "a.yaml:2:36: mesh.box.upper: expected a number, or a list of one per direction, got '.inf'"},
    {"cells: [4, 4], upper: 1e999",
     "a.yaml:2:36: mesh.box.upper: expected a number, or a list of one per direction, got '1e999'"},
    {"cells: [4, 4], upper: [1, x]",
     "a.yaml:2:40: mesh.box.upper: expected a number, or a list of one per direction, got 'x'"},
    {"cells: [4, 4], lower: 1e9, upper: 1000000000.0000002",
     "a.yaml:2:48: mesh.box.upper: cells are 5.96e-08 wide in x, from 1000000000 to 1000000000: expected "
     "1e-70 "
     "to 1e70, and more than the rounding of these numbers..."},
    {"cells: [4, 4], upper: [1e-200, 1]",
     "a.yaml:2:36: mesh.box.upper: cells are 2.5e-201 wide in x, from 0 to 1e-200: expected..."},
    {"cells: [4, 4], lower: -1e308, upper: 1e308", "a.yaml:2:51: mesh.box.upper: cells are inf wide..."},
    {"cells: [1000000, 1000000, 1000000]",
     "a.yaml:2:21: mesh.box.cells: makes 6.4e+19 unknowns; at most 1e15 can be numbered"},
    {"cells: [4, 4], spacing: {x: 1 - s}",
     "a.yaml:2:42: mesh.box.spacing.x: must be 0 at s = 0 and 1 at s = 1, but is 1 and 0"},
    {"cells: [4, 4], spacing: {x: 'sin(3*pi*s/2) + 2*s*s'}",
     "a.yaml:2:42: mesh.box.spacing.x: the coordinates must ascend, but number..."},
    {"cells: [4, 4], spacing: {x: 3*s*s - 2*s}", "a.yaml:2:42: mesh.box.spacing.x: the coordinates must "
                                                 "ascend, but number 0 is 0 and number 1 is -0.3125"},
    {"cells: [4, 4], spacing: {x: x}",
     "a.yaml:2:42: mesh.box.spacing.x: unknown name 'x' at column 1 of \"x\"; variables here: s"},
    {"cells: [4, 4], spacing: {x: s/(s - 0.5)}", "a.yaml:2:42: mesh.box.spacing.x: is inf at s = 0.5"},
    {"cells: [4, 4], spacing: {x: 5}",
     "a.yaml:2:42: mesh.box.spacing.x: must be 0 at s = 0 and 1 at s = 1, but is 5 and 5"},
    {"cells: [4, 4], spacing: {z: s}",
     "a.yaml:2:42: mesh.box.spacing.z: a box of dim 2 has no such direction"},
    {"cells: [4, 4], spacing: {x: {a: 1}}",
     "a.yaml:2:42: mesh.box.spacing.x: expected an expression in s or a list of 5 coordinates"},
    {"cells: [4, 4], spacing: {y: [0, 1]}",
     "a.yaml:2:42: mesh.box.spacing.y: expected 5 coordinates, one more than cells, got 2"},
    {"cells: [4, 4], spacing: {y: [0, 1, 3, 3, 4]}",
     "a.yaml:2:42: mesh.box.spacing.y: the coordinates must ascend, but number 2 is 3 and number 3 is 3"},
    {"cells: [4, 4], spacing: {y: [0, 1, a, 3, 4]}",
     "a.yaml:2:49: mesh.box.spacing.y: expected an expression in s or a list of coordinates, got 'a'"},
    {"cells: [4, 4], upper: 1, spacing: {y: [0, 1, 2, 3, 4]}",
     "a.yaml:2:36: mesh.box.upper: is 1 in y, but the list of coordinates has 4 there"},
};

/* Whether `message` is as expected; "..." in the expectation stands for anything. */
static bool matches(const char *message, const char *expected) {
  const char *dots = strstr(expected, "...");
  if (!dots) return !strcmp(message, expected);
  if (strncmp(message, expected, (size_t)(dots - expected))) return false;
  const char *rest = dots + 3;
  const size_t have = strlen(message), want = strlen(rest);
  return have >= want && !strcmp(message + have - want, rest);
}

static void expect_refusal(const char *text, int count, const char *const *overrides, const char *expected) {
  TesCase *c = (TesCase *)&c;
  tes_context_clear(ctx);
  assert_int_equal(tes_case_parse(ctx, text, "a.yaml", count, overrides, &c), TES_INVALID_INPUT);
  assert_null(c);
  const char *message = tes_context_message(ctx);
  const char *dots = strstr(expected, "...");
  const bool open_end = dots && !dots[3];
  if (open_end ? strncmp(message, expected, (size_t)(dots - expected)) != 0 : !matches(message, expected))
    fail_msg("%s\nmessage is  %s\nexpected    %s", text, message, expected);
  tes_context_clear(ctx);
}

static void mistakes_are_explained(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    expect_refusal(wrong[i].text, 0, NULL, wrong[i].message);
}

static void wrong_boxes_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong_box / sizeof *wrong_box; i++) {
    char text[300];
    snprintf(text, sizeof text, "problem: poisson\nmesh: {box: {%s}}\n", wrong_box[i].box);
    expect_refusal(text, 0, NULL, wrong_box[i].message);
  }
}

static void wrong_overrides_are_named(void **state) {
  (void)state;
  static const char *const overrides[][2] = {
      {"space.degree=0", "--set space.degree=0: space.degree: expected an integer from 1 to 20, got '0'"},
      {"space.degre=3", "--set space.degre=3: space: unknown key 'degre'; did you mean 'degree'?"},
      {"spce.degree=3", "--set spce.degree=3: unknown key 'spce'; did you mean 'space'?"},
      {"space.degree", "--set space.degree: expected key.path=value"},
      {"=1", "--set =1: a name is missing before '.' or '='"},
      {"space..degree=1", "--set space..degree=1: a name is missing before '.' or '='"},
      {"space.=1", "--set space.=1: a name is missing before '.' or '='"},
      {"problem.a=1", "--set problem.a=1: 'problem' is a single value and has no parts"},
      {"mesh.box.cells=[1",
       "--set mesh.box.cells=[1: mesh.box.cells: not valid YAML: flow sequence without a closing bracket"},
      {"mesh.box.cells=[4, 4, 4]",
       "--set mesh.box.cells=[4, 4, 4]: mesh.box.cells: expected 2 entries, as dim is 2, got 3"},
      {"data.f=sni(x)",
       "--set data.f=sni(x): data.f: unknown name 'sni' at column 1 of \"sni(x)\"; did you mean 'sin'?"},
      {"data.f=", "--set data.f=: data.f: expected an expression in x, y, z, t, or a list of one per "
                  "direction, got nothing"},
      {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1",
       "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1: the key has more than 16 parts"},
      {"solver=1", "--set solver=1: solver: expected keys with values (method, smoother..."},
  };
  for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++)
    expect_refusal(HEAD, 1, overrides[i], overrides[i][1]);
}

static void all_errors_are_told_at_once(void **state) {
  (void)state;
  expect_refusal(HEAD "space: {degree: 0}\nsolver: {tolerance: 2}\n", 0, NULL,
                 "a.yaml:3:17: space.degree: expected an integer from 1 to 20, got '0'\n"
                 "a.yaml:4:21: solver.tolerance: expected a number > 0 and < 1, got '2'");
  char many[1024] = HEAD;
  for (int i = 0; i < 15; i++) snprintf(many + strlen(many), sizeof many - strlen(many), "k%d: 1\n", i);
  expect_refusal(many, 0, NULL, "a.yaml:3:1: unknown key 'k0'; ...\na.yaml: and 5 more errors");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_are_explained),
      cmocka_unit_test(wrong_boxes_are_refused),
      cmocka_unit_test(wrong_overrides_are_named),
      cmocka_unit_test(all_errors_are_told_at_once),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
