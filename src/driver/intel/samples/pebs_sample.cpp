// SPDX-License-Identifier: MIT
#include "driver/intel/samples/pebs_sample.h"

#include <algorithm>

#include "base/kernel_address.h"
#include "driver/intel/cores/core_traits.h"
#include "driver/intel/samples/ip_fixup.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::driver {

namespace {

namespace sample = perf::sample;

constexpr u64 weight_types = sample::WEIGHT | sample::WEIGHT_STRUCT;
constexpr u64 register_types = sample::REGS_INTR | sample::REGS_USER;
constexpr u64 address_types = sample::ADDR | sample::PHYS_ADDR | sample::DATA_PAGE_SIZE;
constexpr u64 access_types = address_types | weight_types | sample::DATA_SRC | sample::TRANSACTION;

bool wants(const perf::Event& event, u64 types) { return (event.attr.sample_type & types) != 0; }

/// Samples registers beyond the general ones.
bool wants_extended(const perf::Event& event) { return has_flag(event, pebs_flag::EXTENDED_REGISTERS); }

/// A layout struct in place: their members have no alignment and may lie anywhere.
template <class T>
const T& view(std::span<const std::byte> record, std::size_t offset) {
  static_assert(alignof(T) == 1);
  return *reinterpret_cast<const T*>(record.data() + offset);
}

// Each in one expression, which compilers turn into stores as wide as the loads that the output makes: loads
// that are wider than the stores before them wait for those.

Registers registers_of(const pebs::FixedRegisters& r, u64 ip) {
  const auto& high = r.r8_to_r15;
  return {.gpr = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,  //
                  high[0], high[1], high[2], high[3], high[4], high[5], high[6], high[7]},
          .rip = ip,
          .rflags = architectural_flags(r.rflags)};
}

Registers registers_of(const pebs::GprGroup& group, u64 ip) {
  const auto& r = group.gpr;
  return {.gpr = {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7],  //
                  r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]},
          .rip = ip,
          .rflags = architectural_flags(group.rflags)};
}

constexpr u64 instruction_latency(u64 word) { return field(word, 15, 0); }
constexpr u64 access_latency(u64 word) { return field(word, 47, 32); }
constexpr u64 transaction_cycles(u64 tsx) { return field(tsx, 31, 0); }

/// What records with a memory group say of time, in cycles.
struct Latencies {
  u64 access = 0;  ///< to the data, or all there is
  u64 instruction = 0, retire = 0;
};

constexpr u64 weight_of(const Latencies& latencies, u64 tsx) {
  return latencies.access != 0 ? latencies.access : transaction_cycles(tsx);
}
constexpr u64 weight_struct_of(const Latencies& latencies, u64 tsx) {
  const u64 access = field(latencies.access, 31, 0);
  return (access != 0 ? access : transaction_cycles(tsx)) | to_field(latencies.instruction, 47, 32) |
         to_field(latencies.retire, 63, 48);
}

}  // namespace

u64 transaction_word(u64 tsx, u64 rax) {
  u64 word = field(tsx, 39, 32);
  const bool has_abort_code = (tsx & pebs::tsx::TRANSACTION) != 0 && (rax & 1) != 0;
  if (has_abort_code) word |= field(rax, 31, 24) << 32;
  return word;
}

PebsSampleBuilder::PebsSampleBuilder(const Enumeration& enumeration, PebsHost& host)
    : format_(enumeration.pebs_format),
      traps_((enumeration.perf_capabilities & msr::perf_cap::PEBS_TRAP) != 0),
      latency_split_(traits_of(enumeration.microarchitecture).splits_latency),
      retire_latency_((enumeration.perf_capabilities & msr::perf_cap::PEBS_TIMING_INFO) != 0),
      lbr_depth_(enumeration.lbr_entries),
      data_source_(DataSourceReader::of(enumeration)),
      host_(host) {}

const perf::SampleData& PebsSampleBuilder::build(const perf::Event& event, std::span<const std::byte> record,
                                                 const InterruptFrame& frame) {
  start(event);
  if (pebs::is_fixed(format_))
    from_fixed(event, record, frame);
  else if (pebs::is_adaptive(format_))
    from_adaptive(event, record);
  else
    from_arch(event, record);
  data_.cpl = ring_at(*data_.ip);
  return data_;
}

