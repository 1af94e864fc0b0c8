// SPDX-License-Identifier: MIT
#include "symbols/address_space.h"

#include <algorithm>

namespace pmusim::symbols {

const Mapping* AddressSpace::find(u64 address) const {
  auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

bool AddressSpace::overlaps(const Mapping& mapping) const {
  const auto next = by_start_.lower_bound(mapping.start);
  return find(mapping.start) != nullptr || (next != by_start_.end() && next->first < mapping.end);
}

/// What reaches into [start, end) keeps its parts outside of it.
void AddressSpace::cut_out(u64 start, u64 end) {
  auto at = by_start_.upper_bound(start);
  if (at != by_start_.begin() && std::prev(at)->second.end > start) --at;
  while (at != by_start_.end() && at->first < end) {
    const Mapping old = at->second;
    at = by_start_.erase(at);
    if (old.start < start) by_start_[old.start] = {old.start, start, old.file_offset, old.file};
    if (old.end > end) by_start_[end] = {end, old.end, old.file_offset + (end - old.start), old.file};
  }
}

u32 AddressSpaces::add_file(FileIdentity file) {
  const auto [at, is_new] = file_index_.try_emplace(std::move(file), static_cast<u32>(files_.size()));
  if (is_new) files_.push_back(at->first);
  return at->second;
}

AddressSpaces::Id AddressSpaces::add_space(AddressSpace space) {
  spaces_.push_back(std::move(space));
  users_.push_back(1);
  return static_cast<Id>(spaces_.size() - 1);
}

AddressSpaces::State& AddressSpaces::state(u32 pid, u64 time) {
  auto& states = history_[pid];
  if (states.empty()) states.push_back({time, add_space({})});
  return states.back();
}

/// Ordinary profiles copy less than they map; the bound is for those made to exhaust memory.
bool AddressSpaces::may_copy(const AddressSpace& space) {
  constexpr u64 copies_per_mapping = 16, always = 1 << 16;
  const u64 wanted = copied_ + space.by_start_.size();
  if (wanted > always + copies_per_mapping * mapped_) return exact_ = false;
  copied_ = wanted;
  return true;
}

void AddressSpaces::map(u32 pid, u64 time, const Mapping& mapping) {
  if (mapping.start >= mapping.end) return;
  ++mapped_;
  State* present = &state(pid, time);
  if (const Mapping* same = spaces_[present->space].find(mapping.start); same && *same == mapping) return;
  const bool replaces = spaces_[present->space].overlaps(mapping);
  const bool is_shared = users_[present->space] > 1;
  if ((replaces || is_shared) && may_copy(spaces_[present->space])) {
    --users_[present->space];
    const Id copy = add_space(spaces_[present->space]);
    present->space = replaces ? present->space : copy;
    if (replaces) history_[pid].push_back({time, copy});
    present = &history_[pid].back();
  }
  AddressSpace& space = spaces_[present->space];
  space.cut_out(mapping.start, mapping.end);
  space.by_start_[mapping.start] = mapping;
}

void AddressSpaces::exec(u32 pid, u64 time) {
  if (const auto known = history_.find(pid); known != history_.end()) --users_[known->second.back().space];
  history_[pid].push_back({time, add_space({})});
}

void AddressSpaces::fork(u32 parent, u32 child, u64 time) {
  if (parent == child) return;
  const Id inherited = state(parent, time).space;
  ++users_[inherited];
  if (const auto known = history_.find(child); known != history_.end()) --users_[known->second.back().space];
  history_[child].push_back({time, inherited});
}

std::optional<AddressSpaces::Id> AddressSpaces::find(u32 pid, u64 time) const {
  const auto known = history_.find(pid);
  if (known == history_.end()) return std::nullopt;
  const auto& states = known->second;
  const auto after = std::ranges::upper_bound(states, time, {}, &State::since);
  // Before the first event: what the process has first. Records of other CPUs may come late.
  return after == states.begin() ? after->space : std::prev(after)->space;
}

}  // namespace pmusim::symbols
