// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "capi/cpu.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;

namespace pmusim::capi {
namespace {

using Regions = std::map<u64, u64>;

std::string show(const FaultOr<u64>& value) {
  return value.ok() ? fmt::format("{:#x}", *value) : std::string(name_of(value.error()));
}

bool same(const FaultOr<u64>& a, const FaultOr<u64>& b) { return a.ok() == b.ok() && (!a.ok() || *a == *b); }

/// The first register that reads differently, as a sentence; empty where none does.
std::string register_difference(Pmu& now, Pmu& then) {
  for (const Register& entry : now.registers().all()) {
    if (entry.write_only) continue;
    const FaultOr<u64> mine = now.rdmsr(entry.address), old = then.rdmsr(entry.address);
    if (!same(mine, old))
      return fmt::format("{} is {}, in the snapshot {}", entry.name(), show(mine), show(old));
  }
  return {};
}

std::string memory_difference(Pmu& now, Pmu& then, const Regions& regions) {
  for (const auto& [address, bytes] : regions) {
    const std::span<const std::byte> mine = now.memory(address, bytes), old = then.memory(address, bytes);
    const auto [here, there] = std::ranges::mismatch(mine, old);
    if (here != mine.end())
      return fmt::format("the byte at {:#x} is {:#x}, in the snapshot {:#x}",
                         address + static_cast<u64>(here - mine.begin()), std::to_integer<unsigned>(*here),
                         std::to_integer<unsigned>(*there));
  }
  return {};
}

// Of copies, since a Pmu lends out its memory to those alone who may change it, and tells its observer of
// reads that fault.
std::string difference(const pmusim_cpu& cpu, const pmusim_snapshot& snapshot) {
  Pmu now = cpu.pmu(), then = snapshot.pmu;
  if (now.model().name != then.model().name)
    return fmt::format("the processor is a {}, in the snapshot a {}", now.model().name, then.model().name);
  if (now.now() != then.now())
    return fmt::format("the cycle is {}, in the snapshot {}", now.now(), then.now());
  if (cpu.regions() != snapshot.regions) return "other memory is mapped than in the snapshot";
  if (std::string found = register_difference(now, then); !found.empty()) return found;
  if (std::string found = memory_difference(now, then, cpu.regions()); !found.empty()) return found;
  if (!(now.extended_state() == then.extended_state()))
    return "the extended registers differ from those in the snapshot";
  if (now.state_hash() != then.state_hash())
    return "what is under way differs from the snapshot: a PMI, an assist, or state that no register shows";
  return {};
}

void copy_sentence(const std::string& sentence, char* to, std::size_t bytes) {
  if (to == nullptr || bytes == 0) return;
  const std::size_t length = std::min(sentence.size(), bytes - 1);
  std::copy_n(sentence.begin(), length, to);
  to[length] = '\0';
}

}  // namespace
}  // namespace pmusim::capi

pmusim_snapshot* pmusim_snapshot_take(const pmusim_cpu* cpu) {
  return guarded<pmusim_snapshot*>("pmusim_snapshot_take", nullptr, [&] {
    if (require(cpu, "cpu").in_callback())
      throw Misuse("called from a callback of the processor, which could not go on from there");
    return std::make_unique<pmusim_snapshot>(cpu->snapshot()).release();
  });
}

void pmusim_snapshot_destroy(pmusim_snapshot* snapshot) { delete snapshot; }

int pmusim_restore(pmusim_cpu* cpu, const pmusim_snapshot* snapshot) {
  return guarded("pmusim_restore", [&] {
    const pmusim_snapshot& from = require(snapshot, "snapshot");
    if (require(cpu, "cpu").in_callback()) throw Misuse("called from a callback of the processor");
    if (cpu->pmu().model().name != from.pmu.model().name)
      throw Misuse(fmt::format("the snapshot is of a {}, the processor a {}", from.pmu.model().name,
                               cpu->pmu().model().name));
    cpu->restore(from);
    return PMUSIM_OK;
  });
}

int pmusim_compare(const pmusim_cpu* cpu, const pmusim_snapshot* snapshot, int* same, char* difference,
                   size_t bytes) {
  return guarded("pmusim_compare", [&] {
    int& out = require(same, "same");
    const std::string found = capi::difference(require(cpu, "cpu"), require(snapshot, "snapshot"));
    out = found.empty() ? 1 : 0;
    capi::copy_sentence(found, difference, bytes);
    return PMUSIM_OK;
  });
}
