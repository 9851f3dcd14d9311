/* Where kernels put what goes to other ranks, and find what comes from them (src/device/links.h); the host includes
 * this text too. Of each link as many numbers go as come. */
#ifndef TESK_LINKS_ARGUMENTS_H
#define TESK_LINKS_ARGUMENTS_H

typedef struct TeskLinks {
  const long long *first; /* [links + 1]: numbers of the links before a link, among what comes */
  char *const *out;       /* [2][links]: where the numbers of a link go, in rounds that are even, and odd */
  const char *in;         /* what comes */
  long long half;         /* bytes from what comes in even rounds to what comes in odd ones */
  unsigned *round; /* [0]: how many rounds there were; of links_meet.h: [1] the last round in which this rank has
                           * packed, [2] and [3] counts of blocks */
  unsigned *const *to;  /* [links]: flags of the others; NULL where the host carries the numbers */
  const unsigned *from; /* the own flags, 64 bytes apart */
  int links;
} TeskLinks;

#endif
