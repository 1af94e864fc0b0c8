// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_DIFFERENCE_H
#define PMUSIM_LINUX_HOST_DIFFERENCE_H

#include <optional>
#include <string>
#include <vector>

#include "host/outcome.h"

namespace pmusim::linux_driver {

/// A difference that is known, with its reason: for models and set-ups that match the patterns, either bits
/// of a register's writes or of a word of samples that do not matter, or a kind of difference that is
/// expected.
struct KnownDifference {
  std::string models, setups;  ///< patterns with '*' and '@(one|other)'
  /// "counts", "records", "writes", "refusal", "warning"; "write" for `bits` of the register at `address`,
  /// "sample" for those of a sample's word number `address`
  std::string kind;
  u32 address = 0;
  u64 bits = 0;
  std::string reason;
};

/// The list of the kernel's release, or of the newest before it that has one.
std::string list_of_known_differences();
/// Reads a list of known differences. Errors: a line that is none, with its number.
Result<std::vector<KnownDifference>, Error> read_known_differences(const std::string& path);

/// Those for one cell.
std::vector<KnownDifference> known_for(const std::vector<KnownDifference>& all, const std::string& model,
                                       const std::string& setup);

/// Where two outcomes differ first, of each kind.
struct Difference {
  std::string kind;
  std::string text;
  std::string reason;  ///< empty: not known
};
std::vector<Difference> differences(const Outcome& kernel, const Outcome& session,
                                    const std::vector<KnownDifference>& known);

/// The words of both drivers' first record that differs, a line each; empty where none does.
std::string records_at_difference(const Outcome& kernel, const Outcome& session,
                                  const std::vector<KnownDifference>& known);
/// A line for each write of either driver from `context` before the first that differs to as many behind it;
/// empty where none differs.
std::string writes_around_difference(const Outcome& kernel, const Outcome& session,
                                     const std::vector<KnownDifference>& known, std::size_t context);

}  // namespace pmusim::linux_driver

#endif
