/* Where kernels put what goes to other ranks, and find what comes from them (src/device/links.h); the host includes
 * this text too. Of each link as many numbers go as come. */
#ifndef TESK_LINKS_ARGUMENTS_H
#define TESK_LINKS_ARGUMENTS_H

typedef struct TeskLinks {
  const long long *first; /* [links + 1]: numbers of the links before a link, among what comes */
  char *const *out;       /* [2][links]: where the numbers of a link go, in rounds that are even, and odd */
  const char *in;         /* what comes */
  unsigned *round;        /* how many rounds there were */
  long long half;         /* bytes from what comes in even rounds to what comes in odd ones */
} TeskLinks;

#endif
