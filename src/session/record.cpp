// SPDX-License-Identifier: MIT
#include "pmusim/session/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "events/sampling_pmus.h"
#include "perf/records.h"
#include "perf/ring_buffer.h"
#include "perfdata/writer.h"
#include "pmusim/events/parser.h"
#include "pmusim/perf/core.h"
#include "pmusim/trace/trace.h"
#include "session/event_tasks.h"
#include "session/file_options.h"
#include "session/file_sink.h"
#include "session/first_branch.h"
#include "session/growing_periods.h"
#include "session/level_filter.h"
#include "session/old_file.h"
#include "session/record_sink.h"
#include "session/task_filter.h"
#include "session/time_spans.h"
#include "session/window_periods.h"

namespace pmusim {

namespace {

constexpr u64 default_frequency = 4000;  // perf record's

std::size_t event_count(const RecordOptions& options) {
  std::size_t count = 0;
  for (const events::EventGroup& group : options.events) count += group.events.size();
  return count;
}

u64 sample_type(const RecordOptions& options) {
  using namespace perf::sample;
  u64 type = IP | TID | TIME | CPU | PERIOD;
  if (event_count(options) > 1 || options.identifiers) type |= IDENTIFIER;
  if (options.addresses) type |= ADDR | DATA_SRC;
  if (options.weight) type |= WEIGHT_STRUCT;
  if (options.physical_addresses) type |= PHYS_ADDR;
  if (options.interrupt_registers != 0 || options.interrupt_simd.any()) type |= REGS_INTR;
  if (options.user_registers != 0 || options.user_simd.any()) type |= REGS_USER;
  if (options.data_page_sizes) type |= ADDR | DATA_PAGE_SIZE;
  if (options.code_page_sizes) type |= CODE_PAGE_SIZE;
  if (options.transactions) type |= TRANSACTION;
  if (options.raw) type |= RAW;
  if (options.cgroups) type |= CGROUP;
  if (options.branch_sample_type != 0) type |= BRANCH_STACK;
  if (options.call_graph_lbr) type |= BRANCH_STACK | CALLCHAIN;
  if (options.call_graph_trace) type |= CALLCHAIN;
  return type;
}

void set_period(perf::Attr& attr, const RecordOptions& options) {
  if (attr.sample_period != 0) return;
  attr.freq = options.period ? 0 : 1;
  attr.sample_period = options.period ? *options.period : options.frequency.value_or(default_frequency);
}

/// Empties a ring into the sink and keeps count of what passes.
class Drain {
 public:
  Drain(perf::RingBuffer& ring, RecordSink& sink, const RecordOptions& options, const WindowPeriods& periods)
      : ring_(ring),
        reader_(ring),
        sink_(sink),
        filter_(options.processes, options.threads, sample_type(options)),
        first_branch_(record_attr(options.events.front().events.front(), GroupRole::alone, options)),
        periods_(periods),
        sample_type_(sample_type(options)) {
    ring_.on_wakeup([this] { (*this)(); });
  }
  ~Drain() { ring_.on_wakeup({}); }
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  void operator()() {
    bytes_.clear();
    reader_.drain(
        [&](std::span<const std::byte> piece) { bytes_.insert(bytes_.end(), piece.begin(), piece.end()); });
    filter_.apply(bytes_);
    first_branch_.apply(bytes_);
    periods_.apply(bytes_, sample_type_);
    count_records();
    keep(sink_.write(bytes_));
    has_written_ = has_written_ || !bytes_.empty();
  }
  /// Whether records were written since it was asked last.
  bool has_written() { return std::exchange(has_written_, false); }
  const std::optional<Error>& error() const { return error_; }
  const RecordSummary& summary() const { return summary_; }

 private:
  void count_records() {
    perf::RecordHeader header;
    for (std::size_t at = 0; at + sizeof header <= bytes_.size(); at += header.size) {
      std::memcpy(&header, &bytes_[at], sizeof header);
      const auto type = static_cast<perf::RecordType>(header.type);
      if (type == perf::RecordType::sample) ++summary_.samples;
      if (type == perf::RecordType::lost) summary_.lost_records += word(at + 16);
      if (type == perf::RecordType::lost_samples) summary_.lost_samples += word(at + 8);
    }
  }
  void keep(const Result<Done, Error>& outcome) {
    if (!outcome.ok() && !error_) error_ = outcome.error();
  }
  u64 word(std::size_t at) const {
    u64 value = 0;
    std::memcpy(&value, &bytes_[at], sizeof value);
    return value;
  }

