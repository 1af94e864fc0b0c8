// SPDX-License-Identifier: MIT
#include "record.h"

#include <algorithm>

namespace pmusim::pebs {

namespace {

constexpr unsigned slots_counter = first_fixed + 3;

u64 legacy_ip(const AssistInput& input) {
  const bool trap = input.counters.model().has_capability(msr::perf_cap::PEBS_TRAP);
  return trap ? input.retirement.next_ip : input.retirement.ip;
}

Registers registers_of(const Retirement& retirement) {
  return retirement.registers != nullptr ? *retirement.registers : Registers{.rflags = 0};
}

FixedRegisters fixed_registers(const AssistInput& input) {
  const Registers known = registers_of(input.retirement);
  FixedRegisters out{};
  out.rflags = known.rflags;
  out.rip = legacy_ip(input);
  out.rax = known[Gpr::rax];
  out.rbx = known[Gpr::rbx];
  out.rcx = known[Gpr::rcx];
  out.rdx = known[Gpr::rdx];
  out.rsi = known[Gpr::rsi];
  out.rdi = known[Gpr::rdi];
  out.rbp = known[Gpr::rbp];
  out.rsp = known[Gpr::rsp];
  std::copy(known.gpr.begin() + 8, known.gpr.end(), out.r8_to_r15);
  return out;
}

}  // namespace

u16 retire_latency(const Retirement& retirement) {
  return static_cast<u16>(std::min<u32>(retirement.retire_latency_cycles, 0xFFFF));
}

u64 split_latency(const SampledAccess& access) {
  return std::min<u64>(access.instruction_latency, 0xFFFF) | std::min<u64>(access.access_latency, 0xFFFF)
                                                                 << 32;
}

void write_fixed(std::span<std::byte> out, const AssistInput& input, const SampledAccess& access,
                 u64 status) {
  FixedRecord record{};
  record.registers = fixed_registers(input);
  record.status = status;
  record.linear_address = access.address;
  record.data_source = access.data_source;
  record.latency_cycles = access.access_latency;
  record.eventing_ip = input.retirement.ip;
  record.tsx = tsx_word(input.counters.model(), input.retirement);
  record.tsc = input.tsc;
  std::memcpy(out.data(), &record, std::min(out.size(), sizeof(record)));
}

void write_fixed_32(std::span<std::byte> out, const AssistInput& input) {
  const FixedRegisters wide = fixed_registers(input);
  const auto low = [](u64 value) { return static_cast<u32>(value); };
  Record32 record{};
  record.eflags = low(wide.rflags);
  record.lip = low(wide.rip);
  record.eax = low(wide.rax);
  record.ebx = low(wide.rbx);
  record.ecx = low(wide.rcx);
  record.edx = low(wide.rdx);
  record.esi = low(wide.rsi);
  record.edi = low(wide.rdi);
  record.ebp = low(wide.rbp);
  record.esp = low(wide.rsp);
  put(out, 0, record);
}

GprGroup gpr_group(const Retirement& retirement) {
  const Registers known = registers_of(retirement);
  GprGroup group{};
  group.rflags = known.rflags;
  group.rip = retirement.next_ip;
  std::copy(known.gpr.begin(), known.gpr.end(), group.gpr);
  return group;
}

void put_lbr(std::span<std::byte> record, u32 offset, u32 entries, std::span<const LbrEntry> lbr) {
  const u32 known = std::min(entries, static_cast<u32>(lbr.size()));
  for (u32 i = 0; i < known; ++i) {
    LbrRecord entry{};
    entry.from = lbr[i].from;
    entry.to = lbr[i].to;
    entry.info = lbr[i].info;
    put(record, offset + i * static_cast<u32>(sizeof(entry)), entry);
  }
}

void put_component(std::span<std::byte> record, u32 offset, u32 bytes, std::span<const u64> component) {
  for (u32 n = 0; n < bytes / sizeof(le64) && n < component.size(); ++n)
    put(record, offset + n * static_cast<u32>(sizeof(le64)), le64(component[n]));
}

void put_counters(std::span<std::byte> record, u32 offset, const StoredCounters& stored,
                  const CounterFile& counters) {
  CountersHeader head{};
  head.gp = stored.gp;
  head.fixed = stored.fixed;
  head.metrics = stored.metrics ? metrics_present : 0;
  put(record, offset, head);
  u32 at = offset + static_cast<u32>(sizeof(head));
  const auto append = [&](u64 value) {
    put(record, at, le64(value));
    at += 8;
  };
  for (const unsigned n : set_bits(stored.gp | u64{stored.fixed} << first_fixed)) append(counters.value(n));
  if (!stored.metrics) return;
  append(counters.value(slots_counter));
  append(counters.perf_metrics());
}

void write_adaptive(std::span<std::byte> out, const AssistInput& input, const SampledAccess& access,
                    u64 config) {
  const CpuModel& model = input.counters.model();
  const AdaptiveLayout layout = adaptive_layout(config);
  BasicGroup basic{};
  basic.format = static_cast<u32>(config);
  if (model.has_capability(msr::perf_cap::PEBS_TIMING_INFO))
    basic.retire_latency = retire_latency(input.retirement);
  basic.size = static_cast<u16>(layout.size);
  basic.eventing_ip = input.retirement.ip;
  basic.applicable_counters = input.served;
  basic.tsc = input.tsc;
  put(out, 0, basic);
  if (layout.memory != 0) {
    MemoryGroup memory{};
    memory.address = access.address;
    memory.data_source = access.data_source;
    memory.latency = model.pebs.latency_split ? split_latency(access) : access.access_latency;
    memory.tsx = tsx_word(model, input.retirement);
    put(out, layout.memory, memory);
  }
  if (layout.gprs != 0) put(out, layout.gprs, gpr_group(input.retirement));
  if (layout.xmm != 0 && input.extended != nullptr)
    put_component(out, layout.xmm, sizeof(XmmGroup), input.extended->component(StateComponent::sse));
  if (layout.lbr != 0) put_lbr(out, layout.lbr, layout.lbr_entries, input.lbr);
  if (layout.counters != 0) {
    const StoredCounters stored{.gp = static_cast<u32>(field(config, 47, 32)),
                                .fixed = static_cast<u32>(field(config, 55, 48)),
                                .metrics = (config & data_cfg::METRICS) != 0};
    put_counters(out, layout.counters, stored, input.counters);
  }
}

}  // namespace pmusim::pebs
