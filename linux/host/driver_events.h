// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_DRIVER_EVENTS_H
#define PMUSIM_LINUX_HOST_DRIVER_EVENTS_H

#include <memory>
#include <optional>
#include <vector>

#include "host/kernel_events.h"
#include "pmusim/session/session.h"

namespace pmusim::linux_driver {

/// Events under one of the two drivers, by their number in order of opening.
class DriverEvents {
 public:
  DriverEvents() = default;
  virtual ~DriverEvents() = default;
  DriverEvents(const DriverEvents&) = delete;
  DriverEvents& operator=(const DriverEvents&) = delete;

  virtual Result<Done, KernelError> open(const perf::Attr& attr, std::optional<std::size_t> leader,
                                         CountedTask counted) = 0;
  virtual std::size_t size() const = 0;
  virtual bool is_open(std::size_t n) const = 0;
  virtual void enable(std::size_t n) = 0;
  virtual void disable(std::size_t n) = 0;
  virtual void reset(std::size_t n) = 0;
  virtual void set_period(std::size_t n, u64 period) = 0;
  virtual void close(std::size_t n) = 0;
  /// Zeros for an event in error state.
  virtual KernelCount read(std::size_t n) = 0;

  /// Event `first` gets a ring of so many pages, into which all behind it write.
  virtual Result<Done, KernelError> map_ring(u64 data_pages, std::size_t first = 0) = 0;
  virtual std::size_t rings() const = 0;
  /// Appends what is published and not yet taken of one ring, in the order in which they were mapped.
  virtual void drain_ring(std::size_t ring, std::vector<std::byte>& records) = 0;
  /// Of all of them, one behind the other.
  void drain_into(std::vector<std::byte>& records) {
    for (std::size_t ring = 0; ring < rings(); ++ring) drain_ring(ring, records);
  }
};

std::unique_ptr<DriverEvents> events_of_kernel();
/// `session` must outlive them.
std::unique_ptr<DriverEvents> events_of(Session& session);

}  // namespace pmusim::linux_driver

#endif
