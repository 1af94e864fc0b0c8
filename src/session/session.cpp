// SPDX-License-Identifier: MIT
#include "pmusim/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"
#include "session/call_tracker.h"
#include "session/cores.h"
#include "session/monitor.h"

namespace pmusim {

class Session::State {
 public:
  State(std::unique_ptr<trace::Source> trace, SessionOptions options, std::unique_ptr<Cores> cores,
        std::optional<MachinePart> part)
      : options_(std::move(options)),
        part_(std::move(part)),
        trace_(std::move(trace)),
        cores_(std::move(cores)) {
    if (options_.call_stacks) calls_.emplace(trace_->contents());
  }
  static Result<std::unique_ptr<State>, Error> open(std::unique_ptr<trace::Source> source,
                                                    SessionOptions options,
                                                    std::optional<MachinePart> part = {});

  Monitor& monitor() const { return *monitors_.front(); }
  Monitor& add_monitor(Sight sight);
  Sight first_sight() const { return options_.core == CoreLevel::sampled ? Sight::windows : Sight::all; }
  void on_window(std::function<void(u64)> callback) { cores_->engine().on_window(std::move(callback)); }
  driver::DriverStatistics driver_statistics() const;
  const SessionOptions& options() const { return options_; }
  const trace::Source& trace() const { return *trace_; }
  u64 instructions() const { return instructions_; }
  u32 first_thread() const { return first_.tid; }

  Result<Done, Error> run();

  // the same in parts
  Result<Done, Error> prepare();
  /// Until so many instructions have retired, or more. False: the program is over.
  Result<bool, Error> replay_until(u64 instructions);
  /// The program is over; the monitors know all of it.
  void end() { cores_->engine().finish(); }
  /// Counting is over, at this time if others of the machine end later than the program.
  void stop_events(u64 tsc = 0);

  u64 tsc() const { return monitors_.front()->tsc(); }
  const std::optional<MachinePart>& part() const { return part_; }

  bool stopped = false;
  std::function<void(const trace::Mapping&)> on_mapping;
  std::function<void(const trace::SideBandRecord&)> side_band_callback;
  std::function<void(Progress)> on_progress;

 private:
  static constexpr u64 report_every = 1 << 18;  // who is asked to end does so within a second

  /// With a machine: the first process is there.
  Result<Done, Error> begin();
  Result<Done, Error> warm_up();
  Result<trace::NextItem, Error> next_item();
  void take(const trace::Item& item);
  void report_progress();
  void run_block(const trace::BlockRun& run);
  void on_side_band(const trace::SideBandRecord& record);

  SessionOptions options_;
  std::optional<MachinePart> part_;
  std::unique_ptr<trace::Source> trace_;
  std::optional<CallTracker> calls_;
  std::vector<std::unique_ptr<Monitor>> monitors_;
  std::unique_ptr<Cores> cores_;  // they have the monitors
  trace::ProcessStart first_;     // with a machine
  trace::NextItem read_before_;   // what has been read before run()
  u64 instructions_ = 0, next_report_ = report_every;
};

Monitor& Session::State::add_monitor(Sight sight) {
  Monitor& monitor = *monitors_.emplace_back(std::make_unique<Monitor>(options_, *trace_, sight));
  if (calls_) monitor.use_call_stacks(*calls_);
  cores_->add(monitor);
  if (options_.machine) monitor.start(first_, cores_->cpu());
  return monitor;
}

Result<Done, Error> Session::State::begin() {
  if (options_.machine) {
    const Result<trace::NextItem, Error> item = trace_->next();
    if (!item.ok()) return Failure(item.error());
    const auto* const record = item->has_value() ? std::get_if<trace::SideBandRecord>(&**item) : nullptr;
    const auto* const first = record != nullptr ? std::get_if<trace::ProcessStart>(record) : nullptr;
    if (first == nullptr)
      return Failure(Error("the trace does not begin with a process, which a machine of many CPUs needs"));
    first_ = *first;
    read_before_ = *item;
    cores_->start(first_.tid);
  }
  add_monitor(first_sight());
  return Done{};
}

driver::DriverStatistics Session::State::driver_statistics() const {
  driver::DriverStatistics all;
  for (const auto& monitor : monitors_) all += monitor->driver_statistics();
  return all;
}

Result<trace::NextItem, Error> Session::State::next_item() {
  if (stopped) return trace::NextItem();
  if (read_before_.has_value()) return std::exchange(read_before_, trace::NextItem());
  return trace_->next();
}

Result<Done, Error> Session::State::warm_up() {
  if (options_.start == StartState::cold) return Done{};
  const auto go_on = [this] {
    if (on_progress) on_progress({0, trace_->length().value_or(0)});
    return !stopped;
  };
  for (const auto& engine : cores_->engines()) {
    if (engine == nullptr || stopped) continue;
    auto program = trace_->again();
    if (!program.ok()) return Failure(program.error());
    if (auto warmed = engine->warm_up(**program, go_on); !warmed.ok()) return warmed;
  }
  return Done{};
}

Result<Done, Error> Session::State::prepare() {
  if (auto warmed = warm_up(); !warmed.ok()) return warmed;
  part_ ? cores_->join_caches(first_.pid, *part_) : cores_->join_caches(first_.pid);
  return Done{};
}

Result<Done, Error> Session::State::run() {
  auto outcome = prepare();
  if (outcome.ok())
    if (const auto replayed = replay_until(~u64{0}); !replayed.ok()) outcome = Failure(replayed.error());
  end();
  stop_events();
  return outcome;
}

Result<bool, Error> Session::State::replay_until(u64 instructions) {
  cores_->come_back();
  while (instructions_ < instructions) {
    Result<trace::NextItem, Error> item = next_item();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) return false;
    take(**item);
    if (on_progress && instructions_ >= next_report_) report_progress();
  }
  cores_->engine().settle();
  return true;
}

