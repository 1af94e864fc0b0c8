// SPDX-License-Identifier: MIT
#include "pmusim/driver/intel_driver.h"

#include "driver/driver.h"
#include "driver/linux_changes.h"

namespace pmusim::driver {

IntelDriver::IntelDriver(Bus& bus, DriverOptions options) : driver_(std::make_unique<Driver>(bus, options)) {}

IntelDriver::~IntelDriver() = default;

void IntelDriver::attach(perf::SampleSink& sink) { driver_->attach(sink); }
perf::Change IntelDriver::auto_counter_reload() { return change::auto_counter_reload; }
bool IntelDriver::knows_core() const { return driver_->enumeration().has_tables(); }
const Enumeration& IntelDriver::enumeration() const { return driver_->enumeration(); }
DriverStatistics IntelDriver::statistics() const { return driver_->statistics(); }
const DemuxTotals& IntelDriver::pebs_totals() const { return driver_->pebs().totals(); }
bool IntelDriver::holds_records() const { return driver_->pebs().holds_records(); }
void IntelDriver::forget_code() { driver_->forget_code(); }

perf::PmuCapabilities IntelDriver::capabilities() const { return driver_->capabilities(); }
Result<Done, KernelError> IntelDriver::init(perf::Event& event) { return driver_->init(event); }
void IntelDriver::destroy(perf::Event& event) { driver_->destroy(event); }
void IntelDriver::disable() { driver_->disable(); }
void IntelDriver::enable() { driver_->enable(); }
void IntelDriver::begin() { driver_->begin(); }
bool IntelDriver::commit() { return driver_->commit(); }
void IntelDriver::cancel() { driver_->cancel(); }
bool IntelDriver::add(perf::Event& event) { return driver_->add(event); }
void IntelDriver::remove(perf::Event& event) { driver_->remove(event); }
void IntelDriver::start(perf::Event& event, StartMode mode) { driver_->start(event, mode); }
void IntelDriver::stop(perf::Event& event, StopMode mode) { driver_->stop(event, mode); }
void IntelDriver::read(perf::Event& event) { driver_->read(event); }
void IntelDriver::read_member(perf::Event& event) { driver_->read_member(event); }
void IntelDriver::context_switch(SwitchDirection direction, perf::TaskId task) {
  driver_->context_switch(direction, task);
}
void IntelDriver::handle_pmi(const InterruptFrame& frame) { driver_->handle_pmi(frame); }

}  // namespace pmusim::driver