  perf::RingBuffer& ring_;
  perf::RingReader reader_;
  RecordSink& sink_;
  TaskFilter filter_;
  FirstBranch first_branch_;
  WindowPeriods periods_;
  u64 sample_type_;
  std::vector<std::byte> bytes_;
  bool has_written_ = false;
  std::optional<Error> error_;
  RecordSummary summary_;
};

/// The rings of all CPUs.
class Drains {
 public:
  Drains(const std::vector<perf::RingBuffer*>& rings, RecordSink& sink, const RecordOptions& options,
         const WindowPeriods& periods)
      : sink_(sink) {
    for (perf::RingBuffer* const ring : rings)
      all_.push_back(std::make_unique<Drain>(*ring, sink, options, periods));
  }
  void empty() {
    for (const auto& drain : all_) (*drain)();
  }
  /// Only when nobody holds back samples: whatever comes later is younger than all that came so far.
  void end_round() {
    bool written = false;
    for (const auto& drain : all_) written = drain->has_written() || written;
    if (!written) return;
    empty();
    for (const auto& drain : all_) static_cast<void>(drain->has_written());
    keep(sink_.end_round());
  }
  void keep(const Result<Done, Error>& outcome) {
    if (!outcome.ok() && !error_) error_ = outcome.error();
  }
  std::optional<Error> error() const {
    for (const auto& drain : all_)
      if (drain->error()) return drain->error();
    return error_;
  }
  RecordSummary summary() const {
    RecordSummary sum;
    for (const auto& drain : all_) {
      sum.samples += drain->summary().samples;
      sum.lost_records += drain->summary().lost_records;
      sum.lost_samples += drain->summary().lost_samples;
    }
    return sum;
  }

 private:
  RecordSink& sink_;
  std::vector<std::unique_ptr<Drain>> all_;
  std::optional<Error> error_;
};

/// Switches all events on and off as time passes.
class MeasuredTime {
 public:
  MeasuredTime(Session& session, const std::vector<TimeSpan>& spans) : session_(session), spans_(spans) {
    pass();
  }
  void pass() {
    if (is_measured(spans_, session_.now()) == on_) return;
    on_ = !on_;
    for (perf::Event* const event : session_.perf().events())
      on_ ? session_.perf().enable(*event) : session_.perf().disable(*event);
  }

 private:
  Session& session_;
  const std::vector<TimeSpan>& spans_;
  bool on_ = true;
};

Error refusal(const events::ParsedEvent& event, const KernelError& error) {
  return Error(fmt::format("event '{}': {}", event.name, error.message));
}

GroupRole role_of(const events::ParsedEvent& event, const events::EventGroup& group) {
  if (group.events.size() == 1) return GroupRole::alone;
  return &event == &group.events.front() ? GroupRole::leader : GroupRole::member;
}

void ask_for_side_band(perf::Attr& attr, const RecordOptions& options) {
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
  attr.mmap_data = options.addresses || options.data_page_sizes ? 1 : 0;
  attr.build_id = options.mapping_build_ids ? 1 : 0;
  attr.context_switch = options.switches ? 1 : 0;
  attr.cgroup = options.cgroups ? 1 : 0;
}

/// Opens one event; where modifier P asked for it, with the highest precision that is not refused. The error
/// is the first one.
Result<perf::Event*, KernelError> open_event(Session& session, const events::ParsedEvent& parsed,
                                             perf::Attr attr, perf::Event* leader, CountedTasks sampled) {
  const Result<perf::Event*, KernelError> asked = session.monitor().open_event(attr, leader, sampled);
  if (asked.ok() || !parsed.precision_may_fall) return asked;
  while (attr.precise_ip > 0) {
    --attr.precise_ip;
    if (const auto opened = session.monitor().open_event(attr, leader, sampled); opened.ok()) return opened;
  }
  return asked;
}

/// What asks for raw data of events of which none has any is refused.
Result<Done, Error> check_raw(const CpuModel& model, const RecordOptions& options) {
  const auto has_raw = [&](const events::ParsedEvent& event) {
    return events::is_sampled_by_unit(model, event.attr);
  };
  const auto has_some = [&](const events::EventGroup& group) {
    return std::ranges::any_of(group.events, has_raw);
  };
  if (!options.raw || std::ranges::any_of(options.events, has_some)) return Done{};
  return Failure(Error(
      "raw samples: only instruction-based sampling has raw data (ibs_op//, ibs_fetch// of AMD's models); "
      "data addresses, weights and registers (-d, -W, --intr-regs) are what PEBS knows"));
}

/// Opens events with a ring for each CPU, and tells the sink about them.
///
/// Without a machine there is one ring, for everything on the one CPU. On a machine it is as perf does it: an
/// event is opened for the program on every CPU, or for everybody on those that are asked for, and all of a
/// CPU write to the ring of the first.
class Opening {
 public:
  Opening(Session& session, const RecordOptions& options, RecordSink& sink, const WindowPeriods& periods)
      : session_(session),
        options_(options),
        sink_(sink),
        periods_(periods),
        of_cgroups_(names_cgroups(options.events)) {}

