// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_LBR_LBR_MACHINE_H
#define PMUSIM_TESTS_LBR_LBR_MACHINE_H

#include <string>
#include <utility>
#include <vector>

#include "lbr/lbr_stack.h"
#include "msr/register_file.h"

namespace pmusim::test {

inline CpuModel legacy_model(LbrFormat format, unsigned depth, u32 from_base = msr::LBR_NHM_FROM_IP) {
  CpuModel m;
  m.lbr.format = format;
  m.lbr.depth = depth;
  m.lbr.from_base = from_base;
  m.lbr.has_select = true;
  m.lbr.call_stack = format >= LbrFormat::eip_flags_tsx;
  return m;
}
inline CpuModel nehalem() {
  CpuModel m = legacy_model(LbrFormat::eip_flags, 16);
  m.lbr.nehalem_filters = true;
  return m;
}
inline CpuModel sandy_bridge() { return legacy_model(LbrFormat::eip_flags, 16); }
enum class Tsx : u8 { absent, present };
inline CpuModel haswell(Tsx tsx = Tsx::present) {
  CpuModel m = legacy_model(LbrFormat::eip_flags_tsx, 16);
  m.rtm = m.hle = tsx == Tsx::present;
  return m;
}
inline CpuModel skylake() {
  CpuModel m = legacy_model(LbrFormat::info, 32);
  m.rtm = m.hle = true;
  return m;
}
inline CpuModel goldmont() { return legacy_model(LbrFormat::time, 32); }
inline CpuModel goldmont_plus() { return legacy_model(LbrFormat::info_no_tsx, 32); }
/// CPUID.1CH of a core with everything: depths 8, 16 and 32, all filters, four event counters.
inline CpuModel lion_cove() {
  CpuModel m;
  m.lbr.format = LbrFormat::arch;
  m.lbr.depth = 32;
  m.lbr.arch_depths = 0x0B;
  m.lbr.cpuid_1c_eax_flags = lbr_leaf::EAX_DEEP_CSTATE_RESET;
  m.lbr.cpuid_1c_ebx = 7;
  m.lbr.cpuid_1c_ecx = 0xF0007;
  m.rtm = m.hle = true;
  return m;
}
/// A four-entry legacy stack, small enough to follow on paper.
inline CpuModel four_slots(LbrFormat format = LbrFormat::info) { return legacy_model(format, 4); }

/// An LBR with its registers, and branches one cycle apart unless told otherwise.
class LbrMachine {
 public:
  explicit LbrMachine(CpuModel m) : model(std::move(m)), stack(model), registers_(model) {}
  LbrMachine(const LbrMachine&) = delete;
  LbrMachine& operator=(const LbrMachine&) = delete;

  Fault wrmsr(u32 address, u64 value) { return registers_.write(address, value, cycle_, stack).fault; }
  FaultOr<u64> rdmsr(u32 address) const { return registers_.read(address, cycle_, stack); }
  u64 read(u32 address) const { return rdmsr(address).value_or(0xDEAD); }

  bool record(Branch b) {
    if (b.cycle == 0) b.cycle = ++cycle_;
    cycle_ = b.cycle;
    return stack.record(b, gate);
  }
  bool branch(u64 from, u64 to, BranchKind kind = BranchKind::direct_jump) {
    return record({.from = from, .to = to, .kind = kind});
  }
  bool call(u64 from) { return branch(from, from + 0x1000, BranchKind::direct_call); }
  bool ret() { return branch(0x9000, 0x9999, BranchKind::near_return); }

  /// Sources of the records that there are, newest first.
  std::vector<u64> sources() const {
    std::vector<LbrEntry> entries(stack.depth());
    stack.render(entries);
    std::vector<u64> out;
    for (const LbrEntry& e : entries)
      if (e.from != 0) out.push_back(e.from);
    return out;
  }

  CpuModel model;
  LbrStack stack;
  LbrGate gate = LbrGate::open;

 private:
  RegisterFile<LbrStack> registers_;
  u64 cycle_ = 1000;
};

/// All that software can see of it: position, LER and records, newest first.
inline std::vector<u64> state_of(const LbrMachine& machine) {
  std::vector<u64> state{machine.rdmsr(msr::LBR_TOS).value_or(0), machine.stack.last_exception().from};
  std::vector<LbrEntry> entries(machine.stack.depth());
  machine.stack.render(entries);
  for (const LbrEntry& entry : entries) state.insert(state.end(), {entry.from, entry.to, entry.info});
  return state;
}

}  // namespace pmusim::test

#endif
