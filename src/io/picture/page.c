/* See page.h. */
#include "io/picture/page.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "io/file.h"
#include "io/picture/png.h"

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
static void put_colour(const TesiPage *d, const char *colour, const char *operator) {
  const bool brief = strlen(colour) == 4;
  for (int k = 0; k < 3; k++) {
    const int high = hex(colour[brief ? 1 + k : 1 + 2 * k]), low = brief ? high : hex(colour[2 + 2 * k]);
    fprintf(d->out, "%.3f ", (16 * high + low) / 255.);
  }
  fprintf(d->out, "%s\n", operator);
}

static void begin_stroke(const TesiPage *d, const char *colour, double width, bool dashed) {
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

static void put_pdf_text(const TesiPage *d, double x, double y, const TesiPageText *how, const char *text) {
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
static void put_polygon(const TesiPage *d, const double (*corner)[2], double x, double y) {
  for (int i = 0; i < 4; i++)
    fprintf(d->out, "%.2f %.2f %s ", x + corner[i][0], d->height - y - corner[i][1], i ? "l" : "m");
  fputs("b\n", d->out);
}

/* Four cubic curves, and an operator. */
static void put_circle(const TesiPage *d, double x, double y, double r, const char *operator) {
  const double at[5][2] = {{r, 0}, {0, r}, {-r, 0}, {0, -r}, {r, 0}}, k = 0.5522847498;
  y = d->height - y;
  fprintf(d->out, "%.2f %.2f m ", x + r, y);
  for (int i = 0; i < 4; i++) {
    const double *a = at[i], *b = at[i + 1];
    fprintf(d->out, "%.2f %.2f %.2f %.2f %.2f %.2f c ", x + a[0] + k * b[0], y + a[1] + k * b[1],
            x + b[0] + k * a[0], y + b[1] + k * a[1], x + b[0], y + b[1]);
  }
  fprintf(d->out, "%s\n", operator);
}

enum { OBJECTS = 7 };

/* The compressed rows of the image. Predictor 15: each row names its filter, as in PNG. */
static void put_image(FILE *out, const TesiPage *d) {
  size_t length = 0, part;
  const char *rows = tesi_png_rows(d->png, d->png_length, NULL, &part);
  for (const char *at = rows; at; at = tesi_png_rows(d->png, d->png_length, at, &part)) length += part;
  const unsigned width = tesi_png_size(d->png, 0), height = tesi_png_size(d->png, 1);
  fprintf(out,
          "6 0 obj << /Type /XObject /Subtype /Image /Width %u /Height %u /ColorSpace /DeviceRGB "
          "/BitsPerComponent 8 /Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 3 /Columns %u >> "
          "/Length %zu >> stream\n",
          width, height, width, length);
  for (const char *at = tesi_png_rows(d->png, d->png_length, NULL, &part); at;
       at = tesi_png_rows(d->png, d->png_length, at, &part))
    fwrite(at, 1, part, out);
  fputs("\nendstream endobj\n", out);
}

/* The page around its content, and the position of each object. Sizes are in points: 3/4 of a pixel. */
static void put_document(FILE *out, const TesiPage *d) {
  long at[OBJECTS];
  const int objects = d->png_length ? OBJECTS : OBJECTS - 1;
  fputs("%PDF-1.4\n", out);
  at[1] = ftell(out);
  fputs("1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n", out);
  at[2] = ftell(out);
  fputs("2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n", out);
  at[3] = ftell(out);
  fprintf(out,
          "3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents 5 0 R "
          "/Resources << /Font << /F1 4 0 R >> %s>> >> endobj\n",
          0.75 * d->width, 0.75 * d->height, d->png_length ? "/XObject << /Field 6 0 R >> " : "");
  at[4] = ftell(out);
  fputs("4 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n",
        out);
  at[5] = ftell(out);
  fprintf(out, "5 0 obj << /Length %zu >> stream\n%s\nendstream endobj\n", d->length, d->text);
  at[6] = ftell(out);
  if (d->png_length) put_image(out, d);
  const long table = ftell(out);
  fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", objects);
  for (int i = 1; i < objects; i++) fprintf(out, "%010ld 00000 n \n", at[i]);
  fprintf(out, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%ld\n%%%%EOF\n", objects, table);
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

static void put_base64(FILE *out, const char *data, size_t length) {
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *in = (const unsigned char *)data;
  for (size_t i = 0; i < length; i += 3) {
    const size_t more = length - i;
    const unsigned bits = in[i] << 16u | (more > 1 ? in[i + 1] : 0u) << 8u | (more > 2 ? in[i + 2] : 0u);
    fputc(letter[bits >> 18], out);
    fputc(letter[bits >> 12 & 63], out);
    fputc(more > 1 ? letter[bits >> 6 & 63] : '=', out);
    fputc(more > 2 ? letter[bits & 63] : '=', out);
  }
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending) {
  const char *dot = strrchr(path, '.');
  return dot && !strcasecmp(dot, ending);
}

bool tesi_page_is_asked(const char *path) {
  return ends_in(path, ".svg") || ends_in(path, ".pdf");
}

TesStatus tesi_page_begin(TesContext *ctx, TesiPage *d, const char *path, int width, int height) {
  TesStatus status = TES_OK;
  *d = (TesiPage){.pdf = ends_in(path, ".pdf"), .width = width, .height = height};
  d->out = open_memstream(&d->text, &d->length);
  if (!d->out) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for %s", path);
  if (d->pdf)
    fputs("0.75 0 0 0.75 0 0 cm 1 j 1 J\n", d->out);
  else
    fprintf(d->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height);
done:
  return status;
}

/* Closes the stream, so that text and length are complete. */
static bool close_stream(FILE **out) {
  const bool collected = *out && !ferror(*out), closed = *out && fclose(*out) == 0;
  *out = NULL;
  return collected && closed;
}

void tesi_page_discard(TesiPage *d) {
  close_stream(&d->out);
  free(d->text);
  *d = (TesiPage){0};
}

/* The file's bytes, which the caller frees. */
static bool make_file(TesiPage *d, char **text, size_t *length) {
  if (!d->pdf && d->out) fputs("</svg>\n", d->out);
  if (!close_stream(&d->out)) return false;
  if (!d->pdf) {
    *text = d->text, *length = d->length;
    d->text = NULL;
    return true;
  }
  FILE *out = open_memstream(text, length);
  if (out) put_document(out, d);
  return close_stream(&out);
}

TesStatus tesi_page_end(TesContext *ctx, TesiPage *d, const char *path) {
  TesStatus status = TES_OK;
  char *text = NULL;
  size_t length = 0;
  TesiFile *file = NULL;
  if (!make_file(d, &text, &length)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for %s", path);
done:
  status = tesi_file_agree(ctx, status);
  if (status == TES_OK) status = tesi_file_create(ctx, path, &file);
  if (status == TES_OK) status = tesi_file_agree(ctx, tesi_file_write(file, text, length));
  if (status == TES_OK) status = tesi_file_commit(&file);
  tesi_file_discard(&file);
  free(text);
  tesi_page_discard(d);
  return status;
}

/* Over the white ground, and under all that follows. */
void tesi_page_image(TesiPage *d, const char *png, size_t length) {
  d->png = png, d->png_length = length;
  if (d->pdf) {
    fprintf(d->out, "q %d 0 0 %d 0 0 cm /Field Do Q\n", d->width, d->height);
    return;
  }
  fprintf(d->out,
          "<image width=\"%d\" height=\"%d\" preserveAspectRatio=\"none\" "
          "xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"data:image/png;base64,",
          d->width, d->height);
  put_base64(d->out, png, length);
  fputs("\"/>\n", d->out);
}

void tesi_page_segment(TesiPage *d, double x0, double y0, double x1, double y1, const char *colour,
                       double width, bool dashed) {
  if (!d->pdf) {
    const int digits = d->fine ? 2 : 1;
    fprintf(d->out, "<path d=\"M%.*f %.*f L%.*f %.*f\" stroke=\"%s\" stroke-width=\"%g\"%s%s/>\n", digits, x0,
            digits, y0, digits, x1, digits, y1, colour, width, dashes(dashed),
            d->fine ? " stroke-linecap=\"round\"" : "");
    return;
  }
  begin_stroke(d, colour, width, dashed);
  fprintf(d->out, "%.2f %.2f m %.2f %.2f l S\n", x0, d->height - y0, x1, d->height - y1);
}

void tesi_page_line_begin(TesiPage *d, const char *colour, bool dashed) {
  d->begun = false;
  if (d->pdf)
    begin_stroke(d, colour, 2, dashed);
  else
    fprintf(d->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour,
            dashes(dashed));
}

void tesi_page_line_to(TesiPage *d, double x, double y) {
  if (d->pdf)
    fprintf(d->out, "%.2f %.2f %s\n", x, d->height - y, d->begun ? "l" : "m");
  else
    fprintf(d->out, "%.1f,%.1f ", x, y);
  d->begun = true;
}

void tesi_page_line_end(TesiPage *d) {
  fputs(!d->pdf ? "\"/>\n" : d->begun ? "S\n" : "n\n", d->out);
}

void tesi_page_outline_begin(TesiPage *d, const char *colour) {
  if (d->pdf)
    put_colour(d, colour, "rg");
  else
    fprintf(d->out, "<path fill=\"%s\" d=\"", colour);
}

void tesi_page_outline_move(TesiPage *d, double x, double y) {
  fprintf(d->out, d->pdf ? "%.2f %.2f m\n" : "M%.2f %.2f", x, d->pdf ? d->height - y : y);
  d->at[0] = x, d->at[1] = y;
}

void tesi_page_outline_line(TesiPage *d, double x, double y) {
  fprintf(d->out, d->pdf ? "%.2f %.2f l\n" : "L%.2f %.2f", x, d->pdf ? d->height - y : y);
  d->at[0] = x, d->at[1] = y;
}

/* PDF has cubic curves: their inner points lie two thirds of the way to the point beside. */
void tesi_page_outline_curve(TesiPage *d, double a, double b, double x, double y) {
  if (d->pdf)
    fprintf(d->out, "%.2f %.2f %.2f %.2f %.2f %.2f c\n", (d->at[0] + 2 * a) / 3,
            d->height - (d->at[1] + 2 * b) / 3, (x + 2 * a) / 3, d->height - (y + 2 * b) / 3, x,
            d->height - y);
  else
    fprintf(d->out, "Q%.2f %.2f %.2f %.2f", a, b, x, y);
  d->at[0] = x, d->at[1] = y;
}

void tesi_page_outline_end(TesiPage *d) {
  fputs(d->pdf ? "f\n" : "\"/>\n", d->out);
}

void tesi_page_disc(TesiPage *d, double x, double y, double radius, const char *colour) {
  if (!d->pdf) {
    fprintf(d->out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\"/>\n", x, y, radius, colour);
    return;
  }
  put_colour(d, colour, "rg");
  put_circle(d, x, y, radius, "f");
}

void tesi_page_mark(TesiPage *d, int kind, double x, double y, const char *colour, const char *inside) {
  static const double square[4][2] = {{-3, -3}, {3, -3}, {3, 3}, {-3, 3}},
                      diamond[4][2] = {{0, -4}, {4, 0}, {0, 4}, {-4, 0}};
  if (d->pdf) {
    begin_stroke(d, colour, 1, false);
    put_colour(d, inside, "rg");
    if (kind == 0)
      put_circle(d, x, y, 3, "b");
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

void tesi_page_text(TesiPage *d, double x, double y, const TesiPageText *how, const char *text) {
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
