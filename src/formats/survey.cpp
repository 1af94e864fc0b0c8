// SPDX-License-Identifier: MIT
#include "formats/survey.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmusim::formats {
namespace {

constexpr std::size_t max_call_depth = 4096;
constexpr u16 pointer_bytes = 8;

/// Relative calls have no short form; relative jumps of less than 5 bytes reach 127 bytes.
constexpr u8 near_bytes = 5;
bool is_near(u64 from, u64 to) { return to - from + 128 < 256; }

bool is_after(u64 next, u64 ip) { return next > ip && next - ip <= max_instruction_bytes; }

}  // namespace

Result<Done, Error> Survey::add(const Execution& execution) {
  if (seen_.size() == max_distinct_instructions && !seen_.contains(execution.step.ip))
    return Failure(Error(fmt::format("more than {} distinct instructions", max_distinct_instructions)));
  Seen& seen = seen_[execution.step.ip];
  if (!seen.kind) seen.kind = execution.step.kind;
  if (execution.step.length != 0) seen.length = execution.step.length;
  add_accesses(seen, execution);
  add_successor(seen, execution);
  follow_calls(seen, execution);
  return Done{};
}

void Survey::add_accesses(Seen& seen, const Execution& execution) {
  u8 loads = 0, stores = 0, modifications = 0;
  for (const Access& access : execution.step.accesses) {
    const bool both = access.load && access.store;
    ++(both ? modifications : access.load ? loads : stores);
    seen.access_bytes = std::max(seen.access_bytes, access.bytes);
  }
  seen.loads = std::max(seen.loads, loads);
  seen.stores = std::max(seen.stores, stores);
  seen.modifications = std::max(seen.modifications, modifications);
  seen.repeated = seen.repeated || execution.repeated;
  (execution.step.accesses.empty() ? seen.idle : seen.accessed) = true;
}

void Survey::add_successor(Seen& seen, const Execution& execution) {
  const Step& step = execution.step;
  if (execution.next_ip == 0) return;
  const bool recorded_taken = step.kind && step.taken;
  if (!recorded_taken && step.length == 0 && seen.length == 0 && is_after(execution.next_ip, step.ip))
    seen.length = static_cast<u8>(execution.next_ip - step.ip);
  const bool on = step.kind ? !step.taken : execution.next_ip == step.ip + step.length;
  if (on) {
    seen.fell_through = true;
  } else if (seen.target == 0) {
    seen.target = execution.next_ip;
  } else if (seen.target != execution.next_ip) {
    seen.several_targets = true;
  }
}

// A return goes behind its call, which tells how long the call is, and in a trace without kinds what a return
// is.
void Survey::follow_calls(Seen& seen, const Execution& execution) {
  const Step& step = execution.step;
  const auto accesses = [&](bool Access::*way) {
    return std::ranges::any_of(step.accesses,
                               [&](const Access& a) { return a.*way && a.bytes == pointer_bytes; });
  };
  const bool jumped = !step.kind && execution.next_ip != 0 && execution.next_ip != step.ip + step.length;
  const bool call = step.kind ? is_near_call(*step.kind) : jumped && accesses(&Access::store);
  const bool back =
      step.kind ? step.kind == BranchKind::near_return : jumped && !call && accesses(&Access::load);
  if (call) {
    if (calls_.size() == max_call_depth) calls_.erase(calls_.begin(), calls_.begin() + max_call_depth / 2);
    calls_.push_back(step.ip);
  }
  if (!back || calls_.empty()) return;
  const u64 from = calls_.back();
  if (!is_after(execution.next_ip, from)) return;  // a jump through memory, perhaps
  calls_.pop_back();
  seen.went_back = true;
  Seen& caller = seen_[from];
  if (caller.length == 0) caller.length = static_cast<u8>(execution.next_ip - from);
}

std::vector<u64> Survey::addresses() const {
  std::vector<u64> result;
  result.reserve(seen_.size());
  for (const auto& [ip, seen] : seen_) result.push_back(ip);
  std::ranges::sort(result);
  return result;
}

BranchKind Survey::guess(u64 ip, const Seen& seen) {
  if (!seen.jumped() || seen.repeated) return BranchKind::none;
  const unsigned accesses = seen.loads + seen.stores + seen.modifications;
  if (seen.fell_through) return accesses == 0 ? BranchKind::conditional : BranchKind::none;
  if (seen.stores != 0) {
    const bool direct = accesses == 1 && !seen.several_targets && seen.length >= near_bytes;
    return direct ? BranchKind::direct_call : BranchKind::indirect_call;
  }
  if (seen.went_back) return BranchKind::near_return;
  const bool reaches = seen.length >= near_bytes || is_near(ip + seen.length, seen.target);
  const bool direct = accesses == 0 && !seen.several_targets && reaches;
  return direct ? BranchKind::direct_jump : BranchKind::indirect_jump;
}

Shape Survey::shape(u64 ip, u64 room) const {
  const Seen& seen = seen_.at(ip);
  Shape shape{.kind = seen.kind ? *seen.kind : guess(ip, seen)};
  shape.length = seen.length;
  shape.room = static_cast<u8>(std::min<u64>(room, max_instruction_bytes));
  shape.repeats = seen.repeated || (seen.idle && seen.accessed);  // a string instruction with a count of 0
  shape.loads = seen.loads;
  shape.stores = seen.stores;
  shape.modifications = seen.modifications;
  if (seen.access_bytes != 0) shape.access_bytes = seen.access_bytes;
  shape.target = seen.target;
  return shape;
}

}  // namespace pmusim::formats
