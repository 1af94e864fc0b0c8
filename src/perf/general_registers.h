// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_GENERAL_REGISTERS_H
#define PMUSIM_SRC_PERF_GENERAL_REGISTERS_H

#include "perf/byte_writer.h"
#include "pmusim/perf/driver.h"

/// The register block that samples usually have: all general registers of a 64-bit program, nothing else.
namespace pmusim::perf {

inline constexpr u64 registers_abi_none = 0, registers_abi_64 = 2, registers_abi_simd = 4;

/// Selectors of 64-bit code, as Linux lays out its descriptor table.
struct Segments {
  u64 code, stack;
};
inline const Segments& segments_at(Cpl cpl) {
  static constexpr Segments segments[] = {{0x10, 0x18}, {0x33, 0x2b}};
  return segments[cpl == Cpl::user ? 1 : 0];
}

inline const Registers& interrupt_registers(const SampleData& data, const InterruptFrame& frame) {
  return data.registers ? *data.registers : frame.registers;
}

/// sample_regs_* of all of them (PERF_REG_X86_*).
inline constexpr u64 all_general = 0xff0fff;

/// In pairs, because neighbours are loaded and stored together.
inline ByteWriter write_all_general(ByteWriter out, const Registers& r, const Segments& segments) {
  out.put_words(r[Gpr::rax], r[Gpr::rbx]);
  out.put_words(r[Gpr::rcx], r[Gpr::rdx]);
  out.put_words(r[Gpr::rsi], r[Gpr::rdi]);
  out.put_words(r[Gpr::rbp], r[Gpr::rsp]);
  out.put_words(r.rip, r.rflags);
  out.put(segments);
  out.put_all(std::span(r.gpr).subspan<8>());
  return out;
}

/// The code selector is the sampled code's; a precise sample changes nothing else of what the interrupt
/// found.
inline Segments sampled_segments(const SampleData& data, const InterruptFrame& frame) {
  return {segments_at(sampled_level(data, frame)).code, segments_at(frame.cpl).stack};
}

/// REGS_INTR of an attribute that asks for all_general.
inline ByteWriter write_all_interrupt_registers(ByteWriter out, const Event&, const SampleData& data,
                                                const InterruptFrame& frame) {
  out.put(registers_abi_64);
  return write_all_general(out, interrupt_registers(data, frame), sampled_segments(data, frame));
}

}  // namespace pmusim::perf

#endif
