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

/// Where the values of a register block come from. No `general`: the block is one word, ABI none.
struct RegisterSource {
  const Registers* general = nullptr;
  Cpl cpl = Cpl::user;
  std::span<const u64> xmm;
  const ExtendedRegisters* extended = nullptr;
};
RegisterSource user_registers(const Sample& sample);
RegisterSource interrupt_registers(const Sample& sample);
/// Bytes of the block behind its ABI word, for a source that has registers.
u32 register_bytes(const Attr& attr, RegisterSide side, SimdAbi simd);
ByteWriter write_registers(ByteWriter out, const Event& event, RegisterSide side,
                           const RegisterSource& source);

/// Bytes of user stack to copy when all other parts of the record take `others` bytes.
std::size_t user_stack_bytes(const Sample& sample, std::size_t others);
ByteWriter write_user_stack(ByteWriter out, const Sample& sample, std::size_t bytes);

}  // namespace pmusim::perf

#endif
