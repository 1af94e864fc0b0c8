// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/rdpmc.h"
#include "pmusim/explore/explore.h"

namespace pmusim::explore {

namespace {

using Kind = Operation::Kind;

// Where code lies that has no address: in the kernel's half, a boundary after the other.
constexpr u64 first_ip = 0xFFFFFFFF'81000000;
constexpr u64 bytes_between_boundaries = 16;

// In histories: code between two boundaries may have read what a PMI changes.
constexpr u64 boundary_mark = ~u64{0};

u64 word_of(u64 value) { return value; }
u64 word_of(Fault fault) { return static_cast<u64>(fault); }
u64 word_of(const FaultOr<u64>& value) { return value.ok() ? *value : ~static_cast<u64>(value.error()); }
u64 word_of(std::span<const std::byte> bytes) {
  StateHash hash;
  hash.add_bytes(bytes);
  return hash.value();
}
u64 word_of(const CpuidResult& result) {
  StateHash hash;
  hash.add(result.eax, result.ebx, result.ecx, result.edx);
  return hash.value();
}

/// What a driver has of a read.
struct Read {
  Fault fault;
  std::span<const std::byte> bytes;
};
u64 word_of(const Read& read) {
  return read.fault == Fault::none ? word_of(read.bytes) : word_of(read.fault);
}

}  // namespace

Cpu::Cpu(Pmu& pmu, Plan plan) : pmu_(pmu), plan_(std::move(plan)) {}

void Cpu::open() { open_ = true; }
void Cpu::close() {
  boundary();
  open_ = false;
}

void Cpu::fail(std::string_view what) {
  if (failure_.empty()) failure_ = what.empty() ? "an assertion does not hold" : what;
}

// The end of a handler is a boundary again.
void Cpu::boundary() {
  if (!open_) return;
  present_history().add(boundary_mark);
  u32 here = boundaries_;
  do {
    here = boundaries_++;
    if (plan_.notes == Plan::Notes::states && next_ == plan_.pmis.size()) reached_.push_back(look());
    if (delay_ != 0) --delay_;
    if (next_ < plan_.pmis.size() && plan_.pmis[next_].boundary == here) arrive(here);
  } while (take(here));
}

void Cpu::boundary(const Registers& code) {
  code_ = code;
  boundary();
  code_.reset();
}

void Cpu::arrive(u32 here) {
  const PlacedPmi& pmi = plan_.pmis[next_++];
  if (plan_.notes == Plan::Notes::operations) where_.push_back(place());
  delay_ = pmi.delay;
  if (pmi.cause == Cause::overflow)
    pmu_.overflow(counters_to_wrap(), code_at(here));
  else
    pmu_.request_pmi();
}

bool Cpu::take(u32 here) {
  if (delay_ != 0) return false;
  return pmu_.interrupt(frame_at(here));
}

InterruptFrame Cpu::frame_at(u32 here) const {
  if (code_) return {.registers = *code_, .cpl = Cpl::kernel, .registers_known = true};
  InterruptFrame frame{.cpl = Cpl::kernel};
  frame.registers.rip = code_at(here).ip;
  return frame;
}

Retirement Cpu::code_at(u32 here) const {
  const u64 ip = first_ip + here * bytes_between_boundaries;
  return {.ip = ip,
          .next_ip = ip + bytes_between_boundaries,
          .cycle = pmu_.now(),
          .signals = {Signal::instruction},
          .length = 4,
          .cpl = Cpl::kernel,
          .cpl_after = Cpl::kernel};
}

u64 Cpu::counters_to_wrap() {
  u64 counters = pmu_.running_counters() & pmu_.interrupting_counters();
  for (const unsigned n : set_bits(counters))
    if (!is_near_its_end(n)) counters &= ~bit(n);
  return counters;
}

bool Cpu::is_near_its_end(unsigned counter) {
  const FaultOr<u64> value = pmu_.rdpmc(rdpmc::ecx_of(counter), Cpl::kernel);
  return value.ok() && (*value >> (pmu_.model().counter_width - 1) & 1) != 0;
}

bool Cpu::would_do(Cause cause) {
  return cause == Cause::spurious ? !pmu_.pmi_pending() : counters_to_wrap() != 0;
}

Cpu::Reached Cpu::look() {
  Reached reached;
  for (const Cause cause : plan_.causes)
    if (would_do(cause)) reached.possible |= 1u << static_cast<unsigned>(cause);
  if (!driver_state_) return reached;
  StateHash hash;
  hash.add(history_.value(), pmu_.in_pmi_handler() ? handler_history_.value() : 0, delay_, failed(), pmu_);
  if (code_) hash.add(code_->gpr, code_->rip, code_->rflags);
  driver_state_(hash);
  return {.state = hash.value(), .possible = reached.possible, .known = true};
}

template <class Execute>
auto Cpu::operation(const Operation& operation, Execute execute) {
  boundary();
  auto result = execute();
  remember(operation, word_of(result));
  boundary();
  return result;
}

void Cpu::remember(const Operation& operation, u64 result) {
  if (!open_) return;
  present_history().add(operation.kind, operation.address, operation.value, result);
  last_ = operation;
  has_last_ = true;
}

StateHash& Cpu::present_history() {
  if (pmu_.in_pmi_handler()) return handler_history_;
  handler_history_ = {};
  return history_;
}

std::string Cpu::place() const {
  const char* code = pmu_.in_pmi_handler() ? ", in the PMI handler" : "";
  const std::string ip = code_ ? fmt::format("at {:#x}, ", code_->rip) : "";
  return ip + (has_last_ ? fmt::format("after {}{}", text_of(last_), code) : "before the first operation");
}

FaultOr<u64> Cpu::rdmsr(u32 address) {
  return operation({Kind::rdmsr, address}, [&] { return pmu_.rdmsr(address); });
}
Fault Cpu::wrmsr(u32 address, u64 value) {
  return operation({Kind::wrmsr, address, value}, [&] { return pmu_.wrmsr(address, value); });
}
FaultOr<u64> Cpu::rdpmc(u32 ecx) {
  return operation({Kind::rdpmc, ecx}, [&] { return pmu_.rdpmc(ecx, Cpl::kernel); });
}
CpuidResult Cpu::cpuid(u32 leaf, u32 subleaf) {
  return operation({Kind::cpuid, leaf, subleaf}, [&] { return pmu_.cpuid(leaf, subleaf); });
}
u64 Cpu::rdtsc() {
  return operation({Kind::rdtsc}, [&] { return pmu_.rdtsc(); });
}
Fault Cpu::read_memory(u64 address, std::span<std::byte> out) {
  return operation({Kind::read_memory, address},
                   [&] {
                     return Read{pmu_.read_memory(address, out), out};
                   })
      .fault;
}
Fault Cpu::write_memory(u64 address, std::span<const std::byte> in) {
  return operation({Kind::write_memory, address}, [&] { return pmu_.write_memory(address, in); });
}
bool Cpu::map_memory(u64 address, u64 bytes) {
  return operation({Kind::map_memory, address, bytes}, [&] { return pmu_.map_memory(address, bytes); });
}
bool Cpu::map_memory_at(u64 address, u64 physical, u64 bytes) {
  return operation({Kind::map_memory, address, bytes},
                   [&] { return pmu_.map_memory_at(address, physical, bytes); });
}
std::span<std::byte> Cpu::memory(u64 address, u64 bytes) {
  return operation({Kind::view_memory, address, bytes}, [&] { return pmu_.memory(address, bytes); });
}
Fault Cpu::xsaves(u64 address, u64 features) {
  return operation({Kind::xsaves, address, features}, [&] { return pmu_.xsaves(address, features); });
}
Fault Cpu::xrstors(u64 address, u64 features) {
  return operation({Kind::xrstors, address, features}, [&] { return pmu_.xrstors(address, features); });
}
FaultOr<u64> Cpu::xgetbv(u32 ecx) {
  return operation({Kind::xgetbv, ecx}, [&] { return pmu_.xgetbv(ecx); });
}
Fault Cpu::xsetbv(u32 ecx, u64 value) {
  return operation({Kind::xsetbv, ecx, value}, [&] { return pmu_.xsetbv(ecx, value); });
}
void Cpu::retire(const Retirement& retirement) {
  operation({Kind::retirement, retirement.ip}, [&] {
    pmu_.retire(retirement);
    return u64{0};
  });
}

std::string text_of(const Operation& operation) {
  static constexpr std::array names{
      "rdmsr",      "wrmsr",  "rdpmc",  "rdtsc",   "cpuid",  "read_memory", "write_memory",
      "map_memory", "memory", "xsaves", "xrstors", "xgetbv", "xsetbv",      "the instruction at"};
  std::string text = names[static_cast<std::size_t>(operation.kind)];
  if (operation.kind != Kind::rdtsc) text += fmt::format(" {:x}", operation.address);
  if (operation.kind == Kind::wrmsr || operation.kind == Kind::xsetbv)
    text += fmt::format(" = {:x}", operation.value);
  return text;
}

}  // namespace pmusim::explore
