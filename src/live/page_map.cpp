// SPDX-License-Identifier: MIT
#include "live/page_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace pmusim::live {
namespace {

// Documentation/admin-guide/mm/pagemap.rst
constexpr u64 present_bit = u64{1} << 63, frame_mask = (u64{1} << 55) - 1;

}  // namespace

std::optional<PageMap> PageMap::of(u32 pid) {
  FileDescriptor entries(::open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!entries) return std::nullopt;
  return PageMap(std::move(entries));
}

bool PageMap::tells_frames() {
  const u64 on_the_stack = 0;
  const auto own = of(static_cast<u32>(::getpid()));
  return own && own->physical_address(reinterpret_cast<u64>(&on_the_stack)).has_value();
}

std::optional<u64> PageMap::entry(u64 page) const {
  u64 entry = 0;
  const auto read = ::pread(entries_.number(), &entry, sizeof entry, static_cast<off_t>(page * sizeof entry));
  return read == sizeof entry ? std::optional(entry) : std::nullopt;
}

bool PageMap::is_present(u64 page) const { return (entry(page).value_or(present_bit) & present_bit) != 0; }

std::optional<u64> PageMap::physical_address(u64 address) const {
  const u64 found = entry(address / page_bytes).value_or(0), frame = found & frame_mask;
  if ((found & present_bit) == 0 || frame == 0) return std::nullopt;
  return frame * page_bytes + address % page_bytes;
}

}  // namespace pmusim::live
