// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SYMBOLS_PROGRAMS_SCRAMBLE_H
#define PMUSIM_TESTS_SYMBOLS_PROGRAMS_SCRAMBLE_H

unsigned long scramble(unsigned long rounds);

#endif