void Session::State::report_progress() {
  cores_->engine().settle();
  on_progress({instructions_, trace_->length().value_or(0)});
  next_report_ = instructions_ + report_every;
}

void Session::State::take(const trace::Item& item) {
  if (const auto* const block_run = std::get_if<trace::BlockRun>(&item))
    run_block(*block_run);
  else
    on_side_band(std::get<trace::SideBandRecord>(item));
}

void Session::State::stop_events(u64 tsc) {
  for (const auto& monitor : monitors_) {
    monitor->idle_until(tsc);
    monitor->stop_events();
  }
}

void Session::State::run_block(const trace::BlockRun& run) {
  instructions_ += run.block->instructions.size();
  if (calls_) calls_->take(run);
  cores_->run(run);
}

void Session::State::on_side_band(const trace::SideBandRecord& record) {
  cores_->engine().settle();
  if (side_band_callback) side_band_callback(record);
  if (std::holds_alternative<trace::SignalDelivery>(record)) cores_->engine().interrupt();
  if (const auto* const interrupt = std::get_if<trace::Interrupt>(&record))
    cores_->engine().enter_handler(*interrupt);
  if (calls_) calls_->on_side_band(record);
  cores_->on_side_band(record);
  if (const auto* const map = std::get_if<trace::Map>(&record); map != nullptr && on_mapping)
    on_mapping(map->mapping);
}

Result<Session, Error> Session::open(const std::string& trace_path, SessionOptions options) {
  Result<trace::Reader, Error> trace = trace::Reader::open(trace_path);
  if (!trace.ok()) return Failure(trace.error());
  return open(std::make_unique<trace::Reader>(std::move(trace).value()), std::move(options));
}

Result<std::unique_ptr<Session::State>, Error> Session::State::open(std::unique_ptr<trace::Source> source,
                                                                    SessionOptions options,
                                                                    std::optional<MachinePart> part) {
  if (options.kernel_entries) {
    auto entered = trace::with_kernel_entries(std::move(source), *options.kernel_entries);
    if (!entered.ok()) return Failure(entered.error());
    source = std::move(entered).value();
  }
  auto cores = Cores::create(options, source->contents());
  if (!cores.ok()) return Failure(cores.error());
  if (options.start == StartState::warm)
    if (const auto again = source->again(); !again.ok())
      return Failure(Error(fmt::format("a warm start: {}", again.error().message)));
  if (!has_caches(options.core) && !options.call_stacks) source->leave_out(trace::Detail::addresses);
  auto state = std::make_unique<State>(std::move(source), std::move(options), std::move(cores).value(),
                                       std::move(part));
  if (const auto begun = state->begin(); !begun.ok()) return Failure(begun.error());
  return state;
}

Result<Session, Error> Session::open(std::unique_ptr<trace::Source> source, SessionOptions options) {
  auto state = State::open(std::move(source), std::move(options));
  if (!state.ok()) return Failure(state.error());
  return Session(std::move(state).value());
}

Result<std::vector<Session>, Error> open_side_by_side(std::vector<std::unique_ptr<trace::Source>> programs,
                                                      const SessionOptions& options) {
  if (!options.machine) return Failure(Error("programs run side by side on a machine, and there is none"));
  auto parts = divide(*options.machine, programs.size(), options.start);
  if (!parts.ok()) return Failure(parts.error());
  std::vector<Session> sessions;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    SessionOptions own = options;
    own.machine = std::move((*parts)[n].machine);
    auto state = Session::State::open(std::move(programs[n]), std::move(own), std::move((*parts)[n].part));
    if (!state.ok()) return Failure(state.error());
    sessions.push_back(Session(std::move(state).value()));
  }
  return sessions;
}

namespace {

/// So many instructions of a program before another one of its package is looked at.
constexpr u64 turn_instructions = 1000;

template <class Program>
struct Runner {
  Program* program;
  bool runs = true;
  std::optional<Error> error;

