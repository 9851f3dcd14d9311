/* Physical groups and entities of a Gmsh file. */
#include "mesh/forest/gmsh.h"

/* This section is text in binary files too. */
static TesStatus text_number(TesiGmshCursor *c, const char *what, int64_t *value) {
  const bool binary = c->binary;
  c->binary = false;
  const TesStatus status = tesi_gmsh_integer(c, what, value);
  c->binary = binary;
  return status;
}

/* dim tag "name", text even in binary files. */
static TesStatus read_name(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t dim = TESI_GMSH_ANY, tag;
  char text[128];
  size_t n = 0;
  if (c->version != 2 || c->minor > 0) TES_TRY(text_number(c, "a dimension", &dim));
  TES_TRY(text_number(c, "the tag of a physical group", &tag));
  if (!tesi_gmsh_accept(c, "\"")) TES_TRY(tesi_gmsh_fail(c, "a name in quotes should stand here"));
  for (; c->at < c->end && *c->at != '"' && *c->at != '\n' && n < sizeof text - 1; c->at++)
    text[n++] = (unsigned char)*c->at < ' ' ? '?' : *c->at;
  text[n] = 0;
  if (c->at == c->end || *c->at != '"' || !n)
    TES_TRY(tesi_gmsh_fail(c, "a name of 1..%zu characters in quotes should stand here", sizeof text - 1));
  c->at++;
  if (dim < TESI_GMSH_ANY || dim > 3 || tag < 0 || tag > INT32_MAX)
    TES_TRY(tesi_gmsh_fail(c, "physical group %s has dimension %lld and tag %lld", text, (long long)dim,
                           (long long)tag));
  TES_GROW(&mesh->name, mesh->names, mesh->names + 1, &mesh->name_room);
  mesh->name[mesh->names] = (TesiGmshName){(int)dim, (int32_t)tag, tesi_strdup(ctx, text)};
  if (!mesh->name[mesh->names].name) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for names");
  mesh->names++;
done:
  return status;
}

TesStatus tesi_gmsh_names(TesiGmshCursor *c, TesiGmsh *mesh) {
  int64_t count;
  TesStatus status = text_number(c, "the number of names", &count);
  for (int64_t i = 0; status == TES_OK && i < count; i++) status = read_name(c, mesh);
  return status;
}

/* The physical group of an entity. Entities of partitions are read later and are found first. */
int32_t tesi_gmsh_physical_of(const TesiGmsh *mesh, int64_t dim, int64_t tag) {
  for (int64_t i = mesh->entities - 1; i >= 0; i--)
    if (mesh->entity[i].dim == dim && mesh->entity[i].tag == tag) return mesh->entity[i].physical;
  return 0;
}

/* Reads the parent of an entity of a partition. *physical <- the group of the parent, for an entity without its own
 * group. */
static TesStatus read_parent(TesiGmshCursor *c, const TesiGmsh *mesh, int64_t *physical) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t dim, tag, count, partition;
  TES_TRY(tesi_gmsh_integer(c, "the dimension of an entity", &dim));
  TES_TRY(tesi_gmsh_integer(c, "the tag of an entity", &tag));
  TES_TRY(tesi_gmsh_count_of(c, "the number of partitions", 4, &count));
  for (int64_t i = 0; i < count; i++) TES_TRY(tesi_gmsh_integer(c, "a partition", &partition));
  *physical = tesi_gmsh_physical_of(mesh, dim, tag);
done:
  return status;
}

/* Keeps only the tag and the first physical group of an entity. For curves and higher dimensions, further groups are
 * reported. */
static TesStatus read_entity(TesiGmshCursor *c, int dim, bool partitioned, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t tag, groups, group, bounding = 0, first = 0;
  double x;
  TES_TRY(tesi_gmsh_integer(c, "the tag of an entity", &tag));
  if (partitioned) TES_TRY(read_parent(c, mesh, &first));
  for (int i = 0; i < (dim || c->minor == 0 ? 6 : 3); i++)
    TES_TRY(tesi_gmsh_number(c, "a coordinate of an entity", &x));
  TES_TRY(tesi_gmsh_count_of(c, "the number of physical groups", 4, &groups));
  for (int64_t i = 0; i < groups; i++) {
    TES_TRY(tesi_gmsh_integer(c, "a physical group", &group));
    if (i == 0) first = group < 0 ? -group : group; /* negative: reversed */
  }
  if (dim && groups > 1 && !partitioned)
    tesi_log(ctx, TES_LOG_WARNING,
             "%s: the %s %lld is in %lld physical groups; %lld, which stands first, names its elements",
             c->file,
             dim == 1   ? "curve"
             : dim == 2 ? "surface"
                        : "volume",
             (long long)tag, (long long)groups, (long long)first);
  if (dim) TES_TRY(tesi_gmsh_count_of(c, "the number of bounding entities", 4, &bounding));
  for (int64_t i = 0; i < bounding; i++) TES_TRY(tesi_gmsh_integer(c, "a bounding entity", &group));
  TES_GROW(&mesh->entity, mesh->entities, mesh->entities + 1, &mesh->entity_room);
  mesh->entity[mesh->entities++] = (TesiGmshEntity){dim, (int32_t)tag, (int32_t)first};
done:
  return status;
}

/* Partitions and entities at the ends of partitions. */
static TesStatus skip_partitions(TesiGmshCursor *c) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t count, number;
  TES_TRY(tesi_gmsh_count(c, "the number of partitions", &count));
  TES_TRY(tesi_gmsh_count_of(c, "the number of ghost entities", 8, &count));
  for (int64_t i = 0; i < 2 * count; i++) TES_TRY(tesi_gmsh_integer(c, "a ghost entity", &number));
done:
  return status;
}

TesStatus tesi_gmsh_entities(TesiGmshCursor *c, bool partitioned, TesiGmsh *mesh) {
  int64_t count[4];
  TesStatus status = partitioned ? skip_partitions(c) : TES_OK;
  for (int d = 0; status == TES_OK && d < 4; d++)
    status = tesi_gmsh_count_of(c, "a number of entities", 4, &count[d]);
  for (int d = 0; status == TES_OK && d < 4; d++)
    for (int64_t i = 0; status == TES_OK && i < count[d]; i++) status = read_entity(c, d, partitioned, mesh);
  return status;
}
