// SPDX-License-Identifier: MIT
#include "pmusim/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "pmusim/trace/trace.h"
#include "session/call_tracker.h"
#include "session/cores.h"
#include "session/monitor.h"

namespace pmusim {

class Session::State {
 public:
  State(std::unique_ptr<trace::Source> trace, SessionOptions options, std::unique_ptr<Cores> cores)
      : options_(std::move(options)), trace_(std::move(trace)), cores_(std::move(cores)) {
    if (options_.call_stacks) calls_.emplace(trace_->contents());
  }
  /// With a machine: the first process is there.
  Result<Done, Error> begin();

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

  bool stopped = false;
  std::function<void(const trace::Mapping&)> on_mapping;
  std::function<void(const trace::SideBandRecord&)> side_band_callback;
  std::function<void(Progress)> on_progress;

 private:
  Result<Done, Error> warm_up();
  Result<Done, Error> replay();
  Result<trace::NextItem, Error> next_item();
  void take(const trace::Item& item);
  void finish();
  void run_block(const trace::BlockRun& run);
  void on_side_band(const trace::SideBandRecord& record);

  SessionOptions options_;
  std::unique_ptr<trace::Source> trace_;
  std::optional<CallTracker> calls_;
  std::vector<std::unique_ptr<Monitor>> monitors_;
  std::unique_ptr<Cores> cores_;  // they have the monitors
  trace::ProcessStart first_;     // with a machine
  trace::NextItem read_before_;   // what has been read before run()
  u64 instructions_ = 0;
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

Result<Done, Error> Session::State::run() {
  const auto warmed = warm_up();
  if (warmed.ok()) {
    cores_->join_caches(first_.pid);
    return replay();
  }
  finish();
  return warmed;
}

Result<Done, Error> Session::State::replay() {
  constexpr u64 report_every = 1 << 18;  // who is asked to end does so within a second
  u64 next_report = report_every;
  while (true) {
    Result<trace::NextItem, Error> item = next_item();
    if (!item.ok() || !item->has_value()) {
      finish();
      if (!item.ok()) return Failure(item.error());
      return Done{};
    }
    take(**item);
    if (on_progress && instructions_ >= next_report) {
      cores_->engine().settle();
      on_progress({instructions_, trace_->length().value_or(0)});
      next_report = instructions_ + report_every;
    }
  }
}

void Session::State::take(const trace::Item& item) {
  if (const auto* const block_run = std::get_if<trace::BlockRun>(&item))
    run_block(*block_run);
  else
    on_side_band(std::get<trace::SideBandRecord>(item));
}

void Session::State::finish() {
  cores_->engine().finish();
  for (const auto& monitor : monitors_) monitor->stop_events();
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

Result<Session, Error> Session::open(std::unique_ptr<trace::Source> source, SessionOptions options) {
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
  auto state = std::make_unique<State>(std::move(source), std::move(options), std::move(cores).value());
  if (const auto begun = state->begin(); !begun.ok()) return Failure(begun.error());
  return Session(std::move(state));
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
