// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_CORE_CODE_H
#define PMUSIM_TESTS_CORE_CODE_H

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <vector>

#include "pmusim/trace/trace.h"
#include "pmusim/x86/instruction.h"

namespace pmusim::test {

/// Machine code at an address.
inline trace::Block code(u64 ip, std::span<const unsigned> bytes) {
  trace::Block block;
  for (const unsigned byte : bytes) block.code.push_back(static_cast<std::byte>(byte));
  for (std::size_t at = 0; at < block.code.size();) {
    block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), ip + at));
    if (block.instructions.back().length == 0) throw std::logic_error("no code");
    at += block.instructions.back().length;
  }
  return block;
}
inline trace::Block code(u64 ip, std::initializer_list<unsigned> bytes) {
  return code(ip, std::span(bytes.begin(), bytes.size()));
}

}  // namespace pmusim::test

#endif
