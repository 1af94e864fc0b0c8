// SPDX-License-Identifier: MIT
// What a guest's kernel does with the PMUs of a machine of two CPUs, of any model of either vendor: programs
// counters, branch records and samplers as drivers do, with some bits otherwise, runs code by instructions
// and by blocks, and handles interrupts. An access that faults changes nothing, nor does one that reads;
// blocks count what instructions count; and nothing of it reaches the other CPU.
#include <algorithm>
#include <map>
#include <vector>

#include "pmusim/pmu/pmu.h"
#include "tests/support/fuzz_input.h"

namespace pmusim {
namespace {

constexpr u64 ds_area = 0x10000, ds_buffers = 0x20000, region_bytes = 0x2000;
constexpr unsigned running = 0, idle = 1;  // numbers of the CPUs

/// A machine is expensive to make and cheap to copy.
const Machine& fresh_machine(std::size_t model_number) {
  static std::map<std::size_t, Machine> made;
  if (const auto found = made.find(model_number); found != made.end()) return found->second;
  Machine machine(cpu_models()[model_number], 2);
  for (const u64 address : {ds_area, ds_buffers}) must(machine.map_memory(address, region_bytes));
  return made.emplace(model_number, std::move(machine)).first->second;
}

std::vector<u64> registers_of(Pmu& pmu) {
  std::vector<u64> values;
  for (const Register& each : pmu.registers().all()) values.push_back(pmu.rdmsr(each.address).value_or(0));
  return values;
}

class Guest final : public PmiHandler {
 public:
  Guest(const Machine& fresh, FuzzInput& input)
      : machine_(fresh),
        pmu_(machine_.cpu(running)),
        input_(input),
        idle_before_(registers_of(machine_.cpu(idle))) {
    pmu_.set_pmi_handler(this);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  void step() {
    switch (input_.below(12)) {
      case 0:
        return write(any_register().address, input_.number());
      case 1:
        return read(any_register().address);
      case 2:
        return read_counter();
      case 3:
      case 4:
        return program_counter();
      case 5:
        return is_amd() ? sample_with_ibs() : program_fixed_counter();
      case 6:
        return enable();
      case 7:
        return record_branches();
      case 8:
        return set_up_debug_store();
      case 9:
        return let_interrupt();
      case 10:
        return run_block();
      default:
        return run_instructions();
    }
  }
  void must_have_left_the_other_alone() { must(registers_of(machine_.cpu(idle)) == idle_before_); }

 private:
  bool is_amd() const { return pmu_.model().vendor == Vendor::amd; }
  const Register& any_register() { return input_.pick(pmu_.registers().all()); }

  void write(u32 address, u64 value) {
    const u64 before = pmu_.state_hash();
    if (pmu_.wrmsr(address, value) != Fault::none) must(pmu_.state_hash() == before);
  }
  void read(u32 address) {
    const u64 before = pmu_.state_hash();
    static_cast<void>(pmu_.rdmsr(address));
    must(pmu_.state_hash() == before);
  }
  u32 counter_address(unsigned n) const {
    return is_amd() ? msr::amd::CTR0 + msr::amd::STRIDE * n : msr::PMC0 + n;
  }
  u32 select_address(unsigned n) const {
    return is_amd() ? msr::amd::CTL0 + msr::amd::STRIDE * n : msr::PERFEVTSEL0 + n;
  }
  void read_counter() {
    const auto n = static_cast<u32>(input_.below(40));
    const Cpl right = privilege();
    const auto value = pmu_.rdpmc(n, right), same = pmu_.rdmsr(counter_address(n));
    if (value.ok() && right == Cpl::kernel && same.ok()) must(*value == *same);
  }
  u64 near_overflow() { return input_.flag() ? -u64{input_.below(64)} : input_.number(); }
  /// An event select that a driver writes, and sometimes with another bit.
  u64 event_select() {
    constexpr u64 intel[] = {0xC0, 0x3C, 0xC4, 0xC5, 0x01CD, 0x02CD, 0x81D0, 0x01D1, 0x0100},
                  amd[] = {0xC0, 0x76, 0xC2, 0xC3, 0xC1, 0x0F29, 0xFF03, msr::amd::ctl::MERGE};
    const u64 event = is_amd() ? input_.pick(amd) : input_.pick(intel);
    u64 select = event | msr::evtsel::EN | msr::evtsel::USR | msr::evtsel::OS;
    if (input_.flag()) select |= msr::evtsel::INT;
    if (input_.below(4) == 0) select ^= bit(static_cast<unsigned>(input_.below(64)));
    return select;
  }
  void program_counter() {
    const auto n = static_cast<unsigned>(input_.below(12));
    write(select_address(n), 0);
    write(counter_address(n), near_overflow());
    write(select_address(n), event_select());
  }
  void program_fixed_counter() {
    const auto n = static_cast<unsigned>(input_.below(8));
    const u64 nibble = input_.below(16);
    write(msr::FIXED_CTR0 + n, near_overflow() & low_bits(pmu_.model().counter_width));
    write(msr::FIXED_CTR_CTRL, pmu_.rdmsr(msr::FIXED_CTR_CTRL).value_or(0) ^ nibble << 4 * n);
  }
  void sample_with_ibs() {
    const u64 control = input_.flag() ? input_.number() : bit(17) | input_.below(64);
    write(input_.flag() ? ibs::OP_CTL : ibs::FETCH_CTL, input_.flag() ? control : control | bit(48));
  }
  void enable() {
    const u64 all = pmu_.model().counters();
    write(is_amd() ? msr::amd::GLOBAL_CTL : msr::PERF_GLOBAL_CTRL,
          input_.flag() ? all : input_.number() & all);
  }
  void record_branches() {
    write(msr::DEBUGCTL, input_.number());
    write(is_amd() ? msr::amd::LBR_SELECT : msr::LBR_SELECT, input_.number());
    if (is_amd()) return write(msr::amd::DEBUG_EXTN_CTL, input_.number());
    write(msr::ARCH_LBR_DEPTH, 8 * input_.below(9));
    write(msr::ARCH_LBR_CTL, input_.number());
  }
  /// PEBS into a buffer of some records.
  void set_up_debug_store() {
    DsArea64 area{};
    area.pebs_base = area.pebs_index = ds_buffers;
    area.pebs_maximum = ds_buffers + input_.below(region_bytes);
    area.pebs_threshold = ds_buffers + input_.below(region_bytes);
    static_cast<void>(pmu_.write_memory(ds_area, std::as_bytes(std::span(&area, 1))));
    write(msr::DS_AREA, ds_area);
    write(msr::PEBS_DATA_CFG, input_.number());
    write(msr::PEBS_ENABLE, input_.number());
  }
  void let_interrupt() {
    constexpr u64 entries[] = {msr::lvtpc::NMI, 0xEF, bit(16), 0};
    write(msr::X2APIC_LVTPC, input_.pick(entries));
    if (is_amd()) write(msr::X2APIC_EXTENDED_LVT0, input_.pick(entries));
  }

  Cpl privilege() { return input_.flag() ? Cpl::user : Cpl::kernel; }
  Retirement instruction(u64 cycle, Cpl cpl) {
    Retirement r{.ip = 0x400000 + 16 * input_.below(64),
                 .cycle = cycle,
                 .signals = {Signal::instruction},
                 .length = 4};
    r.next_ip = r.ip + r.length;
    r.quantities[static_cast<unsigned>(Quantity::uops)] = 1;
    r.quantities[static_cast<unsigned>(Quantity::cycles)] = 1;
    r.cpl = r.cpl_after = cpl;
    if (input_.below(4) != 0) return r;
    r.branch = BranchKind::conditional;
    r.taken = input_.flag();
    r.mispredicted = input_.below(4) == 0;
    if (r.taken) r.next_ip = r.ip - 16 * input_.below(64);
    r.signals = r.signals | branch_signals(r.branch) |
                outcome_signals(r.branch, {.taken = r.taken, .mispredicted = r.mispredicted});
    return r;
  }
  void run_instructions() {
    for (std::size_t count = 1 + input_.below(32); count != 0; --count)
      pmu_.retire(instruction(pmu_.now() + 1, privilege()));
  }
  /// An instruction in each cycle, a block of one privilege as often as nothing can happen.
  void run_block() {
    const std::size_t instructions = 1 + input_.below(4), executions = 1 + input_.below(64);
    const u64 begin = pmu_.now();
    const Cpl cpl = privilege();
    std::vector<Retirement> block;
    for (std::size_t n = 0; n < instructions; ++n) block.push_back(instruction(begin + 1 + n, cpl));
    Pmu exact = pmu_;
    exact.set_pmi_handler(nullptr);
    const bool stores_branches = (pmu_.rdmsr(msr::DEBUGCTL).value_or(0) & msr::debugctl::BTS) != 0;
    const u64 quiet = stores_branches ? 0 : pmu_.quiet_instructions(),
              wanted = std::min<u64>(executions, quiet / instructions);
    const u64 done = pmu_.advance(pmu_.totals(block, begin), executions);
    must(done <= executions && done >= wanted);
    for (u64 n = 0; n < done; ++n)
      for (Retirement r : block) {
        r.cycle += n * instructions;
        exact.retire(r);
      }
    must(pmu_.state_hash() == exact.state_hash());
  }

  void handle_pmi(const InterruptFrame&) override {
    const u32 status = is_amd() ? msr::amd::GLOBAL_STATUS : msr::PERF_GLOBAL_STATUS,
              clear = is_amd() ? msr::amd::GLOBAL_STATUS_CLR : msr::PERF_GLOBAL_STATUS_RESET;
    write(clear, pmu_.rdmsr(status).value_or(0));
    if (input_.flag()) program_counter();
    if (input_.flag()) write(msr::X2APIC_LVTPC, msr::lvtpc::NMI);
  }

  Machine machine_;
  Pmu& pmu_;
  FuzzInput& input_;
  std::vector<u64> idle_before_;
};

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  FuzzInput input(data, size);
  Guest guest(fresh_machine(input.below(cpu_models().size())), input);
  while (!input.empty()) guest.step();
  guest.must_have_left_the_other_alone();
  return 0;
}
