// SPDX-License-Identifier: MIT
#include "core/machine_caches.h"

#include <algorithm>

#include "core/memory_hierarchy.h"

namespace pmusim {

u32 MachineCaches::join(MemoryHierarchy& core, u32 package, const CacheGeometry& l3) {
  const auto [place, is_new] = packages_.try_emplace(package);
  if (is_new && l3.bytes != 0) {
    const std::size_t lines = l3.bytes / l3.line_bytes;
    place->second.l3.emplace(lines / l3.ways, l3.ways);
    cached_lines_ += lines;
  }
  cached_lines_ += core.private_lines();
  cores_.push_back({&core, package});
  return static_cast<u32>(cores_.size() - 1);
}

MachineCaches::Copies& MachineCaches::copies_of(u64 line) {
  if (directory_.size() > 2 * cached_lines_) forget_unused();
  const auto [place, is_new] = directory_.try_emplace(key(line));
  if (is_new) place->second.space = space_;
  if (is_new && start_ == Start::warm)
    for (u32 core = 0; core < cores_.size(); ++core) place->second.cores.set(core);
  return place->second;
}

bool MachineCaches::holds(const Copies& copies, u32 core, u64 line) const {
  return copies.cores[core] && cores_[core].caches->holds(line);
}

void MachineCaches::forget_dropped(Copies& copies, u64 line) const {
  for (u32 core = 0; core < cores_.size(); ++core)
    if (copies.cores[core] && !holds(copies, core, line)) copies.cores.reset(core);
}

bool MachineCaches::is_anywhere(const Copies& copies, u64 key) const {
  for (const auto& [number, package] : packages_)
    if (package.l3 && package.l3->has(key)) return true;
  for (u32 core = 0; core < cores_.size(); ++core)
    if (holds(copies, core, key ^ copies.space)) return true;
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
  const u32 package = cores_[reader].package;
  if (cores_[owner].package != package) return {CacheLevel::memory, snoop, true};
  return {last_level(packages_.at(package)), snoop, false};
}

// No core has to be asked, or the one that was had dropped the line.
MachineCaches::Answer MachineCaches::from_last_level(u32 reader, u64 line, Snoop elsewhere) {
  const u32 own = cores_[reader].package;
  if (find(packages_.at(own), line)) return {CacheLevel::l3, Snoop::none, false};
  for (auto& [number, package] : packages_)
    if (number != own && find(package, line)) return {CacheLevel::memory, elsewhere, true};
  return {};
}

MachineCaches::Answer MachineCaches::from_sharers(const Copies& copies, u32 reader, u64 line) {
  const u32 own = cores_[reader].package;
  if (find(packages_.at(own), line)) return {CacheLevel::l3, Snoop::none, false};
  u32 nearest = nobody;
  for (u32 core = 0; core < cores_.size(); ++core)
    if (copies.cores[core] && (nearest == nobody || cores_[core].package == own)) nearest = core;
  return nearest == nobody ? from_last_level(reader, line, Snoop::forward)
                           : from_core(nearest, reader, Snoop::forward);
}

// Copies that were dropped are forgotten on the way.
MachineCaches::Answer MachineCaches::supply(Copies& copies, u32 reader, u64 line) {
  const Kind kind = copies.kind;
  const u32 owner = copies.owner;
  forget_dropped(copies, line);
  if (kind == Kind::shared || owner == reader) return from_sharers(copies, reader, line);
  if (!copies.cores[owner]) {
    Answer answer = from_last_level(reader, line, kind == Kind::modified ? Snoop::modified : Snoop::forward);
    if (kind == Kind::exclusive && answer.level == CacheLevel::l3) answer.snoop = Snoop::miss;
    return answer;
  }
  if (kind == Kind::modified) {
    fill(cores_[owner].package, line);
    return from_core(owner, reader, Snoop::modified);
  }
  const bool is_near = cores_[owner].package == cores_[reader].package;
  return from_core(owner, reader,
                   is_near && find(packages_.at(cores_[reader].package), line) ? Snoop::hit : Snoop::forward);
}

MachineCaches::Answer MachineCaches::read(u32 core, u64 line) {
  Copies& copies = copies_of(line);
  if (holds(copies, core, line)) return from_last_level(core, line, Snoop::forward);
  const Answer answer = supply(copies, core, line);
  copies.kind = copies.cores.none() ? Kind::exclusive : Kind::shared;
  copies.cores.set(core);
  copies.owner = core;
  fill(cores_[core].package, line);
  return answer;
}

MachineCaches::Answer MachineCaches::prefetch(u32 core, u64 line) {
  const Answer answer = from_last_level(core, line, Snoop::forward);
  fill(cores_[core].package, line);
  return answer;
}

std::optional<MachineCaches::Answer> MachineCaches::own(u32 core, u64 line) {
  Copies& copies = copies_of(line);
  const bool alone = copies.kind != Kind::shared && copies.owner == core;
  if (alone) {
    copies.kind = Kind::modified;
    return std::nullopt;
  }
  Answer answer{last_level(packages_.at(cores_[core].package)), Snoop::none, false};
  forget_dropped(copies, line);
  for (u32 other = 0; other < cores_.size(); ++other) {
    if (other == core || !copies.cores[other]) continue;
    cores_[other].caches->invalidate(line);
    answer.snoop = Snoop::hit;
    answer.remote = answer.remote || cores_[other].package != cores_[core].package;
  }
  for (auto& [number, package] : packages_)
    if (number != cores_[core].package && package.l3) package.l3->erase(key(line));
  copies.cores.reset();
  copies.cores.set(core);
  copies.owner = core;
  copies.kind = Kind::modified;
  return answer;
}

bool MachineCaches::last_level_has(u32 core, u64 line) const {
  const auto& l3 = packages_.at(cores_[core].package).l3;
  return l3 && l3->has(key(line));
}

void MachineCaches::flush(u64 line) {
  for (const Core& core : cores_) core.caches->invalidate(line);
  for (auto& [number, package] : packages_)
    if (package.l3) package.l3->erase(key(line));
  directory_.erase(key(line));
}

MachineCaches::State MachineCaches::state(u32 core, u64 line) const {
  const auto place = directory_.find(key(line));
  if (place == directory_.end() || !holds(place->second, core, line)) return State::invalid;
  const Copies& copies = place->second;
  if (copies.owner != core) return State::shared;
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
