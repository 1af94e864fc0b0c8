// SPDX-License-Identifier: MIT
#include "core/core.h"

#include "core/core_engine.h"

namespace pmusim {

Result<Core, Error> Core::create(const CpuModel& model) {
  auto engine = CoreEngine::create(model);
  if (!engine.ok()) return Failure(engine.error());
  return Core(std::make_unique<CoreEngine>(std::move(engine).value()));
}

Core::Core(std::unique_ptr<CoreEngine> engine) : engine_(std::move(engine)) {}
Core::Core(const Core& other) : engine_(std::make_unique<CoreEngine>(*other.engine_)) {}
Core& Core::operator=(const Core& other) {
  if (this != &other) engine_ = std::make_unique<CoreEngine>(*other.engine_);
  return *this;
}
Core::Core(Core&& other) noexcept = default;
Core& Core::operator=(Core&& other) noexcept = default;
Core::~Core() = default;

void Core::begin(const trace::BlockRun& block_run) { engine_->begin(block_run); }
const Retirement& Core::step() { return engine_->step(); }
const Retirement* Core::take_abort() { return engine_->take_abort(); }
void Core::interrupt() { engine_->interrupt(); }
void Core::obey_prediction_barriers(u64 asked_for) { engine_->obey_prediction_barriers(asked_for); }
void Core::join(MachineCaches& machine, const CorePlace& place) { engine_->join(machine, place); }
u64 Core::cycle() const { return engine_->cycle(); }
unsigned Core::open_slots() const { return engine_->open_slots(); }

}  // namespace pmusim
