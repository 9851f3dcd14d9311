/* Some libraries, such as MPI, leak memory when they begin and end. These calls are put between __lsan_disable() and
 * __lsan_enable(), so that our leak checks do not report them. */
#ifndef TESI_LEAKS_H
#define TESI_LEAKS_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESI_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TESI_ADDRESS_SANITIZER
#endif
#ifdef TESI_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void)0)
#define __lsan_enable() ((void)0)
#endif

#endif
