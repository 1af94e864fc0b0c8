#ifndef PMUSIM_SRC_SESSION_FUNCTION_RANGE_H
#define PMUSIM_SRC_SESSION_FUNCTION_RANGE_H

#include <optional>
#include <string>

#include "pmusim/trace/happening.h"

namespace pmusim {

struct AddressRange {
  u64 first = 0, end = 0;
  bool contains(u64 address) const { return address >= first && address < end; }
};

/// Where a function of the mapped file lies in memory; nothing if the file has no such symbol or is no ELF
/// file that can be read.
std::optional<AddressRange> function_range(const trace::Mapping& mapping, const std::string& name);

}  // namespace pmusim

#endif
