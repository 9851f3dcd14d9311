"""The cases of t9_ranks.py and its kin: small, of every equation that several ranks have."""

BOX = """
problem: poisson
mesh: {box: {cells: [6, 5, 8]}}
space: {degree: 3}
data: {f: 3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z), exact: sin(pi*x)*sin(pi*y)*sin(pi*z)}
boundary: {all: {dirichlet: exact}, left: {neumann: "-pi*sin(pi*y)*sin(pi*z)"}}
solver: {tolerance: 1e-11}
output:
  values: {mean: {mean: domain}, flux: {integral: left, of: ux*nx}, at: {point: [0.3, 0.4, 0.5], of: uz}}
  points: {middle: [0.5, 0.5, 0.5], odd: [0.31, 0.77, 0.375]}
  lines: [{from: [0.5, 0.5, 0], to: [0.5, 0.5, 1], count: 9, file: line.csv}]
"""
FOREST = """
problem: poisson
mesh: {ball: {dim: 2}, refine: 2, refine_where: "x - 0.4"}
space: {degree: 4}
data: {a: 1 + x*x, f: "exp(x)*(y - 1)", exact: x*x*y}
boundary: {all: {dirichlet: exact}}
solver: {tolerance: 1e-11}
output:
  values: {mean: {mean: domain, of: u*u}, flux: {integral: surface, of: ux*nx + uy*ny}}
  points: {a: [0.3, 0.4], b: [-0.5, 0.1]}
"""
HEAT = """
problem: transport
mesh: {box: {cells: [6, 6]}, kind: forest}
space: {degree: 3}
data: {a: 0.1, f: 0, exact: "exp(-0.2*pi*pi*t)*sin(pi*x)*sin(pi*y)", initial: "sin(pi*x)*sin(pi*y)"}
boundary: {all: {dirichlet: 0}}
time: {end: 0.1, step: 0.02, method: bdf2}
output: {values: {m: {mean: domain}}, series: series.csv, points: {p: [0.3, 0.5]}}
"""
# All conditions of elasticity, forces, balance.
ELASTIC = """
problem: elasticity
mesh: {box: {cells: [4, 3, 5], upper: [2, 1, 1]}, kind: forest}
space: {degree: 2}
data: {young: 10*(1 + x), poisson: 0.3, density: 0.1, f: [1, x*y, -z], rotation: {speed: 0.5, axis: [0, 0, 1]}}
boundary:
  all: {traction: [0, 0, 0]}
  left: {displacement: [0, null, 0]}
  right: {force: [0.5, 1, -1]}
  top: {pressure: 2*x}
  bottom: {roller: true}
  back: {robin: {alpha: 3, g: [0.1, 0, 0.2]}}
solver: {tolerance: 1e-11}
output:
  values:
    tip: {point: [2, 0.5, 0.5], of: w}
    energy: {integral: domain, of: strain_energy}
    stress: {max: domain, of: von_mises}
    left: {force: left, of: z}
    bottom: {force: bottom, of: y}
    spring: {force: back, of: x}
  points: {a: [1, 0.5, 0.4]}
  lines: [{from: [0, 0.5, 0.5], to: [2, 0.5, 0.5], count: 9, file: line.csv}]
"""
# Nothing holds its three rigid motions.
FREE = """
problem: elasticity
mesh: {box: {cells: [8, 4], upper: [2, 1]}, kind: forest, refine_where: "x - 1.6"}
space: {degree: 3}
data: {young: 10, poisson: 0.3}
boundary: {all: {traction: [0, 0]}, left: {traction: [-1, 0]}, right: {traction: [1, 0]}}
solver: {tolerance: 1e-11}
output: {values: {u: {point: [2, 0.5], of: u}, f: {force: right, of: x}}, points: {a: [0.3, 0.4]}}
"""
CURVED = """
problem: elasticity
mesh: {ball: {dim: 2}, refine: 2, refine_where: "x - 0.4"}
space: {degree: 3}
data: {lambda: 1 + x*x, mu: 1, plane: stress, f: [-4*y, -2*x], exact: [x*x*y, x - y*y]}
boundary: {all: {displacement: exact}}
solver: {tolerance: 1e-11}
output: {values: {f: {force: surface, of: x}}, points: {a: [0.3, 0.4]}}
"""
# Groups of points, a line between cells, two materials, hanging nodes.
FILE = """
problem: elasticity
mesh: {file: square.msh, refine_where: "0.5 - y", refine_times: 2}
space: {degree: 2}
data:
  {young: 10, poisson: 0.3, density: 0.1, gravity: [0, -1], temperature: 1 + x, expansion: 1e-2,
   materials: {two: {young: 50, poisson: 0.3, expansion: 2e-2}}}
boundary:
  all: {traction: [0, 0]}
  pin: {displacement: [0, 0]}
  rest: {displacement: [null, 0]}
  wire: {traction: [0.3, -1]}
solver: {tolerance: 1e-10}
output:
  values:
    pin: {force: pin, of: y}
    rest: {force: rest, of: y}
    energy: {integral: two, of: strain_energy}
    side: {integral: wire, of: sxx*nx}
  points: {a: [0.7, 0.4]}
"""
# The mesh of the cases, curved, with materials and a jump across a line.
PLATE = """
problem: poisson
mesh: {file: plate.msh, refine: 1, refine_where: "0.3 - x"}
space: {degree: 3}
data: {f: 0, materials: {sleeve: {a: 50, f: 1}}}
boundary: {all: {neumann: 0}, hole: {dirichlet: 100}, left: {robin: {alpha: 10, g: 200}}}
solver: {tolerance: 1e-10}
output: {values: {lost: {integral: left, of: 10*u - 200}, mean: {mean: sleeve}}, points: {a: [0.9, 0.4]}}
"""
ADAPTIVE = """
problem: poisson
mesh: {l_shape: {}}
space: {degree: 2}
data: {a: 1 + 0.2*x, f: 1}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-10}
adapt: {steps: 5}
output: {values: {mean: {mean: domain}}, points: {a: [0.3, 0.4]}, vtu: {file: adaptive.vtu}}
"""
ADAPTIVE_ELASTIC = """
problem: elasticity
mesh: {box: {cells: [3, 2, 2]}}
space: {degree: 2}
data: {young: 10, poisson: 0.3, f: [0, 0, -1]}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}}
solver: {tolerance: 1e-10}
adapt: {steps: 3, marking: fraction, fraction: 0.3}
output: {values: {left: {force: left, of: z}}, points: {a: [1, 0.5, 0.5]}}
"""
GOAL = """
problem: poisson
mesh: {ball: {dim: 2}, refine: 1}
space: {degree: 2}
data: {a: 1 + x*x, f: exp(x)}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-10}
adapt: {steps: 4, estimator: dwr, goal: {point: [0.4, 0.3]}}
output: {values: {mean: {mean: domain}}, points: {a: [0.3, 0.4]}}
"""
# An expression at a point that several cells have.
STRESS = """
problem: elasticity
mesh: {box: {cells: [4, 2], upper: [2, 1]}, kind: forest}
space: {degree: 2}
data: {young: 10, poisson: 0.3, f: [0, -1]}
boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}}
solver: {tolerance: 1e-11}
adapt: {steps: 3, estimator: dwr, goal: {point: [1, 0.25], of: sxx + 2*u}}
output: {values: {s: {point: [1, 0.25], of: sxx}}, points: {a: [0.3, 0.4]}}
"""
# A velocity that moves, streamline terms, fluxes.
CARRIED = """
problem: transport
mesh: {box: {cells: [6, 6]}, kind: forest, refine_where: "x - 0.6"}
space: {degree: 3}
data: {a: 0.01, b: [1 + t, 0.5], c: 0.1, f: 1, initial: "sin(pi*x)*sin(pi*y)"}
boundary: {all: {dirichlet: 0}, right: outflow, top: {flux: 0.1}}
time: {end: 0.1, step: 0.02}
solver: {tolerance: 1e-10}
output: {values: {m: {mean: domain}}, points: {p: [0.3, 0.5]}}
"""
# Element rt: an end is open where the box is cut and where it is not; normal and tangential values; lines across cuts.
FLUME = """
problem: stokes
mesh: {box: {cells: [4, 8], upper: [1, 2]}}
space: {element: rt, degree: 2}
data: {nu: 0.5, alpha: 2, f: ["sin(3*x*y)", "x + y*y"]}
boundary:
  {all: {velocity: ["0.1*y", "x*(1 - x)"]}, bottom: {velocity: ["x", "4*x*(1 - x)"]}, top: outflow, right: slip}
solver: {tolerance: 1e-12}
output:
  {values: {f: {force: left, of: x}, g: {force: bottom, of: y}, h: {force: top, of: x}, i: {integral: top, of: v},
            m: {integral: domain, of: u*u + p}, at: {point: [0.3, 0.9], of: uy}},
   points: {a: [0.3, 1], b: [0.9, 0.1]}, lines: [{from: [0.5, 0], to: [0.5, 2], count: 9, file: line.csv}]}
"""
# A viscosity that varies, in space; weak values beside cuts.
MANTLE = """
problem: stokes
mesh: {box: {cells: [2, 2, 8]}}
space: {element: rt, degree: 1}
data: {nu: "exp(x - 2*z)", f: ["sin(3*x*y)", z, "x + y*y"]}
boundary: {all: {velocity: [0, "z*y*(1 - y)", 0]}, front: slip, left: {velocity: [0, y, z]}, right: outflow}
solver: {tolerance: 1e-12}
output:
  {values: {f: {force: left, of: z}, g: {force: back, of: z}, m: {integral: domain, of: u*u + p}},
   points: {a: [0.3, 0.4, 0.5], b: [0.9, 0.1, 0.3]}}
"""
ERRORS = """
problem: stokes
mesh: {box: {cells: [4, 8]}}
space: {element: rt, degree: 3}
data: {f: [y, x*y], exact: {velocity: ["sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)"], pressure: x*y}}
boundary: {all: {velocity: exact}}
solver: {method: fmg, tolerance: 1e-12}
output: {values: {m: {mean: domain, of: u*v}}, points: {a: [0.3, 0.4]}}
"""
EDDY = """
problem: navier_stokes
mesh: {box: {cells: [4, 8], upper: [1, 2]}}
space: {element: rt, degree: 2}
data: {nu: 0.02, f: [0, "0.1*sin(t)"], initial: {velocity: ["sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)"]}}
boundary: {all: slip, bottom: {velocity: ["0.1*x*t", 0]}, top: {velocity: ["x*(1 - x)", 0]}}
time: {end: 0.2, step: 0.02}
solver: {tolerance: 1e-11}
output:
  {values: {m: {mean: domain, of: u*u}, f: {force: top, of: x}, g: {force: left, of: x}}, points: {a: [0.3, 1]},
   series: series.csv}
"""
# Periodic where it is not cut, with a mean velocity.
RIVER = """
problem: navier_stokes
mesh: {box: {cells: [3, 4, 8], periodic: xy}}
space: {element: rt, degree: 1}
data: {nu: 0.1, mean_velocity: [1, null, null], initial: {velocity: ["1 + 0.1*sin(2*pi*y)", 0, 0]}}
boundary: {back: {velocity: [0, 0, 0]}, front: slip}
time: {end: 0.1, step: 0.02, method: imex_bdf3}
solver: {tolerance: 1e-11}
output:
  {values: {m: {mean: domain, of: u*u}, u: {mean: domain, of: u}, f: {force: back, of: x}},
   points: {a: [0.3, 0.2, 0.5]}}
"""
# Of 3 ranks some have few enough nodes for a direct solver, the mesh as a whole has not.
BRACKET = """
problem: elasticity
mesh: {box: {cells: [3, 2, 2], upper: [2, 1, 1]}, kind: forest, refine_where: "x - 1"}
space: {degree: 2}
data: {young: 10, poisson: 0.3, f: [0, 0, -1]}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}}
solver: {tolerance: 1e-11}
output: {values: {left: {force: left, of: z}}, points: {p: [1, 0.5, 0.3]}}
"""
# On three ranks one has no cells.
WAVES = """
problem: elasticity
mesh: {box: {cells: [4, 2, 2], upper: [2, 1, 1]}, kind: forest}
space: {degree: 2}
data:
  {young: 10, poisson: 0.3, density: 2, f: [0, 0, -sin(3*t)],
   initial: {displacement: [0, 0, 0.01*x*x], velocity: [0, 0.1*x, 0]}}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0.01*t, 0]}}
time: {end: 0.3, step: 0.05}
solver: {tolerance: 1e-10}
output: {values: {left: {force: left, of: z}}, points: {p: [1, 0.5, 0.3]}}
"""
PERIODIC = """
problem: poisson
mesh: {box: {cells: [6, 5], periodic: x}, kind: forest}
space: {degree: 3}
data: {a: 1 + 0.3*sin(2*pi*x), f: "cos(2*pi*x) + y"}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-10}
output: {values: {m: {mean: domain}}, points: {p: [0.3, 0.5]}}
"""
# A ring on its bore and on springs, with hanging nodes at the bore.
SLIP = """
problem: elasticity
mesh: {shell: {dim: 2}, refine: 1, refine_where: "0.3 - (x - 0.5)*(x - 0.5) - y*y"}
space: {degree: 3}
data: {young: 10, poisson: 0.3}
boundary: {inner: {radial: "0.05 + 0.01*x"}, outer: {robin: {alpha: 1, g: [1, 0.3]}}}
solver: {tolerance: 1e-11}
output: {values: {u: {point: [1, 0], of: u}, x: {force: inner, of: x}}, points: {a: [0.6, 0.4]}}
"""
# The mesh follows the solution.
HILL = """
problem: transport
mesh: {box: {cells: [4, 4]}, refine_where: "x - 0.8"}
space: {degree: 2}
data: {a: 0.001, b: ["0.5 - y", "x - 0.5"], f: 0, initial: "exp(-60*(pow(x - 0.3, 2) + pow(y - 0.5, 2)))"}
boundary: {all: {dirichlet: 0}}
time: {end: 0.2, step: 0.02, method: bdf2}
solver: {tolerance: 1e-11}
adapt: {every: 2, max_level: 3, max_dofs: 2000}
output:
  {values: {m: {mean: domain}, s: {mean: domain, of: u*u}}, series: hill.csv,
   points: {p: [0.3, 0.55]}, average: {from: 0.05}}
"""
BEAM = """
problem: elasticity
mesh: {box: {cells: [4, 2, 2], upper: [2, 1, 1]}}
space: {degree: 2}
data:
  {young: 10, poisson: 0.3, density: 2, f: [0, 0, -sin(3*t)],
   initial: {displacement: [0, 0, 0.01*x*x*x], velocity: [0, 0.1*x, 0]}}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0.01*t, 0]}}
time: {end: 0.3, step: 0.05}
solver: {tolerance: 1e-10}
adapt: {every: 2, max_level: 1, marking: fraction, fraction: 0.2}
output: {values: {left: {force: left, of: z}}, points: {p: [1, 0.5, 0.3]}}
"""
# Flows with element q: given velocities, slip, open ends, a mean velocity that is kept, meshes that change.
STOKES = """
problem: stokes
mesh: {ball: {dim: 2}, refine: 2, refine_where: "x - 0.4"}
space: {degree: 3}
data: {nu: 0.7, alpha: 2, exact: {velocity: ["x*x*y", "-x*y*y"], pressure: "x*y"}}
boundary: {all: {velocity: exact}}
solver: {tolerance: 1e-11}
output:
  {values: {f: {force: surface, of: x}, m: {integral: domain, of: u*u + p}},
   points: {a: [0.3, 0.4], b: [-0.5, 0.1]}}
"""
CHANNEL = """
problem: stokes
mesh: {box: {cells: [8, 4], upper: [2, 1]}, kind: forest, refine_where: "x - 1.5"}
space: {element: q, degree: 2}
data: {nu: 0.1, f: ["0.3*y", "x"]}
boundary:
  {all: {velocity: [0, 0]}, left: {velocity: ["y*(1 - y)", 0]}, right: outflow, top: slip}
solver: {tolerance: 1e-12}
output:
  {values: {f: {force: bottom, of: x}, g: {force: left, of: x}, m: {integral: domain, of: u*u + p}},
   points: {a: [0.3, 0.4], b: [1.9, 0.1]}}
"""
CORNER = """
problem: stokes
mesh: {l_shape: {dim: 2}, refine: 1}
space: {degree: 2}
data: {nu: 1, f: [y*y, 0]}
boundary: {all: {velocity: [0, 0]}}
solver: {tolerance: 1e-11}
adapt: {steps: 3}
output: {values: {m: {integral: domain, of: u*u + p*p}}, points: {a: [0.3, 0.4]}}
"""
STREAM = """
problem: navier_stokes
mesh: {box: {cells: [8, 4], upper: [2, 1]}, kind: forest, refine_where: "x - 1.5"}
space: {degree: 3}
data: {nu: 0.02, initial: {velocity: [0, 0]}}
boundary:
  {all: {velocity: [0, 0]}, left: {velocity: ["y*(1 - y)*min(1, 10*t)", 0]}, right: {pressure: "0.1*t"}, top: slip}
time: {end: 0.2, step: 0.02}
solver: {tolerance: 1e-10}
output:
  {values: {f: {force: bottom, of: x}, g: {force: left, of: x}, m: {integral: domain, of: u*u + p}},
   points: {a: [0.3, 0.4], b: [1.9, 0.1]}}
"""
DRIVEN = """
problem: navier_stokes
mesh: {box: {cells: [4, 4, 2], periodic: x}, kind: forest}
space: {degree: 2, stabilization: grad_div}
data:
  {nu: 0.01, mean_velocity: [1, null, null],
   initial: {velocity: ["4*y*(1-y)*(1+0.1*sin(2*pi*x))", 0, "0.1*sin(2*pi*x)*y*(1-y)*z*(1-z)"]}}
boundary: {all: {velocity: [0, 0, 0]}, back: slip, front: slip}
time: {end: 0.02, cfl: 0.3}
solver: {tolerance: 1e-10}
output:
  {values: {f: {force: bottom, of: x}, m: {integral: domain, of: u*u + v*v}},
   points: {a: [0.3, 0.4, 0.5]}}
"""
LID = """
problem: navier_stokes
mesh: {box: {cells: [4, 4]}}
space: {degree: 2}
data: {nu: 0.02}
boundary:
  {all: {velocity: [0, 0]}, top: {velocity: ["16*x*x*(1-x)*(1-x)*min(1, 5*t)", 0]}}
time: {end: 0.2, step: 0.02}
adapt: {every: 4, max_level: 2, fraction: 0.3}
solver: {tolerance: 1e-10}
output:
  {values: {m: {integral: domain, of: u*u + v*v}, f: {force: top, of: x}},
   points: {a: [0.3, 0.8]}}
"""
# Slip on a cylinder, along which a force moves and cells come and go.
STIR = """
problem: navier_stokes
mesh: {shell: {dim: 2}, refine: 1, geometry_degree: 4}
space: {degree: 2}
data:
  {nu: 0.02,
   f: ["-20*y*exp(-40*(pow(x - 0.9*cos(3*t), 2) + pow(y - 0.9*sin(3*t), 2)))", "x*exp(-40*(x - 0.9)*(x - 0.9))"]}
boundary: {inner: {velocity: [0, 0]}, outer: slip}
time: {end: 0.2, step: 0.02}
adapt: {every: 5, max_level: 2, fraction: 0.3}
solver: {tolerance: 1e-10}
output:
  {values: {m: {integral: domain, of: u*u + v*v}, f: {force: outer, of: y}},
   points: {a: [0.3, 0.8]}}
"""
# Cells of one rank are curved, of others straight, and the outflow is one rank's; the mesh follows the flow.
PAST = """
problem: navier_stokes
mesh: {channel: {dim: 2}, geometry_degree: 3}
space: {degree: 2}
data: {nu: 0.01}
boundary: {inflow: {velocity: ["6*y*(0.41 - y)/(0.41*0.41)", 0]}, outflow: outflow}
time: {end: 0.04, step: 0.005}
adapt: {every: 3, max_level: 2}
solver: {tolerance: 1e-11}
output: {values: {drag: {force: cylinder, of: x}}, points: {a: [0.4, 0.25]}}
"""
# Steady, and the flow carries much more than diffusion does: cells in its order, blocks of ranks; also closed paths.
ALONG = """
problem: transport
mesh: {box: {cells: [16, 16]}, kind: forest, refine_where: "x + y - 1.2"}
space: {degree: 2}
data: {a: 1e-5, b: [0.3, -1], f: 1}
solver: {tolerance: 1e-11}
output: {values: {m: {integral: domain}, at: {point: [0.31, 0.22]}}, points: {p: [0.7, 0.5]}}
"""
ROUND = ALONG.replace("[0.3, -1]", "[0.5 - y, x - 0.5]").replace("1e-5", "1e-3").replace(", kind: forest", "")
# Ranks have 45 and 46 cells, of which the one number would be below the bound of cells in the order of the flow.
NEAR = ALONG.replace("[16, 16]", "[7, 13]").replace(', refine_where: "x + y - 1.2"', "").replace(
    "degree: 2", "degree: 3").replace("1e-5", "1").replace("[0.3, -1]", "[46.2, 0]")
