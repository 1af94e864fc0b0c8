// SPDX-License-Identifier: MIT
#ifndef PMUSIM_EXPLORE_EXPLORE_H
#define PMUSIM_EXPLORE_EXPLORE_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/pmu/pmu.h"

/// Every PMI: a driver's code is run once for each place in it at which a PMI can come, and for each pair of
/// places, and so on; the first that breaks something is given as a seed that repeats it.
///
/// @code
/// using namespace pmusim;
/// Pmu start(*find_cpu_model("skylake"));
/// const auto report = explore::explore(start, [](explore::Cpu& cpu) {
///   // build the driver on `cpu`, which is a Bus, and make it the PMI handler of cpu.pmu(); then
///   cpu.open();
///   static_cast<void>(cpu.wrmsr(msr::PERF_GLOBAL_CTRL, 1));  // the driver's code that PMIs may interrupt
///   cpu.close();
///   if (cpu.pmu().rdmsr(msr::PERF_GLOBAL_CTRL).value() != 1) cpu.fail("the driver is not enabled");
/// });
/// if (report.ok() && report->finding) std::cout << explore::text_of(*report->finding);
/// @endcode
///
/// docs/explore.md has more.
namespace pmusim::explore {

/// Why a PMI comes.
enum class Cause : u8 {
  /// Every counter that runs, interrupts or samples, and stands in the upper half of its range wraps at once.
  /// (Others have years to go: one that has just wrapped does not again before it got a new value.)
  overflow,
  /// For no reason that the registers tell: another user of the interrupt, or one that came too late.
  spurious,
};

/// One PMI of a run.
struct PlacedPmi {
  Cause cause = Cause::overflow;
  u32 boundary = 0;  ///< at which its cause arises: the n-th that the run reaches, from 0
  u32 delay = 0;     ///< boundaries between that and its arrival
  friend bool operator==(const PlacedPmi&, const PlacedPmi&) = default;
};
/// Those of one run, in the order in which they come.
using Placement = std::vector<PlacedPmi>;

/// An access of the code under test.
struct Operation {
  enum class Kind : u8 {
    rdmsr,
    wrmsr,
    rdpmc,
    rdtsc,
    cpuid,
    read_memory,
    write_memory,
    map_memory,
    view_memory,
    xsaves,
    xrstors,
    xgetbv,
    xsetbv,
    retirement
  };
  Kind kind = Kind::rdmsr;
  u64 address = 0;  ///< MSR, ECX, linear address; IP of a retirement
  u64 value = 0;    ///< written
};

/// The CPU of one run: the Bus of the driver under test, which knows where a PMI could come.
///
/// Between open() and close(), the borders before and after each operation are boundaries at which a PMI may
/// be placed, and those that boundary() names. PMIs are taken at boundaries only, in ring 0; the handler is
/// that of pmu(), and its own operations are boundaries too. No emulated time passes.
///
/// Runs that come to equal states go on alike, and are not branched off twice: where the scenario says what
/// the state of its driver is (set_driver_state). Part of a state are also the operations that the
/// interrupted code has executed, with their results, and those of the handler if it runs.
class Cpu final : public Bus {
 public:
  /// Which PMIs come where, and what the search wants to know of the run.
  struct Plan {
    Placement pmis;
    enum class Notes : u8 { none, states, operations } notes = Notes::none;
    std::vector<Cause> causes{};  ///< to look for at every boundary, with Notes::states
  };
  /// A boundary that was reached.
  struct Reached {
    u64 state = 0;       ///< equal for equal states
    u32 possible = 0;    ///< causes that would do anything here, as a mask by Cause
    bool known = false;  ///< the state is all there is to know
  };

  /// On a Pmu that is where the run begins.
  Cpu(Pmu& pmu, Plan plan);

  Pmu& pmu() { return pmu_; }
  void open();
  void close();
  /// A PMI may come here: between two stores of a driver, say.
  void boundary();
  /// The same in front of an instruction of the machine's (Trap), whose registers are a part of the state
  /// then: `code` as the handler sees it.
  void boundary(const Registers& code);
  /// An instruction of any code retires, with a boundary before and after.
  void retire(const Retirement& retirement);

  /// What an assertion says that does not hold. The first counts.
  void fail(std::string_view what);
  bool failed() const { return !failure_.empty(); }

  /// Adds all that the driver keeps in memory, whenever it is called during the window. Not seen are values
  /// that the code holds in local variables over a boundary and has not got by an operation.
  void set_driver_state(std::function<void(StateHash&)> add_to) { driver_state_ = std::move(add_to); }

