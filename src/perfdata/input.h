// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_INPUT_H
#define PMUSIM_SRC_PERFDATA_INPUT_H

#include <filesystem>
#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::perfdata {

struct InputBytes {
  std::string name;  ///< for messages
  std::vector<std::byte> bytes;
};

/// The bytes of a profile. `perf record --threads` writes a directory: `data` is a file with its header, and
/// data.0, data.1, ... are records alone.
struct Input {
  InputBytes head;
  std::vector<InputBytes> parts;
};

/// A file, a directory of `perf record --threads` or `--kcore`, or "-", standard input. Errors: it cannot be
/// read; a directory without `data`.
Result<Input, Error> read_input(const std::filesystem::path& path);

}  // namespace pmusim::perfdata

#endif
