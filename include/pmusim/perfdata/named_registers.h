#ifndef PMUSIM_PERFDATA_NAMED_REGISTERS_H
#define PMUSIM_PERFDATA_NAMED_REGISTERS_H

#include <string>
#include <vector>

#include "pmusim/perfdata/sample_parser.h"

namespace pmusim::perfdata {

/// A register of a sample under perf's name for it.
struct NamedRegister {
  std::string name;        ///< "AX", "R16", "SSP", "XMM0" (each half, without SIMD sampling), "ZMM31", "K7"
  std::vector<u64> words;  ///< low word first
  friend bool operator==(const NamedRegister&, const NamedRegister&) = default;
};

/// The registers of sample_regs_*, one word each, in the order of their numbers.
std::vector<NamedRegister> general_registers(const RegisterBlock& block, const perf::Attr& attr,
                                             perf::RegisterSide side);

/// Vector registers, then predicate registers, as SIMD sampling gives them.
std::vector<NamedRegister> simd_registers(const RegisterBlock& block, const perf::Attr& attr,
                                          perf::RegisterSide side);

}  // namespace pmusim::perfdata

#endif
