/* tessera new: a commented case file to begin with. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "command.h"

static const char help[] =
    "usage: tessera new [NAME]\n\n"
    "Prints a commented case file, e.g. tessera new l-shape > a.yaml; without a name that of poisson.\n\n"
    "  poisson   a box, and all that the data can be\n"
    "  l-shape   a mesh that is refined where the error is\n"
    "  goal      the same for one number of the solution\n"
    "  mesh      a mesh of your own, from Gmsh\n"
    "  ball      a curved domain, with a picture\n"
    "  heat      a solution in time\n"
    "  transport the same, carried by a velocity\n"
    "  stokes    a flow whose solution is known\n"
    "  stokes-3d the same in space\n"
    "  cavity    a flow that a lid drives\n"
    "  channel   a flow with an open end\n"
    "  shear     a periodic flow\n"
    "  viscosity a flow whose viscosity varies\n"
    "  --help    this text\n";

static const struct {
  const char *name, *text;
} templates[] = {
    {"poisson",
     "# -div(a grad u) + c u = f on a box. Check it: tessera check a.yaml; solve it: tessera solve a.yaml\n"
     "problem: poisson\n"
     "mesh: {box: {dim: 2, cells: [32, 32], lower: [0, 0], upper: [1, 1]}}  # dim: 3 and three numbers for a "
     "cuboid\n"
     "space: {degree: 4}              # of the polynomials, 1 to 20\n"
     "data:\n"
     "  f: 1                          # expressions in x, y, z, r: quote those with ': ' or commas inside "
     "{}\n"
     "  a: 1 + x*x                    # positive\n"
     "  c: 0                          # not negative\n"
     "  # exact: sin(pi*x)*sin(pi*y)  # where it is known: errors are told\n"
     "boundary:                       # left right bottom top (back front)\n"
     "  all: {dirichlet: 0}           # u = 0 where nothing else is said\n"
     "  right: {neumann: y}           # a du/dn = y\n"
     "  top: {robin: {alpha: 2, g: 1}}  # a du/dn + 2 u = 1\n"
     "output:\n"
     "  vtu: u.vtu                    # for ParaView\n"
     "  values: {mean: {mean: domain}, flux: {integral: left, of: ux*nx + uy*ny}}\n"
     "  points: {middle: [0.5, 0.5]}\n"},
    {"l-shape", "# A corner in which the gradient is infinite: the mesh is refined there, until the "
                "estimated error is small.\n"
                "problem: poisson\n"
                "mesh: {l_shape: {dim: 2}, refine: 1}  # boundaries: outer, notch\n"
                "space: {degree: 3}\n"
                "adapt:\n"
                "  estimator: residual           # of the error in the energy norm\n"
                "  tolerance: 1e-3\n"
                "  steps: 20                     # at most\n"
                "output: {vtu: l-shape.vtu}      # a file a step, and l-shape.pvd\n"},
    {"goal", "# The mesh is refined for one number: u at a point, or its mean over a boundary.\n"
             "problem: poisson\n"
             "mesh: {l_shape: {dim: 2}, refine: 1}\n"
             "space: {degree: 3}\n"
             "adapt:\n"
             "  estimator: dwr                # dual-weighted residuals\n"
             "  goal: {point: [-0.31, 0.27]}  # or {mean: NAME}, a boundary that is not dirichlet\n"
             "  tolerance: 1e-6               # on that number\n"
             "  steps: 15\n"},
    {"mesh", "# A mesh from Gmsh: quadrilaterals or hexahedra, whose physical groups name boundaries and "
             "materials (docs/meshes.md).\n"
             "problem: poisson\n"
             "mesh: {file: part.msh, refine: 1}  # beside this file\n"
             "space: {degree: 3}\n"
             "data:\n"
             "  f: 0\n"
             "  materials: {steel: {a: 50}, air: {a: 0.03, f: 1}}  # names of surfaces (3D: volumes)\n"
             "boundary:\n"
             "  all: {neumann: 0}             # what has no entry, or no name\n"
             "  hot: {dirichlet: 100}         # names of curves (3D: surfaces)\n"
             "  cold: {robin: {alpha: 10, g: 200}}\n"
             "output: {vtu: part.vtu, values: {lost: {integral: cold, of: 10*u - 200}}}\n"},
    {"ball",
     "# A curved domain, light from one side (nx, ny, nz: the outer normal), and a picture of its surface.\n"
     "problem: poisson\n"
     "mesh: {ball: {dim: 3}, refine: 2, geometry_degree: 3}\n"
     "space: {degree: 3}\n"
     "data: {f: 0}\n"
     "boundary: {surface: {robin: {alpha: 1, g: \"max(nx, 0)\"}}}\n"
     "output:\n"
     "  # slice: x=0 in it shows a cut\n"
     "  png: {file: ball.png, edges: true}\n"},
    {"heat",
     "# u_t - div(a grad u) + c u = f, from time.start to time.end (docs/time.md). f and boundary values may "
     "know t.\n"
     "problem: transport\n"
     "mesh: {box: {cells: [32, 32]}}\n"
     "space: {degree: 3}\n"
     "data:\n"
     "  a: 0.02\n"
     "  f: 0\n"
     "  initial: exp(-50*(pow(x - 0.3, 2) + pow(y - 0.5, 2)))  # u at the start\n"
     "  # exact: expression in x, y, t  # where it is known: errors are told, and it is the start\n"
     "boundary:\n"
     "  all: {neumann: 0}             # insulated\n"
     "  left: {dirichlet: sin(pi*t)*y}\n"
     "time:\n"
     "  end: 1\n"
     "  step: 0.01\n"
     "  method: bdf2                  # backward_euler, crank_nicolson, bdf2 to bdf4, sdirk2, sdirk3\n"
     "output:\n"
     "  series: heat.csv              # a row a step, with what follows\n"
     "  points: {middle: [0.5, 0.5]}\n"
     "  values: {heat: {integral: domain}, flux: {integral: left, of: 0.02*(ux*nx + uy*ny)}}\n"
     "  vtu: {file: heat.vtu, every: {time: 0.1}}  # a file each, and heat.pvd\n"},
    {"transport", "# u_t - div(a grad u) + b . grad u + c u = f: what a velocity b carries (docs/time.md).\n"
                  "problem: transport\n"
                  "mesh: {box: {cells: [32, 16], upper: [2, 1]}}\n"
                  "space: {degree: 3}              # stabilization: auto, none or supg\n"
                  "data:\n"
                  "  a: 0.001\n"
                  "  b: [4*y*(1 - y), 0]           # one expression a direction\n"
                  "boundary:\n"
                  "  all: {neumann: 0}\n"
                  "  left: {dirichlet: \"exp(-100*pow(y - 0.5, 2))\"}\n"
                  "  right: outflow                # a du/dn = 0\n"
                  "time: {end: 2, step: 0.02}      # without it: the steady solution\n"
                  "output:\n"
                  "  series: transport.csv\n"
                  "  values: {inside: {integral: domain}}\n"
                  "  vtu: transport.vtu\n"},
    {"stokes",
     "# Stokes flow, -div(nu grad u) + alpha u + grad p = f, div u = 0, whose solution is known: errors are "
     "told (docs/stokes.md).\n"
     "problem: stokes\n"
     "mesh: {box: {cells: [16, 16]}}  # three numbers: a cuboid, and three entries in every list\n"
     "space: {element: rt, degree: 3} # exactly divergence-free; the pressure has the degree, the velocity "
     "one more\n"
     "data:\n"
     "  nu: 1                         # viscosity, positive; an expression: see tessera new viscosity\n"
     "  alpha: 0                      # mass term, not negative\n"
     "  f: [2*pi*pi*sin(pi*x)*cos(pi*y) + y, -2*pi*pi*cos(pi*x)*sin(pi*y) + x]\n"
     "  exact: {velocity: [sin(pi*x)*cos(pi*y), -cos(pi*x)*sin(pi*y)], pressure: x*y}\n"
     "boundary:\n"
     "  all: {velocity: [sin(pi*x)*cos(pi*y), -cos(pi*x)*sin(pi*y)]}  # what flows in must flow out\n"
     "solver: {tolerance: 1e-10}\n"
     "output: {vtu: stokes.vtu}       # velocity, pressure, divergence and vorticity for ParaView\n"},
    {"stokes-3d", "# The same in space.\n"
                  "problem: stokes\n"
                  "mesh: {box: {cells: [8, 8, 8]}}\n"
                  "space: {element: rt, degree: 2}\n"
                  "data:\n"
                  "  f:\n"
                  "    - 2*pi*pi*sin(pi*y)*sin(pi*z) - pi*sin(pi*x)*cos(pi*y)\n"
                  "    - 2*pi*pi*sin(pi*z)*sin(pi*x) - pi*cos(pi*x)*sin(pi*y)\n"
                  "    - 2*pi*pi*sin(pi*x)*sin(pi*y)\n"
                  "  exact:\n"
                  "    velocity: [sin(pi*y)*sin(pi*z), sin(pi*z)*sin(pi*x), sin(pi*x)*sin(pi*y)]\n"
                  "    pressure: cos(pi*x)*cos(pi*y)\n"
                  "boundary:\n"
                  "  all: {velocity: [sin(pi*y)*sin(pi*z), sin(pi*z)*sin(pi*x), sin(pi*x)*sin(pi*y)]}\n"
                  "solver: {tolerance: 1e-9}\n"},
    {"cavity", "# A lid drives the flow in a box; the force on it and the speed along the middle.\n"
               "problem: stokes\n"
               "mesh: {box: {cells: [32, 32]}}\n"
               "space: {degree: 3}\n"
               "boundary:                       # velocity, slip, outflow or pressure; walls at rest where "
               "nothing is said\n"
               "  top: {velocity: [1, 0]}\n"
               "output:\n"
               "  values: {drag: {force: top, of: x}}\n"
               "  points: {middle: [0.5, 0.5]}\n"
               "  lines: [{from: [0.5, 0], to: [0.5, 1], file: cavity.csv}]\n"
               "  vtu: cavity.vtu\n"},
    {"channel", "# A parabola enters a channel, the right end is open: nu du/dn - p n = 0 there.\n"
                "problem: stokes\n"
                "mesh: {box: {cells: [16, 8], upper: [2, 1]}}\n"
                "space: {degree: 2}\n"
                "boundary:\n"
                "  left: {velocity: [4*y*(1 - y), 0]}\n"
                "  right: outflow                # or {outflow: [g1, g2]}, a stress, or {pressure: P}\n"
                "output:\n"
                "  values: {friction: {force: bottom, of: x}, out: {integral: right, of: u}}\n"
                "  vtu: channel.vtu\n"},
    {"shear", "# A flow that is periodic in x, over a wall, without friction at the top.\n"
              "problem: stokes\n"
              "mesh: {box: {cells: [16, 16], periodic: x}}\n"
              "space: {degree: 3}\n"
              "data: {f: [1 + sin(2*pi*y)*cos(2*pi*x), 0]}\n"
              "boundary:\n"
              "  bottom: {velocity: [0, 0]}\n"
              "  top: slip\n"
              "output:\n"
              "  values: {mean: {mean: domain, of: u}, friction: {force: bottom, of: x}}\n"},
    {"viscosity", "# A heavy, stiff block sinks: the viscosity varies. Let jumps lie along faces of cells.\n"
                  "problem: stokes\n"
                  "mesh: {box: {cells: [16, 16]}}\n"
                  "space: {degree: 2}\n"
                  "data:\n"
                  "  nu: 1 + 999*(abs(x - 0.5) < 0.125 && abs(y - 0.625) < 0.125)\n"
                  "  form: symmetric               # 2 nu eps(u), the default where nu varies; or gradient\n"
                  "  f: [0, -(abs(x - 0.5) < 0.125 && abs(y - 0.625) < 0.125)]\n"
                  "boundary: {all: slip}\n"
                  "solver: {tolerance: 1e-8}\n"
                  "output:\n"
                  "  values: {sinking: {point: [0.5, 0.625], of: v}}\n"}};
enum { TEMPLATES = sizeof templates / sizeof *templates };

int cli_new(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'H'}, {0}};
  const int option = cli_next_option(argc, argv, options);
  if (option == 'H') return fputs(help, stdout) < 0;
  if (option != -1) return tes_status_exit(TES_INVALID_INPUT);
  if (optind + 1 < argc) return cli_usage_error("new takes one name (tessera new --help)");
  const char *name = optind < argc ? argv[optind] : templates[0].name;
  for (int i = 0; i < TEMPLATES; i++)
    if (!strcmp(templates[i].name, name)) return fputs(templates[i].text, stdout) < 0;
  return cli_usage_error(
      "there is no template '%s'; expected poisson, l-shape, goal, mesh, ball, heat, transport, stokes, "
      "stokes-3d, cavity, channel, shear or viscosity",
      name);
}