  Result<Done, Error> open_all() {
    if (auto checked = check_cgroups(options_.events, session_, options_.cpus.has_value()); !checked.ok())
      return checked;
    for (const events::EventGroup& group : options_.events)
      if (Result<Done, Error> opened = open(group); !opened.ok()) return opened;
    if (leaves_cpus_out() || of_cgroups_)
      if (Result<Done, Error> tracked = track_tasks(); !tracked.ok()) return tracked;
    return name_cgroups();
  }
  /// In the order of the CPUs.
  std::vector<perf::RingBuffer*> rings() const {
    std::vector<perf::RingBuffer*> all;
    for (const auto& [cpu, first] : first_) all.push_back(first.ring);
    return all;
  }

 private:
  /// What was opened first on a CPU, and its ring.
  struct First {
    perf::Event* event;
    perf::RingBuffer* ring;
  };

  bool leaves_cpus_out() const {
    return session_.machine() != nullptr && first_.size() < session_.machine()->online().size();
  }

  /// Of events on CPUs everybody, of others the program, wherever it runs: on any CPU of the machine.
  std::vector<CountedTasks> sampled(const std::optional<std::vector<u32>>& cpus,
                                    const events::EventGroup& group) const {
    const Topology* const machine = session_.machine();
    const i32 pid = cpus || machine == nullptr ? -1 : static_cast<i32>(session_.first_thread());
    const std::vector<u32> all = cpus ? *cpus : machine == nullptr ? std::vector<u32>() : machine->online();
    return tasks_on(all, group, pid, session_, session_.monitor());
  }

  Result<Done, Error> open(const events::EventGroup& group) {
    const auto everybody = sampled(options_.cpus, group);
    if (everybody.empty())
      return Failure(Error(fmt::format("event '{}': none of CPUs {} has its kind of core",
                                       group.events.front().name, cpu_list(*options_.cpus))));
    if (group.events.size() > 1) sink_.add_group(index_, static_cast<u32>(group.events.size()));
    std::vector<perf::Event*> leaders;
    for (const events::ParsedEvent& parsed : group.events) {
      perf::Attr attr = periods_.shortened(record_attr(parsed, role_of(parsed, group), options_));
      filter_levels_in_software(attr, session_.model(), session_.kernel());
      if (Result<Done, Error> checked = periods_.check(parsed); !checked.ok()) return checked;
      std::vector<perf::Event*> opened;
      for (std::size_t n = 0; n < everybody.size(); ++n) {
        auto event = open_for(parsed, attr, leaders.empty() ? nullptr : leaders[n], everybody[n]);
        if (!event.ok()) return Failure(event.error());
        opened.push_back(*event);
      }
      if (leaders.empty()) leaders = opened;
      if (Result<Done, Error> told = tell(parsed.name, attr, opened); !told.ok()) return told;
    }
    return Done{};
  }

