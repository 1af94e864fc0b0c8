// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_CORE_CHASE_H
#define PMUSIM_TESTS_CORE_CHASE_H

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

#include "tests/core/program.h"

namespace pmusim::test {

inline constexpr u64 line_bytes = 64, page_bytes = 4096;

/// A chain of loads, each of which finds the address of the next: what a pointer chase measures. Unrolled, as
/// benchmarks are: no instruction comes round often enough for a prefetcher that follows instructions.
class Chase {
 public:
  explicit Chase(const CpuModel& model) : core_(make_core(model)) {
    x86::Instruction next = load(bit(0));
    next.registers_read = next.address_registers = bit(0);
    next.memory[0].base = 0;
    block_ = block_at(0x1000, std::vector<x86::Instruction>(unrolled, next));
    run(core_, block_, std::vector<u64>(unrolled, 0x1000));  // its own code is there
  }

  /// Cycles that an access takes on average.
  double cycles_per_access(const std::vector<u64>& addresses) {
    const u64 before = core_.cycle();
    for (std::size_t at = 0; at < addresses.size(); at += unrolled)
      go(std::span(addresses).subspan(at, std::min(unrolled, addresses.size() - at)));
    return static_cast<double>(core_.cycle() - before) / static_cast<double>(addresses.size());
  }

 private:
  static constexpr std::size_t unrolled = 512;
  void go(std::span<const u64> addresses) {
    trace::BlockRun block_run;
    trace::Block part;
    part.instructions.assign(block_.instructions.begin(),
                             block_.instructions.begin() + static_cast<std::ptrdiff_t>(addresses.size()));
    block_run.block = addresses.size() == unrolled ? &block_ : &part;
    block_run.next_ip = block_.instructions.front().ip;
    block_run.addresses = addresses;
    core_.run(block_run, [](const Retirement&) {});
  }

  Core core_;
  trace::Block block_;
};

/// Every `stride` bytes of so many, upwards.
inline std::vector<u64> ascending(u64 start, u64 bytes, u64 stride) {
  std::vector<u64> addresses;
  for (u64 at = 0; at < bytes; at += stride) addresses.push_back(start + at);
  return addresses;
}

/// The same page after page, each page in an order of its own.
inline std::vector<u64> random_in_pages(u64 start, u64 bytes, u64 stride) {
  std::vector<u64> addresses = ascending(start, bytes, stride);
  const auto in_page = static_cast<std::ptrdiff_t>(page_bytes / stride);
  std::mt19937_64 random(1);
  for (auto page = addresses.begin(); page + in_page <= addresses.end(); page += in_page)
    for (std::ptrdiff_t n = in_page; n > 1; --n)
      std::swap(page[n - 1], page[static_cast<std::ptrdiff_t>(random() % static_cast<u64>(n))]);
  return addresses;
}

/// So many accesses to lines anywhere.
inline std::vector<u64> anywhere(u64 start, u64 bytes, std::size_t count) {
  std::mt19937_64 random(2);
  std::vector<u64> addresses(count);
  for (u64& address : addresses) address = start + random() % (bytes / line_bytes) * line_bytes;
  return addresses;
}

}  // namespace pmusim::test

#endif
