// SPDX-License-Identifier: MIT
#include "capi/retirement.h"

#include <fmt/format.h>

#include <algorithm>

#include "capi/cpu.h"
#include "capi/names.h"
#include "cpu/memory_signals.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim::capi {

namespace {

static_assert(PMUSIM_TSX_ABORT == static_cast<int>(BranchKind::tsx_abort) &&
              PMUSIM_NEAR_RETURN == static_cast<int>(BranchKind::near_return) &&
              PMUSIM_SYSCALL == static_cast<int>(BranchKind::syscall));
static_assert(PMUSIM_L1 == static_cast<int>(CacheLevel::l1) + 1 &&
              PMUSIM_MEMORY == static_cast<int>(CacheLevel::memory) + 1);
static_assert(PMUSIM_TLB_WALK == static_cast<int>(TlbLevel::walk));
static_assert(PMUSIM_STORE == static_cast<int>(AccessKind::store));
static_assert(PMUSIM_ABORTING == static_cast<int>(TxState::aborting));
static_assert(static_cast<std::size_t>(Signal::count_) <= 64 * std::size(pmusim_instruction{}.signals));
static_assert(static_cast<std::size_t>(Quantity::count_) <= std::size(pmusim_instruction{}.quantities));

constexpr u8 default_bytes = 4;
constexpr unsigned line_shift = 6;

void check_range(std::size_t number, std::string_view member, u64 value, u64 greatest) {
  if (value > greatest)
    throw Misuse(
        fmt::format("instruction {}: {} is {}: expected at most {}", number, member, value, greatest));
}

/// A transfer that is no instruction.
bool is_event(BranchKind kind) { return kind == BranchKind::interrupt || kind == BranchKind::tsx_abort; }

bool crosses_lines(const pmusim_access& access) {
  return access.bytes != 0 &&
         access.address >> line_shift != (access.address + access.bytes - 1) >> line_shift;
}

}  // namespace

CacheLevel level_of(int level, CacheLevel otherwise) {
  if (level < 0 || level > PMUSIM_MEMORY)
    throw Misuse(fmt::format("level is {}: expected one of pmusim_level", level));
  return level == PMUSIM_LEVEL_DEFAULT ? otherwise : static_cast<CacheLevel>(level - 1);
}

void check(const pmusim_instruction& instruction, std::size_t number) {
  check_range(number, "length", instruction.length, 15);
  check_range(number, "branch", instruction.branch, PMUSIM_TSX_ABORT);
  check_range(number, "taken", instruction.taken, 1);
  check_range(number, "mispredicted", instruction.mispredicted, 1);
  check_range(number, "privilege", instruction.privilege, PMUSIM_KERNEL);
  check_range(number, "privilege_after", instruction.privilege_after, PMUSIM_KERNEL);
  check_range(number, "transaction", instruction.transaction, PMUSIM_ABORTING);
  check_range(number, "access_count", instruction.access_count, most_accesses);
  if (instruction.access_count != 0 && instruction.accesses == nullptr)
    throw Misuse(fmt::format("instruction {}: accesses is null", number));
  for (u32 n = 0; n < instruction.access_count; ++n) {
    const pmusim_access& access = instruction.accesses[n];
    check_range(number, "the kind of an access", access.kind, PMUSIM_STORE);
    check_range(number, "the level of an access", access.level, PMUSIM_MEMORY);
    check_range(number, "the tlb of an access", access.tlb, PMUSIM_TLB_WALK);
    check_range(number, "locked", access.locked, 1);
  }
}

