"""The table of relations: each takes a random generator and a case.

A relation returns None where it does not apply, else the deviation over the tolerance, a text, and the second case.
"""

import files
from relations_balance import balances
from relations_data import coefficients_again, conditions, steady_state, superposition
from relations_files import inner_values, materials, periodic_file, refined_file, two_names
from relations_loads import force, surroundings, tables, thermal, weight, words
from relations_meshes import adapt_off, extrude, identity_map, refine, refine_graded, rotate_period
from relations_options import bits, kinds, outputs, ranks, restart, same, set_or_file, solvers, threads
from relations_polynomial import polynomial
from relations_turn import turned
from relations_units import (
    pick_coefficient,
    pick_data,
    pick_length,
    pick_mirror,
    pick_permute,
    pick_start,
    pick_time,
    pick_translate,
    pick_units,
    relation_of_transform,
)

RELATIONS = {
    "permute axes": relation_of_transform(pick_permute),
    "mirror": relation_of_transform(pick_mirror),
    "translate": relation_of_transform(pick_translate),
    "scale length": relation_of_transform(pick_length),
    "scale data": relation_of_transform(pick_data),
    "scale coefficient": relation_of_transform(pick_coefficient),
    "scale time": relation_of_transform(pick_time),
    "shift time": relation_of_transform(pick_start),
    "units": relation_of_transform(pick_units),
    "box and forest": same(kinds),
    "solver": same(solvers),
    "simd": same(lambda r, s: ["--simd", str(r.choice([128, 256]))]),
    "emulator": same(["--device", "emulator"], lambda s: s.dim == 2 or s.degree < 3),
    "threads": threads,
    "refine": refine,
    "refine graded": refine_graded,
    "deterministic": bits(["--deterministic"], ["--deterministic"]),
    "deterministic, 3 threads": bits(["--deterministic", "--threads", "3"], ["--deterministic", "--threads", "3"]),
    "set and file": set_or_file,
    "superposition": superposition,
    "extrude": extrude,
    "polynomial": polynomial,
    "conditions": conditions,
    "coefficients": coefficients_again,
    "map": identity_map,
    "adapt off": adapt_off,
    "steady state": steady_state,
    "balance": balances,
    "outputs": outputs,
    "restart": restart,
    "double period": rotate_period,
    "order of a file": files.shuffle,
    "box and file": files.box,
    "turn": turned,
    "two names": two_names,
    "materials": materials,
    "refined file": refined_file,
    "force": force,
    "weight": weight,
    "thermal": thermal,
    "words": words,
    "surroundings": surroundings,
    "tables": tables,
    "ranks": ranks,
    "periodic file": periodic_file,
    "inner values": inner_values,
}
# what a case must be for a relation: keys of generate()
WANTED = {
    "extrude": {"dim": 2, "domain": False},
    "steady state": {"problem": "transport", "intime": False},
    "shift time": {"intime": True},
    "restart": {"intime": True},
    "scale time": {"intime": True},
    "order of a file": {"domain": "file"},
    "box and file": {"domain": False, "element": "q"},
    "box and forest": {"domain": False, "element": "q"},
    "map": {"domain": False, "element": "q"},
    "refine": {"domain": False},
    "refine graded": {"domain": False},
    "adapt off": {"element": "q", "intime": False},
    "balance": {"intime": False},
    "double period": {"domain": False, "periodic": True},
    "periodic file": {"domain": False, "periodic": True, "element": "q"},
    "inner values": {"problem": "poisson", "domain": False, "element": "q"},
    "force": {"problem": "elasticity"},
    "weight": {"problem": "elasticity"},
    "thermal": {"problem": "elasticity", "intime": False},
    "words": {"domain": False},
    "surroundings": {"problem": "navier_stokes"},
    "refined file": {"element": "q"},
    "turn": {"element": "q"},
    "two names": {"element": "q"},
    "materials": {"element": "q"},
}
