#include "pmusim/session/session.h"

#include <utility>

#include "pmusim/trace/reader.h"

namespace pmusim {

Result<std::unique_ptr<Session>, Error> Session::open(const std::string& trace_path, SessionOptions options) {
  Result<trace::Reader, Error> trace = trace::Reader::open(trace_path);
  if (!trace.ok()) return Failure(trace.error());
  return open(std::make_unique<trace::Reader>(std::move(trace).value()), std::move(options));
}

Result<std::unique_ptr<Session>, Error> Session::open(std::unique_ptr<trace::Source> source,
                                                      SessionOptions options) {
  Result<Core, Error> core = Core::create(options.model);
  if (!core.ok()) return Failure(core.error());
  return std::unique_ptr<Session>(
      new Session(std::move(source), std::move(options), std::move(core).value()));
}

Session::Session(std::unique_ptr<trace::Source> trace, SessionOptions options, Core core)
    : options_(std::move(options)), trace_(std::move(trace)), core_(std::move(core)) {
  add_monitor();
}

Monitor& Session::add_monitor() {
  return *monitors_.emplace_back(std::make_unique<Monitor>(options_, *trace_));
}

Result<std::optional<trace::Item>, Error> Session::next_item() {
  if (stopped_) return std::optional<trace::Item>();
  return trace_->next();
}

driver::AccessFaults Session::driver_faults() const {
  driver::AccessFaults all;
  for (const auto& monitor : monitors_) {
    const driver::AccessFaults faults = monitor->driver().statistics().faults;
    if (all.count == 0) all.first = faults.first;
    all.count += faults.count;
  }
  return all;
}

Result<Done, Error> Session::run() {
  constexpr u64 report_every = 1 << 20;
  u64 next_report = report_every;
  while (true) {
    Result<std::optional<trace::Item>, Error> item = next_item();
    if (!item.ok() || !item->has_value()) {
      finish();
      if (!item.ok()) return Failure(item.error());
      return Done{};
    }
    take(**item);
    if (on_progress_ && instructions_ >= next_report) {
      on_progress_({instructions_, trace_->length().value_or(0)});
      next_report = instructions_ + report_every;
    }
  }
}

void Session::take(const trace::Item& item) {
  if (const auto* const block_run = std::get_if<trace::BlockRun>(&item))
    run_block(*block_run);
  else
    happen(std::get<trace::Happening>(item));
}

void Session::finish() {
  for (const auto& monitor : monitors_) monitor->stop_events();
}

void Session::run_block(const trace::BlockRun& run) {
  for (const auto& monitor : monitors_) monitor->start_block(run);
  core_.run(run, [&](const Retirement& retirement) {
    for (const auto& monitor : monitors_) monitor->retire(retirement);
  });
  instructions_ += run.block->instructions.size();
  for (const auto& monitor : monitors_) monitor->finish_block(run);
  obey_prediction_barriers();
}

// The first monitor's processor is the one that runs.
void Session::obey_prediction_barriers() {
  const u64 asked_for = pmu().control().prediction_barriers();
  if (asked_for != prediction_barriers_) core_.forget_branches();
  prediction_barriers_ = asked_for;
}

void Session::happen(const trace::Happening& happening) {
  if (on_happening_) on_happening_(happening);
  if (std::holds_alternative<trace::SignalDelivery>(happening)) core_.interrupt();
  for (const auto& monitor : monitors_) monitor->happen(happening);
  if (const auto* const map = std::get_if<trace::Map>(&happening); map != nullptr && on_mapping_)
    on_mapping_(map->mapping);
}

}  // namespace pmusim
