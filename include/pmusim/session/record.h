// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_RECORD_H
#define PMUSIM_SESSION_RECORD_H

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/session.h"

/// `pmusim record` as a function: a replay whose samples go to a perf.data file that perf reads.
/// @code
/// auto session = Session::open("program.pmutrace", {.model = *find_cpu_model("icelake")});
/// RecordOptions options{.events = *events::parse_events("cycles:upp", session->model())};
/// options.branch_sample_type = perf::branch::ANY;
/// const auto summary = record(*session, options);
/// if (summary) std::cout << summary->samples << " samples\n";
/// @endcode
namespace pmusim {

namespace trace {
enum class RecordedRegisters : u8;
}

/// Periods that follow how often events occur: some 2000 samples each time a program runs twice as long.
struct GrowingPeriods {
  u64 after_instructions = 0;       ///< and not before
  std::vector<std::size_t> events;  ///< whose; numbered through all groups
};

/// What `pmusim record` is asked for, in perf record's terms.
struct RecordOptions {
  std::vector<events::EventGroup> events;
  /// -c / -F; an event's own period= or freq= wins. Neither: 4000 Hz, as perf.
  std::optional<u64> period, frequency;
  std::optional<GrowingPeriods> growing;
  u64 branch_sample_type = 0;   ///< -b, -j; 0 none
  bool call_graph_lbr = false;  ///< --call-graph lbr
  /// --call-graph trace: of a session with SessionOptions::call_stacks.
  bool call_graph_trace = false;
  bool addresses = false;  ///< -d: ADDR and DATA_SRC
  bool weight = false;     ///< -W
  bool physical_addresses = false;
  u64 interrupt_registers = 0;                      ///< --intr-regs: mask of perf register numbers
  u64 user_registers = 0;                           ///< --user-regs
  events::SimdRegisters interrupt_simd, user_simd;  ///< --intr-simd, --user-simd
  bool data_page_sizes = false, code_page_sizes = false;
  bool transactions = false;
  /// Events that do not say otherwise sample ring 0 too. record() says so of traces that have it.
  bool kernel = false;
  bool raw = false;                ///< -R: the registers of ibs_fetch and ibs_op as they are
  bool running_times = false;      ///< --running-time: enabled and running times where counts are sampled
  bool identifiers = false;        ///< --sample-identifier: ids even where there is one event only
  bool switches = false;           ///< --switch-events
  bool mapping_build_ids = false;  ///< --buildid-mmap: build ids in MMAP2 records instead of inodes
  std::optional<u32> clock;        ///< -k: a CLOCK_* number; what it shows is perf time
  std::vector<TimeSpan> measured;  ///< -D: when events are on, to the tick of 1 ms. Empty: always
  /// -p, -t: whose samples the file gets. Both empty: everybody's. The others' run is sampled all the same.
  std::vector<u32> processes, threads;
  /// -a, -C, of a session with a machine: everything on these CPUs is sampled. Nothing: the program is,
  /// wherever it runs.
  std::optional<std::vector<u32>> cpus;
  bool cgroups = false;              ///< --all-cgroups: samples have their task's, and records name them
  std::size_t ring_pages = 128;      ///< of each CPU's buffer
  std::string output = "perf.data";  ///< "-": standard output, in the pipe form
  /// Of perf_event_attr in the file, for readers older than it. SIMD sampling makes it 176 at least.
  u32 attr_bytes = 128;
  std::optional<int> compression_level;
  u64 max_record_bytes = ~u64{0};         ///< --max-size: stop when records take more, uncompressed
  bool build_ids = true;                  ///< a build-id table in the file
  std::vector<std::string> command_line;  ///< for the file's header
};

/// What went into the file.
struct RecordSummary {
  u64 samples = 0;
  u64 lost_records = 0;  ///< dropped for want of buffer room, counted in LOST records
  u64 lost_samples = 0;  ///< dropped by the driver, counted in LOST_SAMPLES records (PEBS collisions)
  u64 file_bytes = 0;
  u64 elapsed_ns = 0;    ///< perf time
  bool stopped = false;  ///< before the end of the trace
  driver::DriverStatistics driver;
};

/// Opens the events on the session, replays the trace and writes perf.data. Call it once per session.
///
/// A file that has the output's name becomes NAME.old, as with perf. A session that was stopped leaves a
/// whole file of what was replayed.
///
/// Errors: an event that the kernel would refuse (with its sentence); a damaged trace; the file cannot be
/// written. After an error the file that had the output's name is still there, and no new one.
Result<RecordSummary, Error> record(Session& session, const RecordOptions& options);

/// What a trace has to hold for the registers that are to be sampled.
trace::RecordedRegisters registers_needed(const RecordOptions& options);

/// Whether samples show registers. Those that need none in the trace, the instruction pointer alone, do as
/// well: what there is of the others shows in them.
bool samples_registers(const RecordOptions& options);

/// Where an event stands in its group.
enum class GroupRole : u8 { alone, leader, member };

/// The attribute that `record` opens for one event: the parsed one with sample type, flags and period filled
/// in. Members that are read with their leader's samples (modifier S) do not sample unless they have a period
/// of their own.
perf::Attr record_attr(const events::ParsedEvent& event, GroupRole role, const RecordOptions& options);

/// A sample with the event that it is of.
struct Sample {
  const perfdata::EventDescription& event;  ///< as opened; valid as long as the Samples
  perfdata::SampleRecord sample;            ///< fields that were not asked for have perf's defaults
};

/// The samples of a replay, in the order in which they were written. They are kept as the kernel wrote them
/// (some 50 bytes each, 24 more for each branch) and decoded when they are read.
class Samples {
 public:
  class State;
  explicit Samples(std::unique_ptr<const State> state);
  Samples(Samples&&) noexcept;
  Samples& operator=(Samples&&) noexcept;
  ~Samples();

  std::size_t size() const;
  /// `index` below size().
  Sample operator[](std::size_t index) const;
  /// Dropped by the driver (PEBS collisions) or for want of room in the ring.
  u64 lost() const;

  /// Over samples by value, in their order.
  class Iterator {
   public:
    Iterator(const Samples& samples, std::size_t index) : samples_(&samples), index_(index) {}
    Sample operator*() const { return (*samples_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Samples* samples_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  std::unique_ptr<const State> state_;
};

/// `pmusim record` without a file: a replay whose samples the caller gets, taken apart.
/// @code
/// auto session = Session::open("program.pmutrace", {.model = *find_cpu_model("icelake")});
/// RecordOptions options;
/// options.events = *events::parse_events("branch-misses:upp", session->model());
/// options.period = 1000;
/// options.branch_sample_type = perf::branch::ANY;
/// const auto samples = sample(*session, options);
/// for (const auto& [event, sample] : *samples)
///   std::cout << event.name << " at " << sample.ip << ", " << sample.branches.size() << " branches\n";
/// @endcode
///
/// Opens the events on the session, replays the trace and keeps the samples. Call it once per session. What
/// `options` say of a file (its name, size and compression, build ids) does not matter here.
///
/// Errors: an event that the kernel would refuse (with its sentence); a damaged trace.
Result<Samples, Error> sample(Session& session, const RecordOptions& options);

}  // namespace pmusim

#endif