void PebsSampleBuilder::start(const perf::Event& event) {
  data_.period = event.hw.last_period;
  data_.exact_ip = false;
  data_.time = {};
  data_.address = {};
  data_.physical_address = {};
  data_.data_source = perf::data_source_na;
  data_.weight = 0;
  data_.transaction = 0;
  data_.branches = nullptr;
  data_.registers = nullptr;
  data_.extended = data_.user_extended = nullptr;
}

void PebsSampleBuilder::from_fixed(const perf::Event& event, std::span<const std::byte> record,
                                   const InterruptFrame& frame) {
  const auto& fixed = view<pebs::FixedRecord>(record, 0);  // of which the format has the beginning
  const le64& rip = fixed.registers.rip;
  if (pebs::has_eventing_ip(format_)) {
    set_ip(event, fixed.eventing_ip, &rip);
  } else if (!traps_) {
    set_ip(event, rip, &rip);
  } else if (event.attr.precise_ip >= 2) {
    fix_up_ip(event, rip);
  } else {
    data_.ip = rip;
  }
  if (wants(event, register_types)) set_fixed_registers(event, fixed.registers, frame);
  if (wants(event, access_types)) set_access(event, access_of(event, fixed), fixed.registers.rax);
  if (pebs::has_time(format_)) set_time(event, fixed.tsc);
  set_interrupt_branches(event);
}

/// The general registers are the record's for who samples those of the interrupt, else the interrupt's.
void PebsSampleBuilder::set_fixed_registers(const perf::Event& event, const pebs::FixedRegisters& fixed,
                                            const InterruptFrame& frame) {
  Registers registers = registers_of(fixed, *data_.ip);
  if (!wants(event, sample::REGS_INTR)) registers.gpr = frame.registers.gpr;
  set_registers(registers);
}

PebsSampleBuilder::Access PebsSampleBuilder::access_of(const perf::Event& event,
                                                       const pebs::FixedRecord& fixed) const {
  Access access;
  if (pebs::has_registers_alone(format_)) return access;
  access.address = fixed.linear_address;
  access.data_source = fixed.data_source;
  if (pebs::has_eventing_ip(format_)) access.tsx = fixed.tsx;
  const bool load_latency = has_flag(event, pebs_flag::LOAD_LATENCY);
  access.weight = load_latency ? u64{fixed.latency_cycles} : transaction_cycles(access.tsx);
  access.weight_struct = access.weight;
  return access;
}

void PebsSampleBuilder::from_adaptive(const perf::Event& event, std::span<const std::byte> record) {
  const auto& basic = view<pebs::BasicGroup>(record, 0);
  const pebs::AdaptiveLayout& layout = adaptive_layout_.of(basic.format, pebs::adaptive_layout);
  if (layout.size > record.size()) {  // a format word that its own size denies: only the basic group is sure
    set_ip(event, basic.eventing_ip, nullptr);
    set_time(event, basic.tsc);
    return;
  }
  u64 rax = 0;
  const le64* next_ip = nullptr;
  if (layout.gprs != 0) {
    const auto& group = view<pebs::GprGroup>(record, layout.gprs);
    next_ip = &group.rip;
    rax = group.gpr[0];
    set_ip(event, basic.eventing_ip, next_ip);
    if (wants(event, register_types)) set_registers(registers_of(group, *data_.ip));
  } else {
    set_ip(event, basic.eventing_ip, nullptr);
  }
  Access access;
  Latencies latencies;
  if (layout.memory != 0) {
    const auto& memory = view<pebs::MemoryGroup>(record, layout.memory);
    if (retire_latency_) latencies.retire = basic.retire_latency;
    access.address = memory.address;
    access.data_source = memory.data_source;
    latencies.access = latency_split_ ? access_latency(memory.latency) : u64{memory.latency};
    latencies.instruction = latency_split_ ? instruction_latency(memory.latency) : 0;
    access.tsx = memory.tsx;
  }
  access.weight = weight_of(latencies, access.tsx);
  access.weight_struct = weight_struct_of(latencies, access.tsx);
  if (wants(event, access_types)) set_access(event, access, rax);
  set_time(event, basic.tsc);
  if (wants_extended(event)) {
    extended_ = {};
    if (layout.xmm != 0) extended_.xmm = record.subspan(layout.xmm, sizeof(pebs::XmmGroup));
    set_extended(event);
  }
  if (layout.lbr != 0)
    set_branches(event, record.subspan(layout.lbr, layout.lbr_entries * sizeof(pebs::LbrRecord)));
}

