// SPDX-License-Identifier: MIT
#include "driver/amd/enumeration.h"

#include "driver/amd/cores/zen.h"

namespace pmusim::driver::amd {
namespace {

constexpr u32 leaf_extended = 0x80000000, leaf_features = 0x80000001, leaf_sizes = 0x80000008,
              leaf_perfmon = 0x80000022;

void read_amd_signature(Enumeration& e, u32 signature) {
  const auto base = static_cast<u32>(field(signature, 11, 8));
  e.family = base == 0xF ? base + static_cast<u32>(field(signature, 27, 20)) : base;
  e.model = static_cast<u32>(field(signature, 7, 4) | field(signature, 19, 16) << 4);
  e.microarchitecture = zen_core(e.family, e.model);
}

}  // namespace

bool is_amd(Bus& bus) {
  const CpuidResult vendor = bus.cpuid(0, 0);  // "AuthenticAMD"
  return vendor.ebx == 0x68747541 && vendor.edx == 0x69746E65 && vendor.ecx == 0x444D4163;
}

Enumeration enumerate(Bus& bus, perf::Kernel kernel) {
  const u32 highest = bus.cpuid(leaf_extended, 0).eax;
  const auto leaf = [&](u32 number) { return number <= highest ? bus.cpuid(number, 0) : CpuidResult{}; };
  Enumeration e;
  e.kernel = kernel;
  read_amd_signature(e, bus.cpuid(1, 0).eax);
  e.core_extension = (leaf(leaf_features).ecx & bit(23)) != 0;
  e.counters = e.core_extension ? 6 : 4;
  if (const auto bits = static_cast<unsigned>(field(leaf(leaf_sizes).eax, 15, 8)); bits != 0)
    e.linear_bits = bits;
  e.branch_sampling = (leaf(leaf_sizes).ebx & bit(31)) != 0;
  if (e.branch_sampling) e.branch_entries = 16;
  const CpuidResult perfmon = leaf(leaf_perfmon);
  e.perfmon_v2 = e.core_extension && (perfmon.eax & bit(0)) != 0;
  if (!e.perfmon_v2) return e;
  e.counters = perfmon.ebx & 0xF;
  if ((perfmon.eax & bit(1)) != 0) e.branch_entries = static_cast<unsigned>(field(perfmon.ebx, 9, 4));
  e.lbr_freezes = (perfmon.eax & bit(2)) != 0;
  return e;
}

}  // namespace pmusim::driver::amd
