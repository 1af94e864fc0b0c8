// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_CAPI_CHECK_H
#define PMUSIM_TESTS_CAPI_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Tests in C: what does not hold is printed, and the program fails.

static int failed_checks;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failed_checks;                                                \
    }                                                                 \
  } while (0)

#define CHECK_EQUAL(found, expected)                                                              \
  do {                                                                                            \
    const unsigned long long found_ = (unsigned long long)(found);                                \
    const unsigned long long expected_ = (unsigned long long)(expected);                          \
    if (found_ != expected_) {                                                                    \
      fprintf(stderr, "%s:%d: %s is %#llx, expected %#llx\n", __FILE__, __LINE__, #found, found_, \
              expected_);                                                                         \
      ++failed_checks;                                                                            \
    }                                                                                             \
  } while (0)

// The call fails, and its sentence has the word in it.
#define CHECK_REFUSED(call, word)                                                             \
  do {                                                                                        \
    if ((call) != PMUSIM_ERROR || strstr(pmusim_last_error(), word) == NULL) {                \
      fprintf(stderr, "%s:%d: %s: \"%s\"\n", __FILE__, __LINE__, #call, pmusim_last_error()); \
      ++failed_checks;                                                                        \
    }                                                                                         \
  } while (0)

static int checked(void) { return failed_checks == 0 ? EXIT_SUCCESS : EXIT_FAILURE; }

#endif