void PebsSampleBuilder::from_arch(const perf::Event& event, std::span<const std::byte> record) {
  const auto& basic = view<pebs::ArchBasic>(record, sizeof(pebs::ArchHeader));
  const u64 retire_latency = basic.retire_latency;
  Access access;
  Latencies latencies;
  u64 rax = 0;
  const le64* next_ip = nullptr;
  const pebs::ArchGprs* registers = nullptr;
  std::span<const std::byte> lbr;
  const bool wants_vectors = wants_extended(event);
  if (wants_vectors) extended_ = {};
  while (record.size() >= sizeof(pebs::ArchHeader)) {  // fragment by fragment
    const u64 word = view<pebs::ArchHeader>(record, 0).word;
    const std::size_t size = word & pebs::header::SIZE;
    if (size < sizeof(pebs::ArchHeader) || size > record.size()) break;
    const std::span<const std::byte> fragment = record.first(size);
    record = record.subspan(size);
    const pebs::ArchLayout& layout =
        arch_layout_.of(word, [&](u64 w) { return pebs::arch_layout(w, lbr_depth_); });
    const auto has = [&](u32 offset, std::size_t bytes) { return offset != 0 && offset + bytes <= size; };
    const bool has_aux = has(layout.aux, sizeof(pebs::ArchAux));
    if (has_aux) {
      const auto& aux = view<pebs::ArchAux>(fragment, layout.aux);
      access.address = aux.address;
      access.data_source = aux.data_source;
      latencies.access = access_latency(aux.latency);
      latencies.instruction = instruction_latency(aux.latency);
      if ((retire_latency & bit(16)) != 0) latencies.retire = field(retire_latency, 15, 0);
      access.tsx = aux.tsx;
    }
    if (has(layout.gprs, sizeof(pebs::ArchGprs))) {
      const auto& gprs = view<pebs::ArchGprs>(fragment, layout.gprs);
      next_ip = &gprs.registers.rip;
      if (has_aux) rax = gprs.registers.gpr[0];  // Linux has no abort code from a later fragment
      registers = &gprs;
    }
    if (wants_vectors && has(layout.vectors, sizeof(pebs::ArchVectorHeader)))
      take_vectors(fragment, word, layout.vectors);
    if (has(layout.lbr, sizeof(pebs::ArchLbrHeader))) {
      const u64 depth = std::min<u64>(view<pebs::ArchLbrHeader>(fragment, layout.lbr).depth, lbr_depth_);
      const std::size_t bytes =
          pebs::arch_lbr_entries(word, static_cast<u32>(depth)) * sizeof(pebs::LbrRecord);
      const std::size_t first = layout.lbr + sizeof(pebs::ArchLbrHeader);
      if (first + bytes <= size) lbr = fragment.subspan(first, bytes);
    }
  }
  access.weight = weight_of(latencies, access.tsx);
  access.weight_struct = weight_struct_of(latencies, access.tsx);
  set_ip(event, basic.eventing_ip, next_ip);
  if (registers != nullptr && wants(event, register_types))
    set_registers(registers_of(registers->registers, *data_.ip));
  if (wants_vectors) {
    if (registers != nullptr && ring_at(*data_.ip) == Cpl::user)
      extended_.shadow_stack_pointer = registers->ssp;
    set_extended(event);
  }
  if (wants(event, access_types)) set_access(event, access, rax);
  set_time(event, basic.tsc);
  if (!lbr.empty()) set_branches(event, lbr);
}

void PebsSampleBuilder::set_ip(const perf::Event& event, u64 eventing_ip, const le64* next_ip) {
  const bool exact = event.attr.precise_ip >= 2 || next_ip == nullptr;
  data_.ip = exact ? eventing_ip : u64{*next_ip};
  data_.exact_ip = event.attr.precise_ip >= 2;
}

