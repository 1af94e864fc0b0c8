// SPDX-License-Identifier: MIT
#include "session/machine_part.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmusim {

namespace {

std::vector<u32> first_cpus(const Topology& machine) {
  std::vector<u32> cores;
  for (u32 cpu = 0; cpu < machine.cpus.size(); ++cpu)
    if (machine.first_of_core(cpu) == cpu) cores.push_back(cpu);
  return cores;
}

PartOfMachine part_of(const Topology& machine, std::span<const u32> cores) {
  PartOfMachine result{.machine = {.name = machine.name, .types = machine.types, .cpus = {}}, .part = {}};
  for (u32 cpu = 0; cpu < machine.cpus.size(); ++cpu) {
    if (std::ranges::find(cores, machine.first_of_core(cpu)) == cores.end()) continue;
    result.machine.cpus.push_back(machine.cpus[cpu]);
    result.part.cpus.push_back(cpu);
    result.part.places.push_back({machine.cpus[cpu].package, machine.first_of_module(cpu)});
  }
  return result;
}

bool have_a_package_in_common(const MachinePart& a, const MachinePart& b) {
  return std::ranges::any_of(a.places, [&](const CorePlace& place) {
    return std::ranges::find(b.places, place.package, &CorePlace::package) != b.places.end();
  });
}

}  // namespace

Result<std::vector<PartOfMachine>, Error> divide(const Topology& machine, std::size_t programs,
                                                 StartState start) {
  if (machine.hybrid())
    return Failure(Error(
        fmt::format("{}: has two kinds of core, and programs side by side need one kind", machine.name)));
  const std::vector<u32> cores = first_cpus(machine);
  if (programs > cores.size())
    return Failure(Error(fmt::format("{}: has {} cores, and {} programs side by side need one each",
                                     machine.name, cores.size(), programs)));
  std::vector<PartOfMachine> parts;
  for (std::size_t n = 0; n < programs; ++n) {
    const std::size_t begin = n * cores.size() / programs, end = (n + 1) * cores.size() / programs;
    PartOfMachine& next = parts.emplace_back(part_of(machine, std::span(cores).subspan(begin, end - begin)));
    next.part.program = static_cast<u32>(n);
    // Cores of a package are neighbours, but for files that number them otherwise.
    for (std::size_t before = 0; before < n; ++before) {
      if (!have_a_package_in_common(parts[before].part, next.part)) continue;
      const auto other = next.part.caches;
      next.part.caches = parts[before].part.caches;
      for (PartOfMachine& part : parts)
        if (other != nullptr && part.part.caches == other) part.part.caches = next.part.caches;
    }
    if (next.part.caches == nullptr) next.part.caches = std::make_shared<CommonCaches>(start);
    if (next.machine.online().empty())
      return Failure(Error(fmt::format("{}: of the cores for program {} of {} no CPU is online", machine.name,
                                       n + 1, programs)));
  }
  return parts;
}

}  // namespace pmusim
