// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_GUEST_BLOCK_H
#define PMUSIM_QEMU_GUEST_BLOCK_H

#include <map>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::qemu {

/// Code as qemu translated it: a straight line that ends at a branch, at a page or when it gets long. In the
/// trace it is one block, or several where a block of the trace holds no more.
struct GuestBlock {
  u64 start = 0;
  std::vector<std::byte> code;
  std::vector<u8> lengths;  ///< of the instructions
  std::vector<const trace::Block*> parts;
  std::size_t instructions() const { return lengths.size(); }
  u64 end() const { return start + code.size(); }
  const x86::Instruction& last() const { return parts.back()->instructions.back(); }
  /// How many instructions lie before `address`, if an instruction other than the first begins there.
  std::size_t boundary(u64 address) const;
  /// An instruction begins there.
  bool has(u64 address) const { return address == start || boundary(address) != 0; }
};

/// Gives equal code one block. References stay valid.
class BlockStore {
 public:
  explicit BlockStore(trace::Writer& writer) : writer_(writer) {}
  const GuestBlock& find_or_add(u64 start, std::span<const std::byte> code, std::span<const u8> lengths);
  /// The first `instructions` of a block: what is executed where a fault or a signal ends it early.
  const GuestBlock& first_of(const GuestBlock& block, std::size_t instructions);

 private:
  trace::Writer& writer_;
  std::map<std::pair<u64, std::vector<std::byte>>, GuestBlock> blocks_;
};

}  // namespace pmusim::qemu

#endif
