// SPDX-License-Identifier: MIT
#include "live/user_attribute.h"

#include <algorithm>
#include <cstring>

#include "trace/tracee.h"

namespace pmusim::live {

perf::Attr beginning_of(std::span<const std::byte> user) {
  perf::Attr attr;
  std::memcpy(&attr, user.data(), std::min(user.size(), sizeof attr));
  return attr;
}

std::vector<std::byte> read_attribute(u32 tid, u64 address) {
  constexpr std::size_t smallest = 64, largest = 4096;
  std::vector<std::byte> user(smallest);
  user.resize(trace::read_memory(tid, address, user));
  if (user.size() < smallest) return user;
  const std::size_t bytes = beginning_of(user).size;
  if (bytes <= smallest || bytes > largest) return user;
  user.resize(bytes);
  user.resize(trace::read_memory(tid, address, user));
  return user;
}

}  // namespace pmusim::live
