// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_RECORD_WORD_H
#define PMUSIM_SRC_DRIVER_X86_RECORD_WORD_H

#include <cstddef>
#include <cstring>

#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

/// A word of a record or of a sample, wherever it lies.
inline u64 load_word(const std::byte* from) {
  le64 word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
inline void store_word(std::byte* to, u64 value) {
  const le64 word = value;
  std::memcpy(to, &word, sizeof(word));
}

}  // namespace pmusim::driver

#endif