# The flow enters from the left, where there is no value: incomplete factors break down on all ranks, and levels end.
ENTRY = """
problem: transport
mesh: {box: {cells: [16, 16]}}
space: {degree: 4}
data: {a: 1e-5, b: [1, 0.3*y], f: 1 + 0.3*y, exact: x + y}
boundary: {all: {dirichlet: exact}, left: {neumann: -1e-5}}
solver: {tolerance: 1e-11}
output: {values: {m: {integral: domain}}, points: {p: [0.31, 0.22]}}
"""
# Element dg: layers of a box, cut in the last direction.
STILL_DG = """
problem: poisson
mesh: {box: {cells: [4, 5, 14]}}
space: {degree: 2, element: dg}
data: {f: 1, c: 2}
boundary: {all: {dirichlet: x*y}, right: {neumann: z}}
solver: {tolerance: 1e-11}
output:
  values: {m: {integral: domain}, flux: {integral: back, of: uz*nz}, most: {max: domain}}
  points: {middle: [0.5, 0.5, 0.5], odd: [0.31, 0.77, 0.375]}
"""
FREE_DG = """
problem: poisson
mesh: {box: {cells: [8, 16], spacing: {y: s*s}}}
space: {degree: 3, element: dg}
data: {f: cos(pi*x)*cos(2*pi*y), exact: cos(pi*x)*cos(2*pi*y)/(5*pi*pi)}
boundary: {all: {neumann: 0}}
solver: {method: fmg, tolerance: 1e-11}
output: {values: {m: {integral: domain}}, points: {p: [0.3, 0.75]}}
"""
ALONG_DG = """
problem: transport
mesh: {box: {cells: [16, 16]}}
space: {degree: 2, element: dg}
data: {a: 1e-4, b: [1 + y, x*x - 0.7], f: 1, form: conservative}
boundary: {all: outflow, left: {flux: y}, top: {dirichlet: 1}}
solver: {tolerance: 1e-11}
output: {values: {m: {integral: domain}, at: {point: [0.31, 0.22]}}, points: {p: [0.7, 0.5]}}
"""
RING_DG = """
problem: transport
mesh: {box: {cells: [5, 3, 8], periodic: xy}}
space: {degree: 1, element: dg}
data: {a: 0.01, b: ["1 + z", 0.3, "0.2*sin(2*pi*x)"], f: "1 + sin(2*pi*y)"}
boundary: {back: {dirichlet: 0}, front: outflow}
solver: {tolerance: 1e-11}
output: {values: {m: {integral: domain}, at: {point: [0.31, 0.22, 0.5]}}, points: {p: [0.7, 0.5, 0.25]}}
"""
CARRIED_DG = """
problem: transport
mesh: {box: {cells: [8, 16]}}
space: {degree: 2, element: dg}
data: {a: 1e-3, b: [cos(3*t), 0.5 - x + t], f: x*t, initial: "exp(-20*((x - 0.5)*(x - 0.5) + (y - 0.4)*(y - 0.4)))"}
boundary: {all: outflow, left: {dirichlet: y}}
time: {end: 0.1, step: 0.02}
solver: {tolerance: 1e-11}
output: {values: {m: {integral: domain}, top: {max: domain}}, points: {p: [0.3, 0.5]}}
"""
# Rings of ranks: the last direction, which they cut, is periodic. The coefficient is periodic by the box alone.
VORTEX = """
problem: navier_stokes
mesh: {box: {cells: [4, 8], periodic: xy}}
space: {element: rt, degree: 2}
data:
  {nu: 0.02, f: ["0.1*sin(2*pi*y)", 0],
   initial: {velocity: ["-cos(2*pi*x)*sin(2*pi*y)", "sin(2*pi*x)*cos(2*pi*y)"]}}
time: {end: 0.1, step: 0.02}
solver: {tolerance: 1e-11}
output:
  {values: {m: {mean: domain, of: u*u}, u: {point: [0.3, 0.99], of: vx}}, points: {a: [0.3, 0.02]}, series: series.csv}
"""
RING_RT = """
problem: stokes
mesh: {box: {cells: [3, 2, 8], upper: [1, 1, 2], periodic: z}}
space: {element: rt, degree: 1}
data: {nu: "1 + z*(2 - z)", f: ["sin(pi*z)", x, "y*sin(3*pi*z)"]}
boundary: {all: {velocity: [0, 0, 0]}, right: slip}
solver: {tolerance: 1e-10}
output:
  {values: {e: {integral: domain, of: u*u}, f: {force: left, of: z}}, points: {a: [0.3, 0.2, 0.1], b: [0.4, 0.3, 1.9]}}
"""
ODD_DG = """
problem: poisson
mesh: {box: {cells: [6, 9], periodic: y, spacing: {y: s*s*0.3 + 0.7*s}}}
space: {element: dg, degree: 3}
data: {f: "8*pi*pi*sin(2*pi*x)*sin(2*pi*y)", exact: "sin(2*pi*x)*sin(2*pi*y)"}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-10}
output: {values: {e: {integral: domain, of: u*u}}, points: {a: [0.3, 0.02]}}
"""
AROUND_DG = """
problem: transport
mesh: {box: {cells: [6, 12], periodic: xy}}
space: {element: dg, degree: 2}
data: {a: 1e-3, b: ["t + 0.3*sin(2*pi*y)", "0.5 + y*(1 - y)"], f: 0, initial: "exp(-9*((x - 0.5)*(x - 0.5) + y*y))"}
time: {end: 0.1, step: 0.02}
solver: {tolerance: 1e-12}
output: {values: {e: {integral: domain, of: u*u}, m: {mean: domain}}, points: {a: [0.3, 0.02]}}
"""
# Explicit steps over halved cells; by cycles.
STEPS = """
problem: navier_stokes
mesh: {box: {cells: [4, 3, 9], upper: [2, 1, 2], spacing: {z: s*s*0.3 + 0.7*s}}}
space: {element: iso}
data: {nu: 2e-2, f: [0, sin(t), x], initial: {velocity: ["4*y*(1 - y)", 0, 0], pressure: 1 - x}}
boundary:
  all: {velocity: [0, 0, 0]}
  left: {velocity: ["4*y*(1 - y)*(1 + 0.5*sin(3*t))", 0, 0]}
  right: {velocity: ["4*y*(1 - y)*(1 + 0.5*sin(3*t))", 0, 0], priority: 2}
  top: slip
  front: symmetry
time: {end: 0.04, step: 2e-3}
output:
  {values: {m: {mean: domain, of: u*u}, f: {force: bottom, of: x}, g: {force: back, of: x}},
   points: {a: [0.3, 0.4, 0.5], b: [1.7, 0.5, 1.9]}, series: series.csv}
"""
FLAT_STEPS = """
problem: navier_stokes
mesh: {box: {cells: [9, 14]}}
space: {element: iso}
data: {nu: 5e-2}
boundary: {all: {velocity: [0, 0]}, top: {velocity: [1, 0], priority: 1}}
time: {end: 0.05, cfl: 0.3}
solver: {method: cg, tolerance: 1e-10}
output: {values: {e: {integral: domain, of: u*u + v*v}, f: {force: top, of: x}}, points: {a: [0.5, 0.5]}}
"""
# A graded box, which becomes a mesh of trees.
GRADED = """
problem: navier_stokes
mesh: {box: {cells: [4, 6], spacing: {x: (1 - cos(pi*s))/2, y: (1 - cos(pi*s))/2}}}
space: {degree: 3}
data: {nu: 0.05}
boundary: {all: {velocity: [0, 0]}, top: {velocity: [16*x*x*(1 - x)*(1 - x), 0]}}
time: {end: 0.1, step: 0.02}
solver: {tolerance: 1e-11}
output: {values: {e: {integral: domain, of: u*u + v*v}, f: {force: top, of: x}}, points: {a: [0.5, 0.5]}}
"""
# Every rank has the factors of the whole: asked for, in the place of cycles that would take too long, of closed paths.
DIRECT = ELASTIC.replace("solver: {tolerance: 1e-11}", "solver: {tolerance: 1e-11, method: direct}")
DIRECT_FLOW = GRADED.replace("solver: {tolerance: 1e-11}", "solver: {tolerance: 1e-11, method: direct}")
GIVEN_UP = """
problem: poisson
mesh: {box: {cells: [24, 24]}, kind: forest}
space: {degree: 4}
data: {a: [[500000.5, 499999.5], [499999.5, 500000.5]], f: 1e6*(1 + x)}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-11, max_iterations: 20}
output: {values: {m: {mean: domain}}, points: {a: [0.3, 0.4]}}
"""
ROLLS = """
problem: transport
mesh: {box: {cells: [24, 24]}, kind: forest}
space: {degree: 2}
data: {a: 1e-3, f: 1, b: [sin(pi*x)*cos(pi*y), -cos(pi*x)*sin(pi*y)]}
boundary: {all: {dirichlet: 0}}
solver: {tolerance: 1e-11}
output: {values: {m: {mean: domain}}, points: {a: [0.3, 0.4]}}
"""
# In the slow test on all numbers of ranks.
# Slip on two planes at a small angle, each on a rank of its own: the form is symmetric.
ROOF = """
problem: stokes
mesh: {box: {cells: [4, 2], upper: [2, 1]}, kind: forest, map: [x, "y*(1 + 0.1*abs(x - 1))"], geometry_degree: 1}
space: {element: q, degree: 2}
boundary: {left: {velocity: ["y*(1.1 - y)", 0]}, right: outflow, bottom: {velocity: [0, 0]}, top: slip}
solver: {tolerance: 1e-11}
output: {points: [[1, 0.5]], values: {out: {integral: right, of: u}}}
"""
# Slip on a slope, where one rank alone has the wall that holds the fluid along the slope.
SLOPE = """
problem: stokes
mesh: {box: {cells: [6, 4], upper: [2, 1]}, kind: forest, map: ["x + 0.2*y", "y + 0.1*x"]}
space: {element: q, degree: 3}
boundary: {left: {pressure: 3}, right: {pressure: 1 + y}, top: slip, bottom: {velocity: [0, 0]}}
solver: {tolerance: 1e-11}
output: {points: [[0.9, 0.6]], values: {force: {force: bottom, of: x}, out: {integral: right, of: u*nx + v*ny}}}
"""
MORE = {"along": ALONG, "round": ROUND, "still_dg": STILL_DG, "free_dg": FREE_DG, "along_dg": ALONG_DG,
        "carried_dg": CARRIED_DG, "ring_dg": RING_DG, "stress": STRESS, "elastic": ELASTIC, "bracket": BRACKET,
        "free": FREE, "curved": CURVED, "waves": WAVES, "file": FILE, "plate": PLATE, "adaptive": ADAPTIVE,
        "adaptive_elastic": ADAPTIVE_ELASTIC, "carried": CARRIED, "goal": GOAL, "periodic": PERIODIC, "slip": SLIP,
        "hill": HILL, "beam": BEAM, "stokes_ball": STOKES, "channel": CHANNEL, "corner": CORNER, "stream": STREAM,
        "driven": DRIVEN, "lid": LID, "stir": STIR, "past": PAST, "flume": FLUME, "mantle": MANTLE, "errors": ERRORS,
        "eddy": EDDY, "river": RIVER, "vortex": VORTEX, "ring_rt": RING_RT, "odd_dg": ODD_DG, "around_dg": AROUND_DG,
        "steps": STEPS, "flat_steps": FLAT_STEPS, "graded": GRADED, "near": NEAR, "entry": ENTRY, "direct": DIRECT,
        "direct_flow": DIRECT_FLOW, "given_up": GIVEN_UP, "rolls": ROLLS, "roof": ROOF, "slope": SLOPE}
# In the quick test, on 2 ranks or 3 by turns: one of a kind.
BRIEF = ["along", "still_dg", "along_dg", "stress", "elastic", "bracket", "curved", "file", "adaptive", "carried",
         "slip", "hill", "stokes_ball", "stream", "lid", "past", "flume", "vortex", "odd_dg", "steps", "near",
         "entry", "direct", "given_up", "roof", "slope"]
# How many times the iterations of one rank there may be: blocks of ranks know no values of their neighbours.
GROWTH = {"along": 1.4, "round": 2, "along_dg": 2.5, "ring_dg": 2, "around_dg": 1.5, "graded": 3, "near": 2, "entry": 2}
