// SPDX-License-Identifier: MIT
#include "live/descriptor_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace pmusim::live {

std::string descriptor_link(u32 tid, u64 number) {
  return fmt::format("/proc/{}/fd/{}", tid, static_cast<u32>(number));
}

std::string descriptor_name(u32 tid, u64 number) {
  std::array<char, PATH_MAX> name{};
  const ssize_t bytes = ::readlink(descriptor_link(tid, number).c_str(), name.data(), name.size());
  return bytes > 0 ? std::string(name.data(), static_cast<std::size_t>(bytes)) : std::string();
}

}  // namespace pmusim::live
