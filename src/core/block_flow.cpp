// SPDX-License-Identifier: MIT
#include "core/block_flow.h"

#include <algorithm>
#include <bit>
#include <ranges>

namespace pmusim {
namespace {

constexpr Slots never = -(Slots{1} << 40);
constexpr i32 never_later = -(i32{1} << 30);
constexpr u8 rsp = static_cast<u8>(Gpr::rsp);

i32 delay_of(Slots time) { return time > never / 2 ? static_cast<i32>(time) : never_later; }

Slots latest_of(x86::RegisterMask registers, const ReadyRegisters& ready) {
  Slots latest = never;
  for (; registers != 0; registers &= registers - 1)
    latest = std::max(latest, ready[static_cast<unsigned>(std::countr_zero(registers))]);
  return latest;
}

template <std::size_t size>
Slots latest_of(const std::array<u8, size>& registers, const ReadyRegisters& ready) {
  Slots latest = never;
  for (const u8 each : registers) latest = std::max(latest, ready[each]);
  return latest;
}

x86::RegisterMask mask_of(u8 place) { return place < LoweredInstruction::no_source ? bit(place) : 0; }

template <std::size_t size>
x86::RegisterMask mask_of(const std::array<u8, size>& places) {
  x86::RegisterMask mask = 0;
  for (const u8 each : places) mask |= mask_of(each);
  return mask;
}

x86::RegisterMask writes(const x86::Instruction& instruction, const LoweredInstruction& lowered) {
  return lowered.masked ? instruction.registers_written : mask_of(lowered.results);
}

bool is_own(const LoweredInstruction& lowered, u8 source) {
  return std::ranges::find(lowered.results, source) != lowered.results.end();
}

/// Uops of a block on its ports, each on the one that has the least to do.
class PortWork {
 public:
  void add(const InstructionCost& cost) {
    for (const PortUse& use : cost.uses) add(use.ports, std::max<unsigned>(use.uops, 1), use.cycles);
  }
  void add(PortMask ports, unsigned uops = 1, unsigned cycles = 1) {
    for (; ports != 0 && uops != 0; --uops) least_used(ports) += std::max(cycles, 1u);
  }
  u32 most() const { return *std::ranges::max_element(work_); }

