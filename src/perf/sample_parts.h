// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SAMPLE_PARTS_H
#define PMUSIM_SRC_PERF_SAMPLE_PARTS_H

#include "perf/sample_output.h"

/// The parts of a sample that are more than a word: each has a size and a writer that agree. Writers take the
/// place by value and return what follows, which keeps it in a CPU register.
namespace pmusim::perf {

/// A few hundred bytes or more, which the C library copies as this CPU likes it best: where the compiler
/// knows the size, also by inlining this, it copies 16 bytes at a time.
[[gnu::noinline]] ByteWriter write_bytes(ByteWriter out, std::span<const std::byte> bytes);

/// Payload, preceded by its u32 size, padded so that both together are whole words.
std::size_t raw_size(std::span<const std::byte> raw);
ByteWriter write_raw(ByteWriter out, std::span<const std::byte> raw);

/// One member that asks for counters gives every branch stack of its group the block of counter words.
bool group_has_branch_counters(const Event& event);
std::size_t branch_stack_size(const Event& event, const BranchStack* stack);
ByteWriter write_branch_stack(ByteWriter out, const Event& event, const BranchStack* stack);

SimdCounts simd_counts(const Attr& attr, RegisterSide side);
/// Bytes of a register block behind its ABI word. Without user registers the ABI word is all: none.
u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd);
ByteWriter write_user_registers(ByteWriter out, const Event& event, const SampleEnvironment& environment);
ByteWriter write_interrupt_registers(ByteWriter out, const Event& event, const SampleData& data,
                                     const InterruptFrame& frame);

/// An event that excludes the kernel gets nothing of the kernel's registers where the release hides them.
inline bool hides_interrupted_code(const SampleLayout& layout, const SampleData& data,
                                   const InterruptFrame& frame) {
  return layout.hides_kernel && sampled_level(data, frame) == Cpl::kernel;
}

/// Bytes of user stack to copy when all other parts of the record take `others` bytes.
std::size_t user_stack_bytes(const Attr& attr, const SampleEnvironment& environment, std::size_t others);
ByteWriter write_user_stack(ByteWriter out, std::span<const std::byte> stack, std::size_t bytes);

}  // namespace pmusim::perf

#endif
