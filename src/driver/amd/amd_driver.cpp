// SPDX-License-Identifier: MIT
#include "pmusim/driver/amd_driver.h"

#include "driver/amd/driver.h"

namespace pmusim::driver {

AmdDriver::AmdDriver(Bus& bus, const DriverOptions& options)
    : driver_(std::make_unique<amd::Driver>(bus, options)) {}
AmdDriver::~AmdDriver() = default;

void AmdDriver::attach(perf::SampleSink& sink) { driver_->attach(sink); }
DriverStatistics AmdDriver::statistics() const { return driver_->statistics(); }
bool AmdDriver::knows_core() const {
  return driver_->enumeration().microarchitecture != Microarchitecture::unknown;
}
void AmdDriver::forget_code() { driver_->forget_code(); }

perf::PmuCapabilities AmdDriver::capabilities() const { return driver_->capabilities(); }
Result<Done, KernelError> AmdDriver::init(perf::Event& event) { return driver_->init(event); }
void AmdDriver::destroy(perf::Event& event) { driver_->remove(event); }
void AmdDriver::disable() { driver_->disable(); }
void AmdDriver::enable() { driver_->enable(); }
void AmdDriver::begin() { driver_->begin(); }
bool AmdDriver::commit() { return driver_->commit(); }
void AmdDriver::cancel() { driver_->cancel(); }
bool AmdDriver::add(perf::Event& event) { return driver_->add(event); }
void AmdDriver::remove(perf::Event& event) { driver_->remove(event); }
void AmdDriver::start(perf::Event& event, StartMode mode) { driver_->start(event, mode); }
void AmdDriver::stop(perf::Event& event, StopMode mode) { driver_->stop(event, mode); }
void AmdDriver::read(perf::Event& event) { driver_->read(event); }
void AmdDriver::context_switch(SwitchDirection direction, perf::TaskId task) {
  driver_->context_switch(direction, task);
}
void AmdDriver::handle_pmi(const InterruptFrame& frame) { driver_->handle_pmi(frame); }

}  // namespace pmusim::driver
