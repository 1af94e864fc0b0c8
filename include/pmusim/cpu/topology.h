// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_TOPOLOGY_H
#define PMUSIM_CPU_TOPOLOGY_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"

/// A machine of many CPUs as data:
/// @code
/// const Topology machine = parse_machine("alderlake:8p8e").value();
/// for (const LogicalCpu& cpu : machine.cpus) std::cout << machine.types[cpu.type].title << '\n';
/// @endcode
namespace pmusim {

/// A logical processor: where it sits, and which kind of core it is of. Dies and cores are numbered within
/// their package, threads within their core.
struct LogicalCpu {
  u32 package = 0, die = 0, core = 0, thread = 0;
  u32 type = 0;  ///< index into Topology::types
  bool online = true;
  friend bool operator==(const LogicalCpu&, const LogicalCpu&) = default;
};

/// The CPUs of a machine by their numbers, as its kernel has them.
struct Topology {
  static constexpr u32 most_cpus = 256;

  std::string name;             ///< what it was made from: "alderlake:8p8e"
  std::vector<CpuModel> types;  ///< one, or of a hybrid machine two: the P cores' first
  std::vector<LogicalCpu> cpus;

  bool hybrid() const { return types.size() > 1; }
  const CpuModel& model(u32 cpu) const { return types[cpus[cpu].type]; }
  /// CPUs of one kind of core, in increasing order.
  std::vector<u32> cpus_of(u32 type) const;
  /// CPUs that are online, in increasing order.
  std::vector<u32> online() const;
  /// The first CPU of the same core: itself, if its thread is the first.
  u32 first_of_core(u32 cpu) const;
};

/// A machine from its short form, MODEL:COUNTS.
///
/// - "icelake:4c8t": four cores of two threads each. CPU n and CPU n + 4 are of one core, as Linux numbers
///   them where all cores are alike
/// - "sapphirerapids:2s16c": sixteen cores in two packages, a thread each
/// - "alderlake:8p8e", "alderlake:8p16t8e": a hybrid product's P cores, of one or two threads, and its E
///   cores, which have one. Threads of a core are neighbours, and E cores come last
///
/// Errors, in a sentence: an unknown model; counts that cannot be read, are 0, make no machine together, or
/// are more than most_cpus; P and E cores of a product that has one kind.
[[nodiscard]] Result<Topology, Error> parse_machine(std::string_view text);

/// A machine from a text with a line for each CPU, in the order of their numbers:
///
///     # two cores, the second CPU of the second is offline
///     cpu 0 core 0 thread 0 model skylake
///     cpu 1 core 0 thread 1 model skylake
///     cpu 2 core 1 thread 0 model skylake
///     cpu 3 core 1 thread 1 model skylake offline
///
/// `package`, `die`, `core` and `thread` are 0 where they are left out. `name` is the machine's, and stands
/// before what is said of a line. Errors as parse_machine(), and: a word that is none of these; a CPU out of
/// turn; two CPUs in one place; a core of two models; models that are no product together; none online.
[[nodiscard]] Result<Topology, Error> read_machine(std::string_view text, std::string name);

/// A list of CPUs as perf's -C takes it, "0,2-3": in increasing order, each once. Errors: it cannot be read;
/// a CPU that the machine has not.
[[nodiscard]] Result<std::vector<u32>, Error> parse_cpu_list(std::string_view text, const Topology& machine);

/// The same for any machine of `cpus` CPUs.
[[nodiscard]] Result<std::vector<u32>, Error> parse_cpu_list(std::string_view text, u32 cpus);

/// The same the other way round.
std::string cpu_list(const std::vector<u32>& cpus);

}  // namespace pmusim

#endif
