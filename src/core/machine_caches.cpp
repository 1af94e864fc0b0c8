// SPDX-License-Identifier: MIT
#include "core/machine_caches.h"

#include <algorithm>
#include <utility>

#include "core/memory_hierarchy.h"

namespace pmusim {

u32 MachineCaches::join(MemoryHierarchy& core, const CorePlace& place, const Shared& shared) {
  const auto [package, is_new] = packages_.try_emplace(place.package);
  if (is_new && shared.l3.bytes != 0) {
    const std::size_t lines = shared.l3.bytes / shared.l3.line_bytes;
    package->second.l3.emplace(lines / shared.l3.ways, shared.l3.ways);
    cached_lines_ += lines;
  }
  cached_lines_ += core.private_lines();
  const auto number = static_cast<u32>(cores_.size());
  Module& module = modules_[place.module];
  module.cores.push_back(number);
  module.transfers = shared.l2_transfers;
  cores_.push_back({&core, place, &module});
  if (module.cores.size() == 2) {
    module.l2.emplace(shared.l2);
    cores_[module.cores.front()].caches->share_l2(*module.l2, module.cores.front());
  }
  if (module.l2) core.share_l2(*module.l2, number);
  return number;
}

MachineCaches::Copies& MachineCaches::copies_of(u64 line) {
  if (directory_.size() > 2 * cached_lines_) forget_unused();
  const auto [place, is_new] = directory_.try_emplace(key(line));
  if (is_new) place->second.space = space_;
  if (is_new && start_ == StartState::warm)
    for (u32 core = 0; core < cores_.size(); ++core) place->second.cores.set(core);
  return place->second;
}

/// `line` is what the core's own caches call it, `key` what all others do.
bool MachineCaches::has_anywhere(u32 core, u64 line, u64 key) const {
  const auto& l2 = module_of(core).l2;
  return cores_[core].caches->holds(line) || (l2 && l2->has(key));
}

void MachineCaches::forget_dropped(Copies& copies, u64 line) const {
  for (u32 core = 0; core < cores_.size(); ++core)
    if (copies.cores[core] && !holds(copies, core, line)) copies.cores.reset(core);
}

bool MachineCaches::is_anywhere(const Copies& copies, u64 key) const {
  for (const auto& [number, package] : packages_)
    if (package.l3 && package.l3->has(key)) return true;
  for (u32 core = 0; core < cores_.size(); ++core)
    if (copies.cores[core] && has_anywhere(core, key ^ copies.space, key)) return true;
  return false;
}

// What is left fits into the caches, so this is rare.
void MachineCaches::forget_unused() {
  std::erase_if(directory_, [&](const auto& entry) { return !is_anywhere(entry.second, entry.first); });
}

bool MachineCaches::find(Package& package, u64 line) {
  return package.l3 && package.l3->find(key(line)) != nullptr;
}

void MachineCaches::fill(u32 package, u64 line) {
  auto& l3 = packages_.at(package).l3;
  if (l3 && l3->find(key(line)) == nullptr) l3->insert(key(line), {});
}

MachineCaches::Answer MachineCaches::from_core(u32 owner, u32 reader, Snoop snoop) const {
  const u32 package = package_of(reader);
  if (package_of(owner) != package) return {CacheLevel::memory, snoop, true};
  return {last_level(packages_.at(package)), snoop, false};
}

// No core has to be asked, or the one that was had dropped the line.
MachineCaches::Answer MachineCaches::from_last_level(u32 reader, u64 line, Snoop elsewhere) {
  const u32 own = package_of(reader);
  if (find(packages_.at(own), line)) return {CacheLevel::l3, Snoop::none, false};
  for (auto& [number, package] : packages_)
    if (number != own && find(package, line)) return {CacheLevel::memory, elsewhere, true};
  return {};
}

MachineCaches::Answer MachineCaches::from_sharers(const Copies& copies, u32 reader, u64 line) {
  const u32 own = package_of(reader);
  if (find(packages_.at(own), line)) return {CacheLevel::l3, Snoop::none, false};
  u32 nearest = nobody;
  for (u32 core = 0; core < cores_.size(); ++core)
    if (copies.cores[core] && (nearest == nobody || package_of(core) == own)) nearest = core;
  return nearest == nobody ? from_last_level(reader, line, Snoop::forward)
                           : from_core(nearest, reader, Snoop::forward);
}

// Of a module that has a line alone: whose L1 has it in place of the one that got it.
u32 MachineCaches::holder_of(const Copies& copies) const {
  if (copies.cores[copies.owner]) return copies.owner;
  for (const u32 other : module_of(copies.owner).cores)
    if (copies.cores[other]) return other;
  return copies.owner;
}

// Whether a cache of the owner's module has yet to write the line back.
bool MachineCaches::is_dirty(const Copies& copies, u64 line) const {
  return cores_[copies.owner].caches->holds_in_l2(line) ||
         (copies.writer != nobody && cores_[copies.writer].caches->holds_in_l1(line));
}

// Copies that were dropped are forgotten on the way.
MachineCaches::Answer MachineCaches::supply(Copies& copies, u32 reader, u64 line) {
  const Kind kind = copies.kind;
  forget_dropped(copies, line);
  if (kind == Kind::shared || copies.owner == reader) return from_sharers(copies, reader, line);
  const u32 owner = holder_of(copies);
  if (!copies.cores[owner]) {
    Answer answer = from_last_level(reader, line, kind == Kind::modified ? Snoop::modified : Snoop::forward);
    if (kind == Kind::exclusive && answer.level == CacheLevel::l3) answer.snoop = Snoop::miss;
    return answer;
  }
  if (kind == Kind::modified && is_dirty(copies, line)) {
    fill(package_of(owner), line);
    return from_core(owner, reader, Snoop::modified);
  }
  const u32 package = package_of(reader);
  const bool is_near = package_of(owner) == package;
  return from_core(owner, reader, is_near && find(packages_.at(package), line) ? Snoop::hit : Snoop::forward);
}

MachineCaches::Answer MachineCaches::read(u32 core, u64 line) {
  Copies& copies = copies_of(line);
  if (holds(copies, core, line)) return from_last_level(core, line, Snoop::forward);
  const Answer answer = supply(copies, core, line);
  copies.kind = copies.cores.none() ? Kind::exclusive : Kind::shared;
  copies.cores.set(core);
  copies.owner = core;
  copies.writer = nobody;
  fill(package_of(core), line);
  return answer;
}

MachineCaches::Answer MachineCaches::prefetch(u32 core, u64 line) {
  const Answer answer = from_last_level(core, line, Snoop::forward);
  fill(package_of(core), line);
  return answer;
}

std::optional<MachineCaches::Answer> MachineCaches::share(u32 core, u64 line) {
  Copies& copies = copies_of(line);
  copies.cores.set(core);
  const u32 writer = std::exchange(copies.writer, nobody);  // from here on L2 has it, too
  const bool is_sent = writer != nobody && writer != core && cores_[writer].caches->holds_in_l1(line);
  if (!is_sent) return std::nullopt;
  if (module_of(core).transfers) return Answer{CacheLevel::l2, Snoop::modified, false};
  copies.kind = Kind::shared;
  copies.owner = core;
  fill(package_of(core), line);
  return from_core(writer, core, Snoop::modified);
}

/// Whether another core of the module had a copy in its L1.
bool MachineCaches::take_from_module(Copies& copies, u32 core, u64 line) {
  bool had = false;
  for (const u32 other : module_of(core).cores) {
    if (other == core || !copies.cores[other]) continue;
    had = had || cores_[other].caches->holds_in_l1(line);
    cores_[other].caches->invalidate(line);
  }
  return had;
}

std::optional<MachineCaches::Answer> MachineCaches::own(u32 core, u64 line) {
  Copies& copies = copies_of(line);
  const bool alone = is_alone(copies, core);
  Answer answer{alone ? CacheLevel::l2 : last_level(packages_.at(package_of(core))), Snoop::none, false};
  if (!alone) forget_dropped(copies, line);
  if (take_from_module(copies, core, line)) answer.snoop = Snoop::hit;
  if (!alone) take_from_others(copies, core, line, answer);
  copies.cores.reset();
  copies.cores.set(core);
  copies.owner = copies.writer = core;
  copies.kind = Kind::modified;
  return alone && answer.snoop == Snoop::none ? std::nullopt : std::optional(answer);
}

/// Caches of other modules and packages lose a line.
void MachineCaches::take_from_others(const Copies& copies, u32 core, u64 line, Answer& answer) {
  for (u32 other = 0; other < cores_.size(); ++other) {
    if (are_of_a_module(other, core) || !copies.cores[other]) continue;
    cores_[other].caches->invalidate(line);
    if (auto& l2 = module_of(other).l2) l2->erase(key(line));
    answer.snoop = Snoop::hit;
    answer.remote = answer.remote || package_of(other) != package_of(core);
  }
  for (auto& [number, package] : packages_)
    if (number != package_of(core) && package.l3) package.l3->erase(key(line));
}

bool MachineCaches::last_level_has(u32 core, u64 line) const {
  const auto& l3 = packages_.at(package_of(core)).l3;
  return l3 && l3->has(key(line));
}

void MachineCaches::flush(u64 line) {
  for (const Core& core : cores_) core.caches->invalidate(line);
  for (auto& [number, module] : modules_)
    if (module.l2) module.l2->erase(key(line));
  for (auto& [number, package] : packages_)
    if (package.l3) package.l3->erase(key(line));
  directory_.erase(key(line));
}

MachineCaches::State MachineCaches::state(u32 core, u64 line) const {
  const auto place = directory_.find(key(line));
  if (place == directory_.end() || !holds(place->second, core, line)) return State::invalid;
  const Copies& copies = place->second;
  if (copies.owner == nobody || !are_of_a_module(copies.owner, core)) return State::shared;
  switch (copies.kind) {
    case Kind::shared:
      return State::forward;
    case Kind::exclusive:
      return State::exclusive;
    case Kind::modified:
      return State::modified;
  }
  return State::invalid;
}

}  // namespace pmusim