  Result<perf::Event*, Error> open_for(const events::ParsedEvent& parsed, perf::Attr attr,
                                       perf::Event* leader, const CountedTasks& tasks) {
    attr.inherit = tasks.is_task() ? 1 : 0;
    const auto first = first_.find(tasks.cpu);
    // One event carries the side band: where events hear of some tasks only, the one that tracks all.
    if (first == first_.end() && !of_cgroups_) ask_for_side_band(attr, options_);
    Result<perf::Event*, KernelError> event = open_event(session_, parsed, attr, leader, tasks);
    if (!event.ok()) return Failure(refusal(parsed, event.error()));
    if (first == first_.end()) {
      Result<perf::RingBuffer*, KernelError> mapped = session_.perf().mmap(**event, options_.ring_pages);
      if (!mapped.ok()) return Failure(refusal(parsed, mapped.error()));
      first_.emplace(tasks.cpu, First{*event, *mapped});
    } else if (Result<Done, KernelError> shared = session_.perf().set_output(**event, first->second.event);
               !shared.ok()) {
      return Failure(refusal(parsed, shared.error()));
    }
    return *event;
  }

  Result<Done, Error> tell(const std::string& name, const perf::Attr& asked,
                           const std::vector<perf::Event*>& opened) {
    perf::Attr described = periods_.described(opened.front()->attr);
    described.sample_max_stack = asked.sample_max_stack;  // a default that the system filled in says nothing
    std::vector<u64> ids;
    for (const perf::Event* const event : opened) ids.push_back(event->original().id);
    ++index_;
    return sink_.add_event(described, name, ids);
  }

  /// What threads do on CPUs where nothing is sampled is known from an event that is on all CPUs and never
  /// occurs.
  Result<Done, Error> track_tasks() {
    events::ParsedEvent dummy{.name = "dummy:u", .attr = {}};
    dummy.attr.type = static_cast<u32>(perf::EventType::software);
    dummy.attr.config = static_cast<u64>(perf::SoftwareId::dummy);
    perf::Attr attr = record_attr(dummy, GroupRole::alone, options_);
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.freq = 0;
    attr.sample_period = 1;
    attr.branch_sample_type = 0;
    attr.sample_type &= ~u64{perf::sample::BRANCH_STACK};
    ask_for_side_band(attr, options_);
    std::vector<perf::Event*> opened;
    const auto everywhere = options_.cpus ? std::optional(session_.machine()->online()) : std::nullopt;
    for (const CountedTasks& tasks : sampled(everywhere, {})) {
      auto event = open_for(dummy, attr, nullptr, tasks);
      if (!event.ok()) return Failure(event.error());
      opened.push_back(*event);
    }
    return tell(dummy.name, attr, opened);
  }

  /// As `perf record` names those that are there when it begins: before anything else, at no time.
  Result<Done, Error> name_cgroups() {
    if (!options_.cgroups) return Done{};
    perf::Event& event = *first_.begin()->second.event;
    for (const auto& [id, path] : session_.monitor().cgroups()) {
      const perf::CgroupRecord record{id, path};
      std::vector<std::byte> bytes(perf::record_size(record, event.attr));
      perf::write_record(bytes.data(), record, event, {});
      if (Result<Done, Error> written = sink_.write(bytes); !written.ok()) return written;
    }
    return Done{};
  }

