#!/usr/bin/env python3
"""Run: ctest -R t9_pages. Pictures as SVG and PDF: the field is an image, what stands in front are the same shapes in
both files, and the page looks as the PNG file does (rendered by cairosvg where it is installed). Ends with 77 where the
program draws no pictures."""
import base64
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

from png_pixels import decode

try:
    import cairosvg
    from PIL import Image
except ImportError:
    cairosvg = None

PROGRAM = os.path.abspath(sys.argv[1])
FLAT = """
problem: transport
mesh: {box: {cells: [5, 4], upper: [1.5, 1]}}
space: {degree: 3}
data: {a: 0.1, b: [1, 0], f: 3, initial: "0.1*sin(pi*x)*sin(pi*y)"}
boundary: {all: {dirichlet: 0}}
time: {end: 0.1, step: 0.05}
output: {png: {file: u.png, edges: true, width: 300, title: "a < b & \\u00e4", arrows: ["-ux", "-uy"]}}
"""
BODY = """
problem: elasticity
mesh: {box: {cells: [3, 2, 2], upper: [2, 1, 1]}}
space: {degree: 2}
data: {young: 10, poisson: 0.3, f: [0, 0, -1]}
boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}}
output: {png: {file: u.png, of: sxx, warp: 0.1, width: 300}}
"""
faults = 0


def check(condition, text):
    global faults
    if not condition:
        faults += 1
        print(f"FAULT: {text}")


def solve(folder, *options):
    done = subprocess.run([PROGRAM, "solve", "case.yaml", "--quiet", "--json", "r.json", *options], cwd=folder,
                          capture_output=True, text=True, timeout=100)
    with open(os.path.join(folder, "r.json"), encoding="utf-8") as file:
        return done.returncode, done.stderr, json.load(file).get("png")


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def near(one, other, most):
    return len(one) == len(other) and all(abs(a - b) <= most for a, b in zip(one, other))


# ---- SVG: shapes as (colour, kind, numbers) ----------------------------------------------------------------


def svg_shapes(text):
    root = ElementTree.fromstring(text)
    shapes, image = [], None
    for node in root:
        kind, of = node.tag.split("}")[1], node.attrib
        if kind == "image":
            check(image is None and not shapes, "svg: one image, under all shapes")
            href = of["{http://www.w3.org/1999/xlink}href"]
            image = base64.b64decode(href.removeprefix("data:image/png;base64,"), validate=True)
            check((of["width"], of["height"]) == (root.get("width"), root.get("height")), "svg: the size of the image")
        elif kind == "circle":
            shapes.append((of["fill"], "disc", [float(of[name]) for name in ("cx", "cy", "r")]))
        elif kind == "path" and "stroke" in of:
            check(of["stroke-linecap"] == "round", "svg: ends of lines")
            numbers = [float(n) for n in re.findall(r"[-\d.]+", of["d"])]
            shapes.append((of["stroke"], "line", numbers + [float(of["stroke-width"])]))
        elif kind == "path":
            letters = re.sub(r"[^MLQ]", "", of["d"])
            shapes.append((of["fill"], letters, [float(n) for n in re.findall(r"-?[\d.]+", of["d"])]))
        else:
            check(kind == "rect", f"svg: an element {kind}")
    return int(root.get("width")), int(root.get("height")), image, shapes


# ---- PDF ---------------------------------------------------------------------------------------------------


def pdf_objects(data):
    """Objects as (dictionary, stream), by the table at the end."""
    check(data.startswith(b"%PDF-1.4\n") and data.endswith(b"%%EOF\n"), "pdf: first and last line")
    table = int(re.search(rb"startxref\n(\d+)\n", data).group(1))
    size = int(re.match(rb"xref\n0 (\d+)\n", data[table:]).group(1))
    check(f"/Size {size} ".encode() in data[table:], "pdf: the size of the table")
    objects, rows = {}, data[data.index(b"\n", table + 5) + 1:]
    for i in range(1, size):
        at = int(rows[20 * i:20 * i + 10])
        check(data[at:].startswith(f"{i} 0 obj << ".encode()), f"pdf: object {i} is not where the table says")
        head = re.match(rb"\d 0 obj << (.*?) >> (stream\n|endobj)", data[at:], re.S)
        length = re.search(rb"/Length (\d+)", head.group(1))
        stream = data[at + head.end():][:int(length.group(1))] if length else None
        if length:
            end = data[at + head.end() + int(length.group(1)):]
            check(end.startswith(b"\nendstream endobj\n"), f"pdf: the length of stream {i}")
        objects[i] = (head.group(1).decode(), stream)
    return objects


def pdf_image(head, stream):
    """The rows of a PNG image, since Predictor 15 is PNG's."""
    width, height = (int(re.search(rf"/{name} (\d+)", head).group(1)) for name in ("Width", "Height"))
    check(f"/Predictor 15 /Colors 3 /Columns {width} " in head and "/FlateDecode" in head, f"pdf: {head}")
    return width, height, zlib.decompress(stream)


