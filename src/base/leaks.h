/* Libraries that leave memory behind when they begin and end, such as MPI, do so between __lsan_disable() and
 * __lsan_enable(): not for our leak checks. */
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
