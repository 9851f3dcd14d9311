/* The places where kernels put numbers for other ranks, and find the numbers from other ranks (src/device/links.h);
 * the host includes this text too. Each link sends as many numbers as it receives. */
#ifndef TESK_LINKS_ARGUMENTS_H
#define TESK_LINKS_ARGUMENTS_H

enum { TESK_LINKS_PACK = 1, TESK_LINKS_TAKE = 2, TESK_LINKS_BOTH = 3 }; /* phases of a launch */

typedef struct TeskLinks {
  const long long *first; /* [links + 1]: how many received numbers belong to the links before */
  char *const *out;       /* [2][links]: where the numbers of a link go, in even and in odd rounds */
  const char *in;         /* the received numbers */
  long long half;         /* bytes between the numbers received in even and in odd rounds */
  unsigned *round; /* [0]: how many rounds there were; of links_meet.h: [1] the last round in which this rank has
                           * packed, [2] and [3] counts of blocks */
  unsigned *const *to;  /* [links]: flags of the other ranks; NULL where messages move the numbers */
  const unsigned *from; /* this rank's flags, 64 bytes apart */
  int links;
} TeskLinks;

#endif
