/* See drawing.h. */
#include "drawing.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "output_file.h"

/* ---- PDF ----------------------------------------------------------------------------------------------- */

/* Widths of the letters from space to tilde, in thousandths of the font size (Adobe's metrics of Helvetica). */
static const short widths[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
_Static_assert(sizeof widths / sizeof *widths == '~' - ' ' + 1, "a letter is missing");

static int hex(char c) {
  return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* "r g b" from 0 to 1, followed by an operator. */
static void put_colour(const CliDrawing *d, const char *colour, const char *operator) {
  const bool brief = strlen(colour) == 4;
  for (int k = 0; k < 3; k++) {
    const int high = hex(colour[brief ? 1 + k : 1 + 2 * k]), low = brief ? high : hex(colour[2 + 2 * k]);
    fprintf(d->out, "%.3f ", (16 * high + low) / 255.);
  }
  fprintf(d->out, "%s\n", operator);
}

static void begin_stroke(const CliDrawing *d, const char *colour, double width, bool dashed) {
  put_colour(d, colour, "RG");
  fprintf(d->out, "%g w %s d\n", width, dashed ? "[5 4] 0" : "[] 0");
}

/* The next letter of UTF-8 as a byte of WinAnsiEncoding, which is Latin-1 beyond ASCII; other letters become '?'. */
static int next_letter(const char **text) {
  const unsigned char first = (unsigned char)*(*text)++;
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0, code = first & (0x3f >> more);
  if (first < 0x80) return first < ' ' || first > '~' ? ' ' : first;
  for (; more > 0 && (**text & 0xc0) == 0x80; more--) code = code << 6 | (*(*text)++ & 0x3f);
  return code >= 0xa0 && code <= 0xff ? code : '?';
}

static double width_of(const char *text, const char *end, double size) {
  int width = 0;
  while (text < end && *text) {
    const int letter = next_letter(&text);
    width += letter >= ' ' && letter <= '~' ? widths[letter - ' '] : 556;
  }
  return width * size / 1000;
}

static void put_pdf_text(const CliDrawing *d, double x, double y, const CliText *how, const char *text) {
  const size_t length = strnlen(text, (size_t)how->most);
  const double size = how->size > 0 ? how->size : 12,
               left = 0.5 * how->anchor * width_of(text, text + length, size);
  put_colour(d, how->colour ? how->colour : "#000", "rg");
  fprintf(d->out, "BT /F1 %g Tf %s %.2f %.2f Tm (", size, how->upright ? "0 1 -1 0" : "1 0 0 1",
          how->upright ? x : x - left, d->height - y - (how->upright ? left : 0));
  for (const char *at = text; at < text + length && *at;) {
    const int letter = next_letter(&at);
    if (strchr("()\\", letter)) fputc('\\', d->out);
    if (letter < 0x80)
      fputc(letter, d->out);
    else
      fprintf(d->out, "\\%03o", (unsigned)letter);
  }
  fputs(") Tj ET\n", d->out);
}

/* A polygon around (x, y), filled and stroked. */
static void put_polygon(const CliDrawing *d, const double (*corner)[2], double x, double y) {
  for (int i = 0; i < 4; i++)
    fprintf(d->out, "%.2f %.2f %s ", x + corner[i][0], d->height - y - corner[i][1], i ? "l" : "m");
  fputs("b\n", d->out);
}

/* Four cubic curves. */
static void put_circle(const CliDrawing *d, double x, double y, double r) {
  const double at[5][2] = {{r, 0}, {0, r}, {-r, 0}, {0, -r}, {r, 0}}, k = 0.5522847498;
  y = d->height - y;
  fprintf(d->out, "%.2f %.2f m ", x + r, y);
  for (int i = 0; i < 4; i++) {
    const double *a = at[i], *b = at[i + 1];
    fprintf(d->out, "%.2f %.2f %.2f %.2f %.2f %.2f c ", x + a[0] + k * b[0], y + a[1] + k * b[1],
            x + b[0] + k * a[0], y + b[1] + k * a[1], x + b[0], y + b[1]);
  }
  fputs("b\n", d->out);
}

/* The page around its content, and the position of each object. Sizes are in points: 3/4 of a pixel. */
static void put_document(FILE *out, const CliDrawing *d) {
  long at[6];
  fputs("%PDF-1.4\n", out);
  at[1] = ftell(out);
  fputs("1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n", out);
  at[2] = ftell(out);
  fputs("2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n", out);
  at[3] = ftell(out);
  fprintf(out,
          "3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents 5 0 R "
          "/Resources << /Font << /F1 4 0 R >> >> >> endobj\n",
          0.75 * d->width, 0.75 * d->height);
  at[4] = ftell(out);
  fputs("4 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n",
        out);
  at[5] = ftell(out);
  fprintf(out, "5 0 obj << /Length %zu >> stream\n%s\nendstream endobj\n", d->length, d->text);
  const long table = ftell(out);
  fputs("xref\n0 6\n0000000000 65535 f \n", out);
  for (int i = 1; i < 6; i++) fprintf(out, "%010ld 00000 n \n", at[i]);
  fprintf(out, "trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%ld\n%%%%EOF\n", table);
}

/* ---- SVG ----------------------------------------------------------------------------------------------- */

static void put_svg_text(FILE *out, const char *text, int most) {
  for (int i = 0; *text && i < most; text++, i++) switch (*text) {
    case '&':
      fputs("&amp;", out);
      break;
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    default:
      fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static const char *dashes(bool dashed) {
  return dashed ? " stroke-dasharray=\"5 4\"" : "";
}

/* ---- both ---------------------------------------------------------------------------------------------- */

bool cli_drawing_begin(CliDrawing *d, const char *path, int width, int height) {
  const char *dot = strrchr(path, '.');
  *d = (CliDrawing){.pdf = dot && !strcasecmp(dot, ".pdf"), .width = width, .height = height};
  d->out = open_memstream(&d->text, &d->length);
  if (!d->out) return false;
  if (d->pdf)
    fputs("0.75 0 0 0.75 0 0 cm 1 j 1 J\n", d->out);
  else
    fprintf(d->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height);
  return true;
}

TesStatus cli_drawing_end(TesContext *ctx, CliDrawing *d, const char *path) {
  char *text = NULL;
  size_t length;
  if (!d->pdf) {
    fputs("</svg>\n", d->out);
    return cli_file_commit(ctx, d->out, &d->text, path);
  }
  const bool collected = !ferror(d->out);
  FILE *out = fclose(d->out) == 0 && collected ? open_memstream(&text, &length) : NULL;
  if (out) put_document(out, d);
  free(d->text);
  return out ? cli_file_commit(ctx, out, &text, path) : TES_OUT_OF_MEMORY;
}

void cli_draw_segment(CliDrawing *d, double x0, double y0, double x1, double y1, const char *colour,
                      double width, bool dashed) {
  if (!d->pdf) {
    fprintf(d->out, "<path d=\"M%.1f %.1f L%.1f %.1f\" stroke=\"%s\" stroke-width=\"%g\"%s/>\n", x0, y0, x1,
            y1, colour, width, dashes(dashed));
    return;
  }
  begin_stroke(d, colour, width, dashed);
  fprintf(d->out, "%.2f %.2f m %.2f %.2f l S\n", x0, d->height - y0, x1, d->height - y1);
}

void cli_draw_line_begin(CliDrawing *d, const char *colour, bool dashed) {
  d->begun = false;
  if (d->pdf)
    begin_stroke(d, colour, 2, dashed);
  else
    fprintf(d->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour,
            dashes(dashed));
}

void cli_draw_line_to(CliDrawing *d, double x, double y) {
  if (d->pdf)
    fprintf(d->out, "%.2f %.2f %s\n", x, d->height - y, d->begun ? "l" : "m");
  else
    fprintf(d->out, "%.1f,%.1f ", x, y);
  d->begun = true;
}

void cli_draw_line_end(CliDrawing *d) {
  fputs(!d->pdf ? "\"/>\n" : d->begun ? "S\n" : "n\n", d->out);
}

void cli_draw_mark(CliDrawing *d, int kind, double x, double y, const char *colour, const char *inside) {
  static const double square[4][2] = {{-3, -3}, {3, -3}, {3, 3}, {-3, 3}},
                      diamond[4][2] = {{0, -4}, {4, 0}, {0, 4}, {-4, 0}};
  if (d->pdf) {
    begin_stroke(d, colour, 1, false);
    put_colour(d, inside, "rg");
    if (kind == 0)
      put_circle(d, x, y, 3);
    else
      put_polygon(d, kind == 1 ? square : diamond, x, y);
    return;
  }
  if (kind == 0)
    fprintf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"", x, y);
  else if (kind == 1)
    fprintf(d->out, "<path d=\"M%.1f %.1f h6 v6 h-6 z\"", x - 3, y - 3);
  else
    fprintf(d->out, "<path d=\"M%.1f %.1f l4 4 l-4 4 l-4 -4 z\"", x, y - 4);
  fprintf(d->out, " fill=\"%s\" stroke=\"%s\"/>\n", inside, colour);
}

void cli_draw_text(CliDrawing *d, double x, double y, const CliText *how, const char *text) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  if (d->pdf) {
    put_pdf_text(d, x, y, how, text);
    return;
  }
  if (how->upright)
    fprintf(d->out, "<text transform=\"translate(%.1f,%.1f) rotate(-90)\"", x, y);
  else
    fprintf(d->out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
  fputs(anchors[how->anchor], d->out);
  if (how->size > 0) fprintf(d->out, " font-size=\"%g\"", how->size);
  if (how->colour) fprintf(d->out, " fill=\"%s\"", how->colour);
  fputc('>', d->out);
  put_svg_text(d->out, text, how->most);
  fputs("</text>\n", d->out);
}
