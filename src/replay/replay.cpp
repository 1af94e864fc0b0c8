// SPDX-License-Identifier: MIT
#include "pmusim/replay/replay.h"

#include <utility>

#include "base/kernel_address.h"
#include "pmusim/trace/trace.h"
#include "replay/feeder.h"

namespace pmusim {

class Replay::State {
 public:
  State(std::unique_ptr<trace::Source> source, Core core)
      : source_(std::move(source)), feeder_(std::move(core)) {}

  void attach(Pmu& pmu) {
    feeder_.attach(pmu);
    extended_stale_ = true;
  }
  Result<u64, Error> run(u64 at_most);
  void set_ring(ReplayRing ring) { ring_ = ring; }
  const trace::Source& source() const { return *source_; }

 private:
  u64 take(const trace::BlockRun& run);
  void take(const trace::SideBandRecord& record);

  /// `recorded`: by the trace.
  Cpl ring_at(u64 ip, Cpl recorded) const {
    if (ring_ == ReplayRing::user) return recorded;
    return ring_ == ReplayRing::kernel || is_kernel_address(ip) ? Cpl::kernel : Cpl::user;
  }

  std::unique_ptr<trace::Source> source_;
  Feeder feeder_;
  ReplayRing ring_ = ReplayRing::user;
  bool extended_stale_ = true;  // another thread, or the kernel, has brought its own registers
};

Result<u64, Error> Replay::State::run(u64 at_most) {
  feeder_.synchronize();
  u64 retired = 0;
  while (retired < at_most) {
    const auto item = source_->next();
    if (!item.ok()) return Failure(item.error());
    if (!item->has_value()) break;
    if (const auto* const block_run = std::get_if<trace::BlockRun>(&**item))
      retired += take(*block_run);
    else
      take(std::get<trace::SideBandRecord>(**item));
  }
  return retired;
}

u64 Replay::State::take(const trace::BlockRun& run) {
  if (std::exchange(extended_stale_, extended_stale_ && run.extended == nullptr) && run.extended != nullptr)
    feeder_.set_extended_state(*run.extended);
  feeder_.run(run, ring_at(run.block->start(), run.block->ring), ring_at(run.next_ip, run.next_ring));
  return run.block->instructions.size();
}

void Replay::State::take(const trace::SideBandRecord& record) {
  extended_stale_ = true;
  if (std::holds_alternative<trace::SignalDelivery>(record)) feeder_.interrupt();
  if (const auto* const interrupt = std::get_if<trace::Interrupt>(&record))
    feeder_.enter_handler(*interrupt, ring_at(interrupt->from, interrupt->ring));
}

Result<Replay, Error> Replay::open(const std::string& trace_path, const CpuModel& model) {
  Result<trace::Reader, Error> reader = trace::Reader::open(trace_path);
  if (!reader.ok()) return Failure(reader.error());
  return open(std::make_unique<trace::Reader>(std::move(reader).value()), model);
}

Result<Replay, Error> Replay::open(std::unique_ptr<trace::Source> source, const CpuModel& model) {
  Result<Core, Error> core = Core::create(model);
  if (!core.ok()) return Failure(core.error());
  return Replay(std::make_unique<State>(std::move(source), std::move(core).value()));
}

Replay::Replay(std::unique_ptr<State> state) : state_(std::move(state)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

void Replay::attach(Pmu& pmu) { state_->attach(pmu); }
void Replay::set_ring(ReplayRing ring) { state_->set_ring(ring); }
Result<u64, Error> Replay::run(u64 at_most) { return state_->run(at_most); }
const trace::Source& Replay::trace() const { return state_->source(); }

}  // namespace pmusim