void PebsSampleBuilder::fix_up_ip(const perf::Event& event, u64 next_ip) {
  data_.ip = next_ip;
  const perf::BranchStack* branches = host_.interrupt_branches(event);
  if (branches == nullptr || branches->entries.empty()) return;
  const auto read_code = [&](u64 address, std::size_t bytes) {
    return host_.sink().read_code(address, bytes);
  };
  if (const auto ip = previous_instruction(next_ip, branches->entries.front(), read_code)) {
    data_.ip = *ip;
    data_.exact_ip = true;
  }
}

void PebsSampleBuilder::set_time(const perf::Event& event, u64 tsc) {
  if (wants(event, sample::TIME) && !event.attr.use_clockid) data_.time = host_.sink().time_of_tsc(tsc);
}

void PebsSampleBuilder::set_access(const perf::Event& event, const Access& access, u64 rax) {
  const u64 wanted = event.attr.sample_type;
  if ((wanted & address_types) != 0) {
    data_.address = access.address;
    data_.physical_address = access.address;  // the emulated machine maps memory one to one
  }
  if ((wanted & weight_types) != 0)
    data_.weight = (wanted & sample::WEIGHT_STRUCT) != 0 ? access.weight_struct : access.weight;
  if ((wanted & sample::DATA_SRC) != 0) {
    const u32 kind = data_of(event).flags;
    if ((kind & pebs_flag::LOAD_LATENCY) != 0) data_.data_source = data_source_.load(access.data_source);
    if ((kind & pebs_flag::STORE_LATENCY) != 0) data_.data_source = data_source_.store(access.data_source);
    if ((kind & pebs_flag::PRECISE_STORE) != 0) data_.data_source = precise_store_source(access.data_source);
    if ((kind & pebs_flag::MEMORY_LOAD) != 0) data_.data_source = load_address_source();
    if ((kind & pebs_flag::MEMORY_STORE) != 0) data_.data_source = store_address_source(access.data_source);
  }
  if ((wanted & sample::TRANSACTION) != 0) data_.transaction = transaction_word(access.tsx, rax);
}

inline void PebsSampleBuilder::set_registers(const Registers& registers) {
  registers_ = registers;
  data_.registers = &registers_;
}

/// What the record has for both sides; of user mode only if that is where it was made. The kernel's record
/// says nothing of the registers that user mode left.
void PebsSampleBuilder::set_extended(const perf::Event& event) {
  data_.extended = &extended_;
  data_.user_extended = ring_at(*data_.ip) == Cpl::kernel ? host_.live_registers(event) : &extended_;
}

namespace {

/// Where a vector group goes, in record order as pebs::vector_groups.
constexpr std::span<const std::byte> perf::ExtendedRegisters::*pieces[] = {
    &perf::ExtendedRegisters::xmm,    &perf::ExtendedRegisters::ymm_high, &perf::ExtendedRegisters::egpr,
    &perf::ExtendedRegisters::opmask, &perf::ExtendedRegisters::zmm_high, &perf::ExtendedRegisters::hi16_zmm,
};
static_assert(std::size(pieces) == std::size(pebs::vector_groups));

}  // namespace

/// The vector groups of a fragment, of which the header tells the valid ones: the others are as if in their
/// initial state.
void PebsSampleBuilder::take_vectors(std::span<const std::byte> fragment, u64 word, u32 offset) {
  const u64 valid = view<pebs::ArchVectorHeader>(fragment, offset).xstate;
  std::size_t at = offset + sizeof(pebs::ArchVectorHeader);
  const auto* piece = pieces;
  for (const pebs::VectorGroup& group : pebs::vector_groups) {
    auto& taken = extended_.*(*piece++);
    if ((word & group.bit) == 0) continue;
    if (at + group.bytes > fragment.size()) return;
    if ((valid & bit(group.component)) != 0) taken = fragment.subspan(at, group.bytes);
    at += group.bytes;
  }
}

void PebsSampleBuilder::set_branches(const perf::Event& event, std::span<const std::byte> entries) {
  if (!wants(event, sample::BRANCH_STACK)) return;
  const auto* first = &view<pebs::LbrRecord>(entries, 0);
  data_.branches = &host_.decode_branches(event, {first, entries.size() / sizeof(pebs::LbrRecord)});
}

void PebsSampleBuilder::set_interrupt_branches(const perf::Event& event) {
  if (wants(event, sample::BRANCH_STACK)) data_.branches = host_.interrupt_branches(event);
}

}  // namespace pmusim::driver