  Session& session_;
  const RecordOptions& options_;
  RecordSink& sink_;
  WindowPeriods periods_;
  bool of_cgroups_;
  std::map<i32, First> first_;  // by CPU
  u32 index_ = 0;
};

}  // namespace

trace::RecordedRegisters registers_needed(const RecordOptions& options) {
  const u64 sampled = options.interrupt_registers | options.user_registers;
  if (options.interrupt_simd.any() || options.user_simd.any() ||
      (sampled & perf::register_mask::XMM_HALVES) != 0)
    return trace::RecordedRegisters::simd;
  return (sampled & ~events::pc_register) != 0 ? trace::RecordedRegisters::gpr
                                               : trace::RecordedRegisters::none;
}

bool samples_registers(const RecordOptions& options) {
  return (options.interrupt_registers | options.user_registers) != 0 || options.interrupt_simd.any() ||
         options.user_simd.any();
}

perf::Attr record_attr(const events::ParsedEvent& event, GroupRole role, const RecordOptions& options) {
  perf::Attr attr = event.attr;
  // Where there is user-mode code only, saying so keeps readers from looking for a kernel map.
  if (!options.kernel) attr.exclude_kernel = attr.exclude_hv = 1;
  const bool only_read = event.sample_read && role == GroupRole::member;
  if (!only_read) set_period(attr, options);
  attr.sample_type = sample_type(options);
  if (event.sample_read) {
    using namespace perf::read_format;
    attr.sample_type |= perf::sample::READ;
    attr.read_format = ID | (role == GroupRole::alone ? 0 : GROUP);
    if (options.running_times) attr.read_format |= TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING;
  }
  attr.sample_id_all = 1;
  attr.branch_sample_type = options.branch_sample_type;
  events::ask_for_registers(attr, {.interrupt = options.interrupt_registers,
                                   .user = options.user_registers,
                                   .interrupt_simd = options.interrupt_simd,
                                   .user_simd = options.user_simd});
  if (options.clock) {
    attr.use_clockid = 1;
    attr.clockid = static_cast<i32>(*options.clock);
  }
  if (options.call_graph_lbr) {
    using namespace perf::branch;
    attr.branch_sample_type = USER | CALL_STACK | NO_CYCLES | NO_FLAGS | HW_INDEX;
  }
  return attr;
}

Result<RecordSummary, Error> replay_into(RecordSink& sink, Session& session, const RecordOptions& asked) {
  RecordOptions options = asked;
  if (session.machine() != nullptr || names_cgroups(options.events))
    options.identifiers = true;  // of an event that tracks tasks, too
  options.kernel = session.trace().contents().kernel;
  if (event_count(options) == 0) return Failure(Error("no event to record"));
  if (options.call_graph_trace && !session.monitor().uses_call_stacks())
    return Failure(Error("call chains from the trace are asked for, and the session keeps no call stacks"));
  if (auto has_raw = check_raw(session.model(), options); !has_raw.ok()) return Failure(has_raw.error());
  const WindowPeriods periods(session);
  Opening opening(session, options, sink, periods);
  if (const Result<Done, Error> opened = opening.open_all(); !opened.ok()) return Failure(opened.error());

  Drains drains(opening.rings(), sink, options, periods);
  MeasuredTime measured(session, options.measured);
  PeriodGrowth growth(session, options.growing);
  session.on_pause([&] {
    measured.pass();
    growth.pass();
    if (sink.record_bytes() > options.max_record_bytes) session.stop();
    if (!session.monitor().holds_records()) drains.end_round();
  });
  session.on_mapping([&](const trace::Mapping& mapping) { drains.keep(sink.add_mapping(mapping)); });

  const Result<Done, Error> replayed = session.run();
  drains.empty();
  session.on_pause({});
  session.on_mapping({});
  if (!replayed.ok()) return Failure(replayed.error());
  if (const auto error = drains.error()) return Failure(*error);
  RecordSummary summary = drains.summary();
  summary.elapsed_ns = session.now();
  summary.stopped = session.stopped();
  summary.driver = session.driver_statistics();
  return summary;
}

Result<RecordSummary, Error> record(Session& session, const RecordOptions& options) {
  if (event_count(options) == 0) return Failure(Error("no event to record"));
  Result<perfdata::Writer, Error> writer =
      perfdata::Writer::create(options.output, writer_options(session, options));
  if (!writer.ok()) return Failure(writer.error());
  FileSink file(*writer, options);
  Result<RecordSummary, Error> summary = replay_into(file, session, options);
  if (!summary.ok()) return summary;
  if (Result<Done, Error> kept = keep_old_file(options.output); !kept.ok()) return Failure(kept.error());
  if (Result<Done, Error> finished = writer->finish(); !finished.ok()) return Failure(finished.error());
  std::error_code unknown;
  const auto file_bytes = std::filesystem::file_size(options.output, unknown);
  summary->file_bytes = unknown ? writer->record_bytes() : file_bytes;
  return summary;
}

}  // namespace pmusim
