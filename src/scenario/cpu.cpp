// SPDX-License-Identifier: MIT
#include "scenario/cpu.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/suggest.h"
#include "scenario/retire_words.h"

namespace pmusim::scenario {

namespace {

std::string show(const FaultOr<u64>& value) {
  return value.ok() ? fmt::format("{:#x}", *value) : std::string(name_of(value.error()));
}

Fault fault_of(const FaultOr<u64>& value) { return value.ok() ? Fault::none : value.error(); }

bool is_fault(std::string_view word) { return word.starts_with('#'); }

Checked compare(std::string expected, std::string found) {
  if (expected == found) return std::nullopt;
  return Mismatch{std::move(expected), std::move(found), {}};
}

/// Nothing more, or "= #GP", against what happened.
Checked compare_fault(Words& words, Fault found) {
  const std::string_view expected = words.take("=") ? words.next("a fault") : name_of(Fault::none);
  words.end();
  return compare(std::string(expected), std::string(name_of(found)));
}

/// "= VALUE" or "= #GP" against what was read.
template <class Value>
Checked compare_next(Words& words, const FaultOr<u64>& found, Value value_of) {
  words.expect("=");
  const std::string_view word = words.next("a value or a fault");
  words.end();
  return compare(is_fault(word) ? std::string(word) : fmt::format("{:#x}", value_of(word)), show(found));
}

u64 plain_number(std::string_view word) {
  if (const auto value = number(word)) return *value;
  throw Misunderstood{fmt::format("'{}' is no number", word)};
}

bool same_name(std::string_view name, std::string_view wanted) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

/// A fault that was not expected says why.
Checked Cpu::with_reason(Checked checked, Fault found) const {
  if (checked && found != Fault::none) checked->why = pmu_.why();
  return checked;
}

u32 Cpu::address_of(std::string_view wanted) const {
  if (const auto address = number(wanted)) return static_cast<u32>(*address);
  std::vector<std::string> names;
  for (const Register& entry : pmu_.registers().all()) {
    names.push_back(entry.name());
    const std::string_view name = names.back();
    const std::size_t prefix = name.find('_');
    if (same_name(name, wanted) || same_name(name.substr(prefix == name.npos ? 0 : prefix + 1), wanted))
      return entry.address;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw Misunderstood{
      fmt::format("{} has no register {}{}", pmu_.model().name, wanted, did_you_mean(wanted, known))};
}

u64 Cpu::value_for(u32 address, std::string_view word) const {
  const Register* const known = pmu_.registers().find(address);
  u64 value = 0;
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('|'), word.size());
    value |= term_value(known, word.substr(0, end));
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return value;
}

// A number, FIELD (all its bits), or FIELD:NUMBER.
u64 Cpu::term_value(const Register* known, std::string_view term) const {
  if (const auto value = number(term)) return *value;
  const std::string_view name = term.substr(0, term.find(':'));
  std::vector<std::string_view> names;
  for (const Field& field : known != nullptr ? known->fields : std::span<const Field>()) {
    names.push_back(field.name);
    if (!same_name(field.name, name)) continue;
    if (name.size() == term.size()) return field.mask;
    return plain_number(term.substr(name.size() + 1)) << std::countr_zero(field.mask) & field.mask;
  }
  throw Misunderstood{fmt::format("'{}' is no number, and the register has no such field{}", term,
                                  did_you_mean(name, names))};
}

Checked Cpu::wrmsr(Words& words) {
  const u32 address = address_of(words.next("a register"));
  const u64 value = value_for(address, words.next("a value"));
  const Fault found = pmu_.wrmsr(address, value);
  return with_reason(compare_fault(words, found), found);
}

Checked Cpu::rdmsr(Words& words) {
  const u32 address = address_of(words.next("a register"));
  const FaultOr<u64> found = pmu_.rdmsr(address);
  return with_reason(
      compare_next(words, found, [&](std::string_view word) { return value_for(address, word); }),
      fault_of(found));
}

Checked Cpu::rdpmc(Words& words) {
  const u64 ecx = words.next_number("ECX");
  const bool user = words.take("ring") && words.next_number("0 or 3") == 3;
  const FaultOr<u64> found = pmu_.rdpmc(static_cast<u32>(ecx), user ? Cpl::user : Cpl::kernel);
  return with_reason(compare_next(words, found, plain_number), fault_of(found));
}

// "-" for a register that does not matter.
Checked Cpu::cpuid(Words& words) {
  const u64 leaf = words.next_number("a leaf"), subleaf = words.next_number("a subleaf");
  const CpuidResult result = pmu_.cpuid(static_cast<u32>(leaf), static_cast<u32>(subleaf));
  words.expect("=");
  std::string expected, found;
  for (const u32 value : {result.eax, result.ebx, result.ecx, result.edx}) {
    const std::string_view word = words.next("EAX EBX ECX EDX");
    expected += word == "-" ? "- " : fmt::format("{:#x} ", plain_number(word));
    found += word == "-" ? "- " : fmt::format("{:#x} ", value);
  }
  words.end();
  return compare(expected, found);
}

Checked Cpu::memory(Words& words) {
  const u64 address = words.next_number("an address"), bytes = words.next_number("a number of bytes");
  u64 physical = address;
  if (!words.empty()) {
    words.expect("physical");
    physical = words.next_number("an address");
  }
  words.end();
  if (bytes > max_memory_bytes - mapped_bytes_ || !pmu_.map_memory_at(address, physical, bytes))
    throw Misunderstood{
        fmt::format("cannot map {} bytes at {:#x}: expected at most {} in all, where nothing is mapped",
                    bytes, address, max_memory_bytes)};
  mapped_bytes_ += bytes;
  return std::nullopt;
}

Checked Cpu::write(Words& words) {
  u64 address = words.next_number("an address");
  while (!words.empty()) {
    const u64 value = words.next_number("64-bit values");
    const Fault fault = pmu_.write_memory(address, std::as_bytes(std::span(&value, 1)));
    if (fault != Fault::none)
      throw Misunderstood{fmt::format("no memory at {:#x}: map it with 'memory'", address)};
    address += sizeof value;
  }
  return std::nullopt;
}

Checked Cpu::read(Words& words) {
  const u64 address = words.next_number("an address");
  u64 value = 0;
  const Fault fault = pmu_.read_memory(address, std::as_writable_bytes(std::span(&value, 1)));
  const FaultOr<u64> found = fault == Fault::none ? FaultOr<u64>(value) : FaultOr<u64>(Failure(fault));
  return compare_next(words, found, plain_number);
}

Checked Cpu::retire(Words& words) {
  const Retired retired = parse_retired(words);
  words.end();
  u64 ip = retired.ip.value_or(next_ip_);
  for (u64 n = 0; n < retired.count; ++n) {
    Retirement r = retired.retirement;
    r.ip = ip;
    r.cycle = pmu_.now() + (n % retired.at_once == 0 ? retired.cycles : 0);
    r.next_ip = r.taken ? retired.target : ip + r.length;
    r.memory = retired.accesses;
    pmu_.retire(r);
    ip = r.next_ip;
  }
  next_ip_ = ip;
  return std::nullopt;
}

Checked Cpu::wait(Words& words) {
  const u64 cycles = words.next_number("a number of cycles");
  words.end();
  pmu_.wait_until(pmu_.now() + std::min(cycles, max_wait_cycles), {.cpl = Cpl::kernel});
  return std::nullopt;
}

Checked Cpu::pmi(Words& words) {
  const std::string_view how = words.next("'unmask' or 'leave-masked'");
  words.end();
  if (how != "unmask" && how != "leave-masked")
    throw Misunderstood{fmt::format("'pmi {}': expected 'unmask' or 'leave-masked'", how)};
  unmasks_ = how == "unmask";
  return std::nullopt;
}

Checked Cpu::pmis(Words& words) { return compare_next(words, FaultOr<u64>(pmis_), plain_number); }

Checked Cpu::pmi_ip(Words& words) { return compare_next(words, FaultOr<u64>(pmi_ip_), plain_number); }

Checked Cpu::debug_exception(Words& words) {
  words.end();
  pmu_.debug_exception();
  return std::nullopt;
}

Checked Cpu::xsetbv(Words& words) {
  const u64 ecx = words.next_number("ECX");
  const Fault found = pmu_.xsetbv(static_cast<u32>(ecx), words.next_number("a value"));
  return with_reason(compare_fault(words, found), found);
}

template <SaveInstruction which>
Checked Cpu::save(Words& words) {
  const u64 address = words.next_number("an address"), features = words.next_number("EDX:EAX");
  return compare_fault(words, pmu_.save(which, {.address = address, .features = features}));
}
template Checked Cpu::save<SaveInstruction::xsave>(Words&);
template Checked Cpu::save<SaveInstruction::xsaveopt>(Words&);
template Checked Cpu::save<SaveInstruction::xsavec>(Words&);
template Checked Cpu::save<SaveInstruction::xsaves>(Words&);

template <RestoreInstruction which>
Checked Cpu::restore(Words& words) {
  const u64 address = words.next_number("an address"), features = words.next_number("EDX:EAX");
  return compare_fault(words, pmu_.restore(which, {.address = address, .features = features}));
}
template Checked Cpu::restore<RestoreInstruction::xrstor>(Words&);
template Checked Cpu::restore<RestoreInstruction::xrstors>(Words&);

Checked Cpu::reset(Words& words) {
  words.end();
  pmu_.reset();
  return std::nullopt;
}

void Cpu::handle_pmi(const InterruptFrame& frame) {
  ++pmis_;
  pmi_ip_ = frame.registers.rip;
  if (unmasks_) static_cast<void>(pmu_.wrmsr(msr::X2APIC_LVTPC, msr::lvtpc::NMI));
}

}  // namespace pmusim::scenario
