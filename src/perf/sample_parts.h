#ifndef PMUSIM_SRC_PERF_SAMPLE_PARTS_H
#define PMUSIM_SRC_PERF_SAMPLE_PARTS_H

#include "pmusim/perf/sample_output.h"

/// The parts of a sample whose size varies: each has a size and a writer that agree. Writers take the place
/// by value and return what follows, which keeps it in a CPU register.
namespace pmusim::perf {

inline std::span<const u64> callchain(const Sample& s) {
  return s.data.callchain ? *s.data.callchain : s.environment.callchain;
}

/// Payload, preceded by its u32 size, padded so that both together are whole words (section 3.6).
std::size_t raw_size(std::span<const std::byte> raw);
ByteWriter write_raw(ByteWriter out, std::span<const std::byte> raw);

std::size_t branch_stack_size(const Sample& sample);
ByteWriter write_branch_stack(ByteWriter out, const Sample& sample);

/// Bytes of a register block behind its ABI word.
u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd);
/// A sample without user registers has the ABI word alone: none.
inline std::size_t user_registers_size(const Sample& s) {
  return 8 + (s.environment.user_registers ? s.event.layout.user_register_bytes : 0);
}
ByteWriter write_user_registers(ByteWriter out, const Sample& sample);
ByteWriter write_interrupt_registers(ByteWriter out, const Sample& sample);

/// Bytes of user stack to copy when all other parts of the record take `others` bytes.
std::size_t user_stack_bytes(const Sample& sample, std::size_t others);
ByteWriter write_user_stack(ByteWriter out, const Sample& sample, std::size_t bytes);

}  // namespace pmusim::perf

#endif
