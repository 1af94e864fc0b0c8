// SPDX-License-Identifier: MIT
#include "driver/intel/samples/ip_fixup.h"

#include "base/kernel_address.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::driver {

namespace {

constexpr u64 longest_block_bytes = 4096;

}  // namespace

std::optional<u64> previous_instruction(u64 next_ip, const perf::BranchEntry& newest,
                                        const CodeReader& read) {
  if (newest.from == 0 || newest.to == 0) return std::nullopt;
  if (newest.to == next_ip) return newest.from;  // the sampled instruction is the branch
  if (is_kernel_address(newest.to) != is_kernel_address(next_ip)) return std::nullopt;
  if (next_ip < newest.to || next_ip - newest.to > longest_block_bytes) return std::nullopt;

  const std::vector<std::byte> code = read(newest.to, next_ip - newest.to);
  std::size_t offset = 0;
  while (offset < code.size()) {
    const x86::Instruction instruction = x86::decode(std::span(code).subspan(offset), newest.to + offset);
    if (instruction.length == 0) return std::nullopt;
    if (instruction.end() == next_ip) return instruction.ip;
    offset += instruction.length;
  }
  return std::nullopt;
}

}  // namespace pmusim::driver