def pdf_shapes(text, height):
    """Discs are four cubic curves, from their right end on; all other curves are quadratic."""
    shapes, letters, numbers, quadratic, colour, width, stack = [], "", [], True, None, None, []
    kinds = {"m": "M", "l": "L", "c": "Q"}
    for word in text.split():
        if re.fullmatch(r"\[?\]?[-\d.]*", word):
            stack += [float(word)] if re.fullmatch(r"[-\d.]+", word) else []
            continue
        if word in ("rg", "RG"):
            colour = "#" + "".join(f"{round(255 * part):02x}" for part in stack)
        elif word == "w":
            width = stack[-1]
        elif word in kinds:
            flipped = [height - n if i % 2 else n for i, n in enumerate(stack)]
            if word == "c": # the point beside of a quadratic curve, from the inner points of the cubic one
                x, y = numbers[-2:]
                beside = [(3 * flipped[0] - x) / 2, (3 * flipped[1] - y) / 2]
                quadratic &= near([(end + 2 * b) / 3 for end, b in zip(flipped[4:], beside)], flipped[2:4], 0.03)
                flipped = beside + flipped[4:]
            letters, numbers = letters + kinds[word], numbers + flipped
        elif word in ("f", "S"):
            if word == "S":
                shapes.append((colour, "line", numbers + [width]))
            elif letters == "MQQQQ":
                x, y, left = numbers[0], numbers[1], numbers[8]
                shapes.append((colour, "disc", [(x + left) / 2, y, (x - left) / 2]))
            else:
                check(quadratic, f"pdf: {letters} has other curves than quadratic ones")
                shapes.append((colour, letters, numbers))
            letters, numbers, quadratic = "", [], True
        stack = []
    return shapes


# ------------------------------------------------------------------------------------------------------------


def compare_shapes(name, svg, pdf):
    check(len(svg) == len(pdf) > 270, f"{name}: {len(svg)} shapes in SVG, {len(pdf)} in PDF")
    for i, (one, other) in enumerate(zip(svg, pdf)):
        if one[:2] != other[:2] or not near(one[2], other[2], 0.03):
            check(False, f"{name}: shape {i} is {one} in SVG, {other} in PDF")
            return


def compare_image(name, png, image):
    """The PNG file is the average of 3 x 3 samples where no shape stands in front."""
    width, height, pixels = png
    wide, high, samples = image
    check((wide, high) == (3 * width, 3 * height), f"{name}: an image of {wide} x {high} samples")
    same = 0
    for j in range(height):
        rows = [samples[9 * width * (3 * j + k):9 * width * (3 * j + k + 1)] for k in range(3)]
        row = pixels[3 * width * j:3 * width * (j + 1)]
        sums = [a + b + c for a, b, c in zip(*rows)]
        for i in range(width):
            at = 9 * i
            same += all(abs(row[3 * i + k] - (sums[at + k] + sums[at + 3 + k] + sums[at + 6 + k]) / 9) <= 1
                        for k in range(3))
    share = same / (width * height)
    check(0.85 < share < 0.99, f"{name}: {share:.3f} of the pixels are the field")


def compare_rendered(name, png, svg):
    width, height, pixels = png
    seen = Image.open(io.BytesIO(cairosvg.svg2png(bytestring=svg))).convert("RGB")
    check(seen.size == (width, height), f"{name}: rendered {seen.size}")
    drawn = seen.tobytes()
    wrong = [abs(a - b) for a, b in zip(drawn, pixels)]
    far = sum(difference > 100 for difference in wrong)
    check(sum(wrong) < 2 * len(wrong), f"{name}: pixels differ by {sum(wrong) / len(wrong):.2f} on the average")
    check(far < len(wrong) // 1000, f"{name}: {far} of {len(wrong)} colours differ by more than 100")


def compare(folder, name, written):
    png = decode(read(folder, written["png"]))
    svg = read(folder, written["svg"])
    width, height, image, shapes = svg_shapes(svg)
    check((width, height) == png[:2], f"{name}: a page of {width} x {height}")
    compare_image(name, png, decode(image))
    objects = pdf_objects(read(folder, written["pdf"]))
    check(f"/MediaBox [0 0 {0.75 * width:g} {0.75 * height:g}]" in objects[3][0], f"{name}: {objects[3][0]}")
    wide, high, rows = pdf_image(*objects[6])
    check((wide, high, rows) == decode(image, filtered=True), f"{name}: the image of the PDF")
    content = objects[5][1].decode()
    head = f"0.75 0 0 0.75 0 0 cm 1 j 1 J\nq {width} 0 0 {height} 0 0 cm /Field Do Q\n"
    check(content.startswith(head), f"{name}: {content[:80]}")
    compare_shapes(name, shapes, pdf_shapes(content[len(head):], height))
    if cairosvg:
        compare_rendered(name, png, svg)


def refuse(folder):
    film = ["--png", "u.SVG", "--set", "output.film=f.png"]
    photo = ["--png", "u.jpg"]
    for options, text in ((film, "of PNG files, the pictures are u.SVG"), (photo, "call it u.png, or .svg, .pdf")):
        code, errors, _ = solve(folder, *options)
        check(code == 2 and text in errors, f"{options}: {code} {errors}")
        check(not os.path.exists(os.path.join(folder, "u-000.SVG")), f"{options}: a picture is written")


def main():
    done = subprocess.run([PROGRAM, "info", "--json"], capture_output=True, text=True, check=True)
    if not json.loads(done.stdout)["parts"]["png"]:
        print("skipped: a build without libpng")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name, case in {"flat": FLAT, "body": BODY}.items():
            with open(os.path.join(folder, "case.yaml"), "w", encoding="utf-8") as file:
                file.write(case)
            if name == "flat":
                refuse(folder)
            written = {}
            for ending in ("png", "svg", "pdf"):
                code, errors, written[ending] = solve(folder, "--png", f"u.{ending}")
                check(code == 0 and not errors, f"{name} as {ending}: {code} {errors}")
            compare(folder, name, written)
        # pictures of a run are drawn again in one range, which the last one has
        first, last = (svg_shapes(read(folder, f"u-00{i}.svg")) for i in (0, 2))
        ticks = [[shape for shape in page[3] if shape[0] == "#787e86"] for page in (first, last)]
        check(first[:2] == last[:2] and first[2] != last[2] and ticks[0] == ticks[1], "pictures of a run")
        check(len(ticks[0]) > 10, f"{len(ticks[0])} ticks")
    if not cairosvg:
        print("not rendered: cairosvg is missing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
