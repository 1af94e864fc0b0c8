// SPDX-License-Identifier: MIT
#include "scenario/retire_words.h"

#include <algorithm>

#include "pmusim/cpu/retirement.h"

namespace pmusim::scenario {

namespace {

constexpr u8 instruction_bytes = 4;
constexpr u32 access_bytes = 8;

/// "direct jump" is direct-jump in a scenario.
bool is_kind(std::string_view word, BranchKind kind) {
  const std::string_view name = name_of(kind);
  return std::equal(word.begin(), word.end(), name.begin(), name.end(),
                    [](char a, char b) { return a == b || (a == '-' && b == ' '); });
}

std::optional<BranchKind> branch_kind(std::string_view word) {
  for (auto kind = static_cast<unsigned>(BranchKind::conditional);
       kind <= static_cast<unsigned>(BranchKind::tsx_abort); ++kind)
    if (is_kind(word, static_cast<BranchKind>(kind))) return static_cast<BranchKind>(kind);
  return std::nullopt;
}

MemoryAccess access(Words& words, AccessKind kind) {
  return {.address = words.next_number("an address"), .bytes = access_bytes, .kind = kind};
}

u64 at_least_one(Words& words, std::string_view what) {
  const u64 value = words.next_number(what);
  if (value == 0 || value > max_retirements)
    throw Misunderstood{fmt::format("{} is {}: expected 1 to {}", what, value, max_retirements)};
  return value;
}

/// Takes one property; false where the word is none.
bool take_property(Words& words, Retired& retired, BranchOutcome& outcome) {
  Retirement& r = retired.retirement;
  if (words.take("ring")) {
    r.cpl = r.cpl_after = words.next_number("0 or 3") == 0 ? Cpl::kernel : Cpl::user;
  } else if (words.take("ip")) {
    retired.ip = words.next_number("an address");
  } else if (words.take("to")) {
    retired.target = words.next_number("an address");
  } else if (words.take("not-taken")) {
    outcome.taken = false;
  } else if (words.take("mispredicted")) {
    outcome.mispredicted = true;
  } else if (words.take("in-transaction")) {
    r.tx = TxState::in_tx;
  } else if (words.take("uops")) {
    r.quantities[static_cast<unsigned>(Quantity::uops)] = static_cast<u32>(words.next_number("uops"));
  } else if (words.take("load")) {
    retired.accesses.push_back(access(words, AccessKind::load));
    r.signals.add(Signal::load);
  } else if (words.take("store")) {
    retired.accesses.push_back(access(words, AccessKind::store));
    r.signals.add(Signal::store);
  } else if (words.take("latency")) {
    r.latency_cycles = static_cast<u32>(words.next_number("cycles"));
    r.signals.add(Signal::load_latency);
  } else if (words.take("cycles")) {
    retired.cycles = at_least_one(words, "cycles");
  } else if (words.take("at-once")) {
    retired.at_once = at_least_one(words, "at-once");
  } else {
    return false;
  }
  return true;
}

/// An interrupt or an abort is a transfer without an instruction of its own.
void retire_nothing(Retirement& r) {
  r.length = 0;
  r.signals = {};
  if (r.branch != BranchKind::tsx_abort) return;
  r.tx = TxState::aborting;
  r.signals.add(Signal::tx_abort);
}

}  // namespace

Retired parse_retired(Words& words) {
  Retired retired;
  Retirement& r = retired.retirement;
  r.signals.add(Signal::instruction);
  r.length = instruction_bytes;
  BranchOutcome outcome{.taken = true};
  if (number(words.peek())) retired.count = at_least_one(words, "the number of instructions");
  while (!words.empty()) {
    if (take_property(words, retired, outcome)) continue;
    const std::string_view word = words.next("a property");
    const auto kind = branch_kind(word);
    if (!kind) throw Misunderstood{fmt::format("'{}' is no property of an instruction", word)};
    r.branch = *kind;
  }
  for (MemoryAccess& memory : retired.accesses) memory.latency_cycles = r.latency_cycles;
  if (r.branch == BranchKind::none) return retired;
  r.taken = outcome.taken;
  r.mispredicted = outcome.mispredicted;
  if (r.branch == BranchKind::interrupt || r.branch == BranchKind::tsx_abort)
    retire_nothing(r);
  else
    r.signals = r.signals | branch_signals(r.branch) | outcome_signals(r.branch, outcome);
  return retired;
}

}  // namespace pmusim::scenario