 private:
  u32& least_used(PortMask ports) {
    unsigned least = static_cast<unsigned>(std::countr_zero(ports));
    for (ports &= ports - 1; ports != 0; ports &= ports - 1)
      if (const auto port = static_cast<unsigned>(std::countr_zero(ports)); work_[port] < work_[least])
        least = port;
    return work_[least];
  }
  std::array<u32, execution_ports> work_{};
};

u32 busiest_port(const LoweredBlock& lowered, const InstructionCosts& costs) {
  PortWork work;
  for (const LoweredInstruction& each : lowered.instructions) {
    work.add(each.work);
    if (each.loads()) work.add(costs.load_ports);
    if (!each.stores()) continue;
    work.add(costs.store_address_ports);
    work.add(costs.store_data_ports);
  }
  return work.most();
}

std::vector<u8> list_of(x86::RegisterMask registers, bool in_order) {
  std::vector<u8> list;
  for (; registers != 0; registers &= registers - 1)
    list.push_back(static_cast<u8>(std::countr_zero(registers)));
  if (in_order) list.push_back(last_started);
  return list;
}

}  // namespace

Dataflow::Dataflow(const CoreParameters& p)
    : width_(p.issue_width),
      load_cycles_(p.l1d.latency_cycles),
      slow_address_cycles_(p.slow_address_cycles),
      system_call_cycles_(p.system_call_cycles),
      address_delay_(p.issue_order == IssueOrder::in_order ? p.l1d.latency_cycles - 1 : 0),
      in_order_(p.issue_order == IssueOrder::in_order) {}

x86::RegisterMask Dataflow::waits_for(const x86::Instruction& instruction,
                                      const LoweredInstruction& lowered) {
  const x86::RegisterMask stack = lowered.stack != x86::StackUse::none ? bit(rsp) : 0;
  if (lowered.masked) return stack | instruction.registers_read | instruction.address_registers;
  return stack | mask_of(lowered.sources) | mask_of(lowered.address_sources);
}

void Dataflow::decide_slow_addresses(const trace::Block& block, LoweredBlock& lowered) {
  x86::RegisterMask loaded = 0;
  const auto pass = [&](bool decides) {
    for (std::size_t n = 0; n < lowered.instructions.size(); ++n) {
      LoweredInstruction& each = lowered.instructions[n];
      if (decides && each.may_be_slow && (mask_of(each.address_sources[0]) & loaded) == 0)
        each.always_slow = 1;
      const x86::RegisterMask written = writes(block.instructions[n], each);
      const bool loads = each.loads() && each.work.latency_cycles == 0;
      loaded = loads ? loaded | written : loaded & ~written;
    }
  };
  pass(false);
  pass(true);
}

Slots Dataflow::addressed(const x86::Instruction& instruction, const LoweredInstruction& lowered,
                          const State& state) const {
  const unsigned slots = lowered.second_of_pair ? 0 : lowered.slots();
  Slots address = lowered.masked ? latest_of(instruction.address_registers, state.registers)
                                 : latest_of(lowered.address_sources, state.registers);
  if (lowered.stack != x86::StackUse::none) address = std::max(address, state.registers[rsp]);
  const Slots start = std::max(state.dispatched + slots - 1, address + in_slots(address_delay_));
  return in_order_ ? std::max(start, state.registers[last_started]) : start;
}

void Dataflow::step(const x86::Instruction& instruction, const LoweredInstruction& lowered, Slots late,
                    State& state) const {
  const auto drain = [&] { state.dispatched = std::max(state.dispatched, state.retired + width_); };
  if (lowered.serializing) drain();
  const Slots early = in_slots(lowered.work.early_cycles);
  Slots start = never;
  if (lowered.masked)
    start = latest_of(instruction.registers_read, state.registers);
  else
    for (const u8 each : lowered.sources)
      start = std::max(start, state.registers[each] + (is_own(lowered, each) ? 0 : early));
  if (in_order_) start = std::max(start, state.registers[last_started]);
  if (lowered.loads()) {
    const Slots from = std::max(addressed(instruction, lowered, state), in_order_ ? start : never);
    const unsigned slow = lowered.always_slow ? slow_address_cycles_ : 0;
    start = std::max(start, from + in_slots(load_cycles_ - address_delay_ + slow) + late + early);
    state.registers[last_started] = from;
  }

  const Slots first = state.dispatched;
  const Slots slots = lowered.second_of_pair ? 0 : lowered.slots();
  state.dispatched += slots;
  start = std::max(start, state.dispatched - 1);
  if (!lowered.loads()) state.registers[last_started] = start;
  Slots result = start + in_slots(lowered.work.latency_cycles);
  if (lowered.enters_kernel) result += in_slots(system_call_cycles_);
  for (x86::RegisterMask left = writes(instruction, lowered); left != 0; left &= left - 1)
    state.registers[static_cast<unsigned>(std::countr_zero(left))] = result;
  state.result = result;
  // What takes a cycle retires in it, and is there for others in the next.
  state.retired = std::max({state.retired + slots, first + slots, result - width_ + 1});
  if (lowered.serializing || lowered.enters_kernel) drain();
}

BlockFlow summarize(const trace::Block& block, const LoweredBlock& lowered, const Dataflow& dataflow,
                    const InstructionCosts& costs) {
  x86::RegisterMask read = 0, written = 0;
  BlockFlow flow;
  for (std::size_t n = 0; n < lowered.instructions.size(); ++n) {
    const LoweredInstruction& each = lowered.instructions[n];
    read |= Dataflow::waits_for(block.instructions[n], each) & ~written;
    written |= writes(block.instructions[n], each);
    flow.slots += each.second_of_pair ? 0 : each.slots();
    flow.stores += each.stores() ? 1 : 0;
  }
  flow.inputs = list_of(read, dataflow.in_order());
  flow.outputs = list_of(written, dataflow.in_order());
  flow.port_slots = busiest_port(lowered, costs) * static_cast<u32>(dataflow.width());

  Dataflow::State nothing{.dispatched = never, .retired = never};
  nothing.registers.fill(never);
  const auto add_column = [&](Dataflow::State state) {
    std::vector<i32> stored;
    for (std::size_t n = 0; n < lowered.instructions.size(); ++n) {
      dataflow.step(block.instructions[n], lowered.instructions[n], 0, state);
      if (lowered.instructions[n].stores()) stored.push_back(delay_of(state.result));
    }
    flow.delays.push_back(delay_of(state.retired));
    flow.delays.push_back(delay_of(state.result));
    for (const u8 each : flow.outputs) flow.delays.push_back(delay_of(state.registers[each]));
    flow.delays.insert(flow.delays.end(), stored.begin(), stored.end());
  };
  Dataflow::State dispatched = nothing;
  dispatched.dispatched = 0;
  add_column(dispatched);
  for (const u8 each : flow.inputs) {
    Dataflow::State state = nothing;
    state.registers[each] = 0;
    add_column(state);
  }
  return flow;
}

}  // namespace pmusim