  FaultOr<u64> rdmsr(u32 address) override;
  [[nodiscard]] Fault wrmsr(u32 address, u64 value) override;
  FaultOr<u64> rdpmc(u32 ecx) override;
  CpuidResult cpuid(u32 leaf, u32 subleaf) override;
  u64 rdtsc() override;
  [[nodiscard]] Fault read_memory(u64 address, std::span<std::byte> out) override;
  [[nodiscard]] Fault write_memory(u64 address, std::span<const std::byte> in) override;
  [[nodiscard]] bool map_memory(u64 address, u64 bytes) override;
  [[nodiscard]] bool map_memory_at(u64 address, u64 physical, u64 bytes) override;
  std::span<std::byte> memory(u64 address, u64 bytes) override;
  [[nodiscard]] Fault xsaves(u64 address, u64 features) override;
  [[nodiscard]] Fault xrstors(u64 address, u64 features) override;
  FaultOr<u64> xgetbv(u32 ecx) override;
  [[nodiscard]] Fault xsetbv(u32 ecx, u64 value) override;

  // What the search asks.
  const std::string& failure() const { return failure_; }
  u32 boundaries() const { return boundaries_; }
  /// The operations that the interrupted code executed, and their results, as a number.
  u64 history() const { return history_.value(); }
  /// PMIs of the plan whose boundary was reached.
  std::size_t placed() const { return next_; }
  /// With Notes::states: the boundaries after the last PMI of the plan.
  const std::vector<Reached>& reached() const { return reached_; }
  /// With Notes::operations: where each PMI of the plan came, as a sentence.
  const std::vector<std::string>& where() const { return where_; }

 private:
  template <class Execute>
  auto operation(const Operation& operation, Execute execute);
  void remember(const Operation& operation, u64 result);
  StateHash& present_history();
  void arrive(u32 here);
  bool take(u32 here);
  Reached look();
  bool would_do(Cause cause);
  u64 counters_to_wrap();
  bool is_near_its_end(unsigned counter);
  Retirement code_at(u32 here) const;
  InterruptFrame frame_at(u32 here) const;
  std::string place() const;

  Pmu& pmu_;
  Plan plan_;
  std::size_t next_ = 0;  // PMI of the plan
  u32 delay_ = 0;         // boundaries until the pending one may be taken
  u32 boundaries_ = 0;
  bool open_ = false;
  StateHash history_, handler_history_;
  std::function<void(StateHash&)> driver_state_;
  std::string failure_;
  std::vector<Reached> reached_;
  std::vector<std::string> where_;
  std::optional<Registers> code_;  // at this boundary, if it is the machine's
  Operation last_{};
  bool has_last_ = false;
};

/// "wrmsr 38f = 1"
std::string text_of(const Operation& operation);

/// Code under test: called for each placement with a CPU of its own, a copy of the one to start from. It must
/// do the same whenever nothing else comes in between.
using Scenario = std::function<void(Cpu&)>;

/// What to try.
struct Options {
  unsigned most_pmis = 1;  ///< in one run
  std::vector<Cause> causes = {Cause::overflow};
  /// Boundaries that a PMI may be late by: all from 0 to this.
  u32 greatest_delay = 0;
  /// No more runs than this.
  u64 most_runs = 1'000'000;
};

/// A placement that breaks something.
struct Finding {
  std::string what;                ///< as the scenario reported it
  std::string seed;                ///< for replay(): "overflow@17,spurious@40+2"
  std::vector<std::string> where;  ///< a line for each PMI of the placement
};

/// What a search came to.
struct Report {
  u64 runs = 0;
  u64 boundaries = 0;    ///< places for a PMI in the run that has none
  u64 merged = 0;        ///< places that were not tried again, because an equal state had been there before
  bool complete = true;  ///< false: `most_runs` was not enough
  std::optional<Finding> finding;  ///< the first, with the fewest PMIs
};

/// Runs `scenario` once for every placement. Errors: a scenario that does not repeat itself.
Result<Report, Error> explore(const Pmu& start, const Scenario& scenario, const Options& options = {});

/// Runs the one placement that `seed` names; "" is the one without PMIs. Errors: a seed that is none, or that
/// names a boundary which this scenario does not reach.
Result<Report, Error> replay(const Pmu& start, const Scenario& scenario, std::string_view seed);

/// The same on a Pmu of the caller's: each run begins with it as it is now, and so it is left. For scenarios
/// that have it already.
Result<Report, Error> explore_on(Pmu& pmu, const Scenario& scenario, const Options& options = {});
Result<Report, Error> replay_on(Pmu& pmu, const Scenario& scenario, std::string_view seed);

/// A failure as text: what broke, the seed, and where the PMIs came.
std::string text_of(const Finding& finding);

/// A placement as a seed, and back. Errors say what is wrong and at which byte.
std::string seed_of(const Placement& placement);
Result<Placement, Error> parse_seed(std::string_view seed);

}  // namespace pmusim::explore

#endif