Converted::Converted(const pmusim_instruction& from, u64 next_ip, u64 next_cycle) {
  const auto kind = static_cast<BranchKind>(from.branch);
  const u64 ip = from.ip != 0 ? from.ip : next_ip;
  const u8 length = is_event(kind) ? 0 : from.length != 0 ? from.length : default_bytes;
  retirement_ = {
      .ip = ip,
      .next_ip = from.next_ip != 0 ? from.next_ip : ip + length,
      .cycle = from.cycle != 0 ? from.cycle : next_cycle,
      .length = length,
      .branch = kind,
      .cpl = cpl_of(from.privilege),
      .cpl_after = cpl_of(is_near_branch(kind) || from.branch == 0 ? from.privilege : from.privilege_after),
      .tx = static_cast<TxState>(from.transaction)};
  if (!is_event(kind)) retirement_.signals.add(Signal::instruction);
  if (kind == BranchKind::tsx_abort) retirement_.signals.add(Signal::tx_abort);
  retirement_.latency_cycles = 1;
  add_accesses(from);
  if (from.latency_cycles != 0) retirement_.latency_cycles = from.latency_cycles;
  add_branch(from);
  add_named(from);
  if (from.registers == nullptr) return;
  std::ranges::copy(from.registers->gpr, registers_.gpr.begin());
  registers_.rip = from.registers->rip;
  registers_.rflags = from.registers->rflags;
  retirement_.registers = &registers_;
}

void Converted::add_accesses(const pmusim_instruction& from) {
  for (u32 n = 0; n < from.access_count; ++n) {
    const pmusim_access& access = from.accesses[n];
    accesses_[n] = {.address = access.address,
                    .bytes = access.bytes,
                    .kind = static_cast<AccessKind>(access.kind),
                    .level = level_of(access.level, CacheLevel::l1),
                    .tlb = static_cast<TlbLevel>(access.tlb),
                    .locked = access.locked != 0,
                    .latency_cycles = access.latency_cycles};
    retirement_.signals.add(access.kind == PMUSIM_STORE ? Signal::store : Signal::load);
    if (access.locked != 0) retirement_.signals.add(Signal::locked);
    retirement_.signals = retirement_.signals |
                          access_signals(accesses_[n], crosses_lines(access) ? Lines::several : Lines::one);
    retirement_.latency_cycles = std::max(retirement_.latency_cycles, access.latency_cycles);
  }
  retirement_.memory = std::span(accesses_).first(from.access_count);
}

void Converted::add_branch(const pmusim_instruction& from) {
  const BranchKind kind = retirement_.branch;
  if (kind == BranchKind::none) return;
  retirement_.taken = from.taken != 0 || kind != BranchKind::conditional;
  retirement_.mispredicted = from.mispredicted != 0;
  if (is_event(kind)) return;
  retirement_.signals =
      retirement_.signals | branch_signals(kind) |
      outcome_signals(kind, {.taken = retirement_.taken, .mispredicted = retirement_.mispredicted});
}

void Converted::add_named(const pmusim_instruction& from) {
  for (unsigned n = 0; n < static_cast<unsigned>(Signal::count_); ++n)
    if ((from.signals[n / 64] >> n % 64 & 1) != 0) retirement_.signals.add(static_cast<Signal>(n));
  std::copy_n(from.quantities, retirement_.quantities.size(), retirement_.quantities.begin());
  u32& uops = retirement_.quantities[static_cast<unsigned>(Quantity::uops)];
  if (from.uops != 0) uops = from.uops;
  if (uops == 0 && retirement_.length != 0) uops = 1;
}

}  // namespace pmusim::capi

using namespace pmusim;
using capi::guarded;
using capi::require;

int pmusim_add_signal(pmusim_instruction* instruction, const char* name) {
  return guarded("pmusim_add_signal", [&] {
    const auto number = static_cast<unsigned>(capi::signal_called(&require(name, "name")));
    require(instruction, "instruction").signals[number / 64] |= u64{1} << number % 64;
    return PMUSIM_OK;
  });
}

int pmusim_set_quantity(pmusim_instruction* instruction, const char* name, uint32_t value) {
  return guarded("pmusim_set_quantity", [&] {
    const auto number = static_cast<unsigned>(capi::quantity_called(&require(name, "name")));
    require(instruction, "instruction").quantities[number] = value;
    return PMUSIM_OK;
  });
}
