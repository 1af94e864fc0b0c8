// SPDX-License-Identifier: MIT
#include "pmusim/session/session.h"

#include <optional>
#include <utility>
#include <vector>

#include "pmusim/trace/reader.h"
#include "session/call_tracker.h"
#include "session/engine.h"
#include "session/monitor.h"

namespace pmusim {

class Session::State {
 public:
  State(std::unique_ptr<trace::Source> trace, SessionOptions options, std::unique_ptr<Engine> engine)
      : options_(std::move(options)), trace_(std::move(trace)), engine_(std::move(engine)) {
    if (options_.call_stacks) calls_.emplace(trace_->contents());
    add_monitor();
  }

  Monitor& monitor() const { return *monitors_.front(); }
  Monitor& add_monitor();
  driver::DriverStatistics driver_statistics() const;
  const SessionOptions& options() const { return options_; }
  const trace::Source& trace() const { return *trace_; }
  u64 instructions() const { return instructions_; }

  Result<Done, Error> run();

  bool stopped = false;
  std::function<void(const trace::Mapping&)> on_mapping;
  std::function<void(const trace::SideBandRecord&)> side_band_callback;
  std::function<void(Progress)> on_progress;

 private:
  Result<trace::NextItem, Error> next_item();
  void take(const trace::Item& item);
  void finish();
  void run_block(const trace::BlockRun& run);
  void on_side_band(const trace::SideBandRecord& record);

  SessionOptions options_;
  std::unique_ptr<trace::Source> trace_;
  std::optional<CallTracker> calls_;
  std::vector<std::unique_ptr<Monitor>> monitors_;
  std::unique_ptr<Engine> engine_;  // has the monitors
  u64 instructions_ = 0;
};

Monitor& Session::State::add_monitor() {
  Monitor& monitor = *monitors_.emplace_back(std::make_unique<Monitor>(options_, *trace_));
  if (calls_) monitor.use_call_stacks(*calls_);
  engine_->add(monitor);
  return monitor;
}

driver::DriverStatistics Session::State::driver_statistics() const {
  driver::DriverStatistics all;
  for (const auto& monitor : monitors_) all += monitor->driver_statistics();
  return all;
}

Result<trace::NextItem, Error> Session::State::next_item() {
  if (stopped) return trace::NextItem();
  return trace_->next();
}

Result<Done, Error> Session::State::run() {
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
      engine_->settle();
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
  engine_->settle();
  for (const auto& monitor : monitors_) monitor->stop_events();
}

void Session::State::run_block(const trace::BlockRun& run) {
  instructions_ += run.block->instructions.size();
  if (calls_) calls_->take(run);
  engine_->run(run);
}

void Session::State::on_side_band(const trace::SideBandRecord& record) {
  engine_->settle();
  if (side_band_callback) side_band_callback(record);
  if (std::holds_alternative<trace::SignalDelivery>(record)) engine_->interrupt();
  if (calls_) calls_->on_side_band(record);
  for (const auto& monitor : monitors_) monitor->on_side_band(record);
  if (const auto* const map = std::get_if<trace::Map>(&record); map != nullptr && on_mapping)
    on_mapping(map->mapping);
}

Result<Session, Error> Session::open(const std::string& trace_path, SessionOptions options) {
  Result<trace::Reader, Error> trace = trace::Reader::open(trace_path);
  if (!trace.ok()) return Failure(trace.error());
  return open(std::make_unique<trace::Reader>(std::move(trace).value()), std::move(options));
}

Result<Session, Error> Session::open(std::unique_ptr<trace::Source> source, SessionOptions options) {
  auto engine = make_engine(options, source->contents());
  if (!engine.ok()) return Failure(engine.error());
  if (options.core != CoreLevel::interval && !options.call_stacks)
    source->leave_out(trace::Detail::addresses);
  return Session(std::make_unique<State>(std::move(source), std::move(options), std::move(engine).value()));
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Monitor& Session::monitor() const { return state_->monitor(); }
Monitor& Session::add_monitor() { return state_->add_monitor(); }
perf::PerfCore& Session::perf() const { return monitor().perf(); }
Pmu& Session::pmu() const { return monitor().pmu(); }
driver::DriverStatistics Session::driver_statistics() const { return state_->driver_statistics(); }
const CpuModel& Session::model() const { return state_->options().model; }
perf::Kernel Session::kernel() const { return state_->options().kernel; }
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