  /// Does a part of it, and takes note of how that ends.
  template <class Work>
  void attempt(Work work) {
    const auto done = work();
    if (!done.ok()) error = done.error();
    runs = runs && done.ok();
  }
};

/// Calls `work` with each number below `count`, on as many threads as there are to be had. Rethrows what it
/// throws for the lowest of them.
void each_on_threads(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t n = next++; n < count; n = next++) {
      try {
        work(n);
      } catch (...) {
        thrown[n] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min<std::size_t>(threads, count)) others.emplace_back(take_turns);
    } catch (const std::system_error&) {  // the process may have no more
    }
    take_turns();
  }
  for (const std::exception_ptr& each : thrown)
    if (each != nullptr) std::rethrow_exception(each);
}

/// Who is behind goes on; of several the first.
template <class Program>
void run_package(std::span<Runner<Program>* const> runners) {
  for (Runner<Program>* const each : runners) each->attempt([&] { return each->program->prepare(); });
  const u64 turn = runners.size() == 1 ? ~u64{0} : turn_instructions;
  while (true) {
    Runner<Program>* next = nullptr;
    for (Runner<Program>* const each : runners)
      if (each->runs && (next == nullptr || each->program->tsc() < next->program->tsc())) next = each;
    if (next == nullptr) return;
    const u64 done = next->program->instructions();
    next->attempt([&] {
      auto goes_on = next->program->replay_until(done > ~turn ? ~u64{0} : done + turn);
      if (goes_on.ok()) next->runs = *goes_on;
      return goes_on;
    });
  }
}

}  // namespace

Result<Done, Error> run_side_by_side(std::span<Session> programs, unsigned threads) {
  std::vector<Runner<Session::State>> runners;
  for (Session& session : programs) runners.push_back({.program = session.state_.get(), .error = {}});
  std::vector<std::vector<Runner<Session::State>*>> packages;
  for (auto& runner : runners) {
    const auto together = std::ranges::find_if(packages, [&](const auto& package) {
      return package.front()->program->part()->caches == runner.program->part()->caches;
    });
    if (together == packages.end())
      packages.push_back({&runner});
    else
      together->push_back(&runner);
  }
  each_on_threads(packages.size(), threads, [&](std::size_t n) { run_package<Session::State>(packages[n]); });
  u64 end = 0;
  for (const auto& runner : runners) {
    runner.program->end();
    end = std::max(end, runner.program->tsc());
  }
  for (const auto& runner : runners) runner.program->stop_events(end);
  for (const auto& runner : runners)
    if (runner.error) return Failure(*runner.error);
  return Done{};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Monitor& Session::monitor() const { return state_->monitor(); }
Monitor& Session::add_monitor() { return add_monitor(state_->first_sight()); }
Monitor& Session::add_monitor(Sight sight) { return state_->add_monitor(sight); }
perf::PerfCore& Session::perf() const { return monitor().perf(); }
Pmu& Session::pmu() const { return monitor().pmu(); }
driver::DriverStatistics Session::driver_statistics() const { return state_->driver_statistics(); }
const CpuModel& Session::model() const { return state_->options().model; }
const CoreWindows* Session::windows() const {
  return state_->options().core == CoreLevel::sampled ? &state_->options().windows : nullptr;
}
const Topology* Session::machine() const {
  const auto& machine = state_->options().machine;
  return machine ? &*machine : nullptr;
}
const std::vector<u32>& Session::cpus_of_machine() const {
  static const std::vector<u32> all;
  return state_->part() ? state_->part()->cpus : all;
}
u32 Session::first_thread() const { return state_->first_thread(); }
perf::Kernel Session::kernel() const { return state_->options().kernel; }
StartState Session::start() const { return state_->options().start; }
const trace::Source& Session::trace() const { return state_->trace(); }

Result<perf::Event*, KernelError> Session::open_event(const perf::Attr& attr, perf::Event* leader) {
  return monitor().open_event(attr, leader);
}

void Session::on_mapping(std::function<void(const trace::Mapping&)> callback) {
  state_->on_mapping = std::move(callback);
}
void Session::on_pause(std::function<void()> callback) { monitor().on_pause(std::move(callback)); }
void Session::on_side_band(std::function<void(const trace::SideBandRecord&)> callback) {
  state_->side_band_callback = std::move(callback);
}
void Session::on_window(std::function<void(u64)> callback) { state_->on_window(std::move(callback)); }
void Session::on_progress(std::function<void(Progress)> callback) {
  state_->on_progress = std::move(callback);
}

Result<Done, Error> Session::run() { return state_->run(); }
void Session::stop() { state_->stopped = true; }
bool Session::stopped() const { return state_->stopped; }
u64 Session::instructions() const { return state_->instructions(); }
perf::TscToNs Session::clock() const { return monitor().clock(); }
u64 Session::now() const { return monitor().now(); }

}  // namespace pmusim
