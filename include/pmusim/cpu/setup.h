// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_SETUP_H
#define PMUSIM_CPU_SETUP_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

/// What a program is replayed on beside its model: how much of a core there is, what that holds at first, and
/// how many CPUs.
namespace pmusim {

/// How much of a core a replay has (docs/core-model.md). The less there is, the faster it goes, and the fewer
/// events it can count.
enum class CoreLevel : u8 {
  interval,  ///< the whole model: pipeline, caches, predictors
  sampled,   ///< the same in windows of the program; between them caches and predictors alone
  memory,    ///< caches and predictors of the whole model, and time by blocks; no account of lost slots
  simple,    ///< latencies within a block and branch predictors; no caches, no account of lost slots
  flat,      ///< an instruction in every cycle, every branch predicted
};

/// "interval", "sampled", "memory", "simple", "flat": in the order above.
std::span<const std::string_view> core_level_names();
std::string_view name_of(CoreLevel level);
/// Errors: any other name.
[[nodiscard]] Result<CoreLevel, Error> find_core_level(std::string_view name);

/// The windows of core `sampled`, in instructions: of every `every` of them, `warm` pass through the whole
/// core without being counted, and `detail` behind them are counted. A block belongs to where it begins.
struct CoreWindows {
  u64 detail = 1000, warm = 1000, every = 1'000'000;
  u64 first = 0;  ///< before the first `warm`
  friend bool operator==(const CoreWindows&, const CoreWindows&) = default;
};

/// A level and, of `sampled`, its windows.
struct CoreChoice {
  CoreLevel level = CoreLevel::interval;
  CoreWindows windows;
  friend bool operator==(const CoreChoice&, const CoreChoice&) = default;
};

/// "sampled:1000,1000,1000000,0"; of other levels their name.
std::string text_of(const CoreChoice& choice);
/// A name of find_core_level(), or "sampled:DETAIL,WARM,EVERY" or "sampled:DETAIL,WARM,EVERY,FIRST".
/// Errors: any other name; numbers that make no windows (see check_windows()).
[[nodiscard]] Result<CoreChoice, Error> parse_core(std::string_view text);
/// Errors: no instruction that is counted, or windows longer than what they stand for.
[[nodiscard]] Result<Done, Error> check_windows(const CoreWindows& windows);

/// Whether a core of this level looks at what is in caches, for which it wants addresses.
constexpr bool has_caches(CoreLevel level) {
  return level == CoreLevel::interval || level == CoreLevel::sampled || level == CoreLevel::memory;
}
/// Whether what is counted and sampled has passed through the whole model.
constexpr bool is_whole(CoreLevel level) {
  return level == CoreLevel::interval || level == CoreLevel::sampled;
}

/// Whether a core of this level knows how often an event occurs, counted with these bits of an event select
/// (CMASK, INV, EDGE) and this value of its extra register. A counter of what it does not know stays at 0, as
/// a rule.
bool is_known_at(CoreLevel core, const EventDefinition& event, u64 event_select, u64 extra);

/// Whether an event occurs as often however long everything takes: its count follows from the order of the
/// program alone, by way of predictors and of what fetches and accesses find in L1I and in TLBs. Caches of
/// data are not among it, as whether a prefetch is dropped is a question of time.
bool follows_from_order(const EventDefinition& event, u64 event_select, u64 extra);

/// Whether the event counts what cycles were lost to, or what fell into the same cycle.
bool needs_modelled_time(const EventDefinition& event, u64 event_select, u64 extra);

/// What caches, TLBs and predictors hold when a replay begins (docs/core-model.md).
enum class StartState : u8 {
  cold,  ///< nothing
  warm,  ///< what a run of the same program has left there
};

std::string_view name_of(StartState start);
/// "cold" or "warm". Errors: any other name.
[[nodiscard]] Result<StartState, Error> find_start_state(std::string_view name);

/// A logical processor: where it sits, and which kind of core it is of. Dies and cores are numbered within
/// their package, threads within their core.
struct LogicalCpu {
  u32 package = 0, die = 0, core = 0, thread = 0;
  u32 type = 0;  ///< index into Topology::types
  bool online = true;
  friend bool operator==(const LogicalCpu&, const LogicalCpu&) = default;
};

/// A machine of many CPUs as data, by their numbers, as its kernel has them:
/// @code
/// const Topology machine = parse_machine("alderlake:8p8e").value();
/// for (const LogicalCpu& cpu : machine.cpus) std::cout << machine.types[cpu.type].title << '\n';
/// @endcode
struct Topology {
  static constexpr u32 most_cpus = 256;

  std::string name;             ///< what it was made from: "alderlake:8p8e"
  std::vector<CpuModel> types;  ///< one, or of a hybrid machine two: the P cores' first
  std::vector<LogicalCpu> cpus;

  bool hybrid() const { return types.size() > 1; }
  /// Whether a core has two threads, online or not: so its firmware has started it.
  bool has_smt() const;
  const CpuModel& model(u32 cpu) const { return types[cpus[cpu].type]; }
  /// CPUs of one kind of core, in increasing order.
  std::vector<u32> cpus_of(u32 type) const;
  /// CPUs that are online, in increasing order.
  std::vector<u32> online() const;
  /// The first CPU of the same core: itself, if its thread is the first.
  u32 first_of_core(u32 cpu) const;
  /// The first CPU of the same module: as many cores of one kind, in the order of their numbers within a die,
  /// as have an L2 together.
  u32 first_of_module(u32 cpu) const;
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
