// SPDX-License-Identifier: MIT
#include "trace/pipe_bytes.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pmusim::trace {
namespace {

constexpr int wait_ms = 50;

}  // namespace

Result<Done, Error> PipeBytes::read(u64 offset, std::span<std::byte> out) const {
  const std::size_t from_kept = read_kept(offset, out);
  const auto rest = out.subspan(from_kept);
  if (rest.empty()) return Done{};
  if (offset + from_kept != position_)
    return Failure(Error(fmt::format("{}: comes through a pipe, which stands at offset {}; expected {}",
                                     name_, position_, offset + from_kept)));
  return read_pipe(rest);
}

std::size_t PipeBytes::read_kept(u64 offset, std::span<std::byte> out) const {
  if (offset >= kept_.size()) {
    if (!keeps_) kept_ = {};  // everything of it was read again
    return 0;
  }
  const auto from = std::span(kept_).subspan(static_cast<std::size_t>(offset));
  const std::size_t count = std::min(from.size(), out.size());
  std::copy_n(from.begin(), count, out.begin());
  return count;
}

Result<Done, Error> PipeBytes::read_pipe(std::span<std::byte> out) const {
  for (auto rest = out; !rest.empty();) {
    const std::size_t got = read_some(rest);
    if (got == 0) return Failure(Error(fmt::format("{}: truncated: it ends at offset {}", name_, position_)));
    position_ += got;
    rest = rest.subspan(got);
  }
  if (keeps_) kept_.insert(kept_.end(), out.begin(), out.end());
  return Done{};
}

// 0 when everything was read that there will be.
std::size_t PipeBytes::read_some(std::span<std::byte> out) const {
  while (true) {
    between_reads_();
    pollfd readable{descriptor_, POLLIN, 0};
    if (::poll(&readable, 1, wait_ms) <= 0) continue;
    const ssize_t got = ::read(descriptor_, out.data(), out.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return 0;
  }
}

void PipeBytes::drain() const {
  std::array<std::byte, 65536> dropped{};
  while (read_some(dropped) != 0) continue;
}

}  // namespace pmusim::trace
