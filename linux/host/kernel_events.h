// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LINUX_HOST_KERNEL_EVENTS_H
#define PMUSIM_LINUX_HOST_KERNEL_EVENTS_H

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"

/// Events of the kernel that runs in this process, by its own system calls.
namespace pmusim::linux_driver {

/// Whom an event counts, as perf_event_open takes it.
struct CountedTask {
  int pid = -1, cpu = 0;
};

/// What read(2) gives for TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING.
struct KernelCount {
  u64 counted = 0, enabled_ns = 0, running_ns = 0;
  friend bool operator==(const KernelCount&, const KernelCount&) = default;
};

/// An open event, which is closed with this. -1 leads a group.
class KernelEvent {
 public:
  static Result<KernelEvent, KernelError> open(perf::Attr attr, int leader = -1, CountedTask counted = {});
  KernelEvent(KernelEvent&& other) noexcept;
  KernelEvent& operator=(KernelEvent&&) = delete;
  ~KernelEvent();

  int descriptor() const { return descriptor_; }
  u64 id() const;
  /// Nothing for an event in error state. The event's read_format is the two times.
  std::optional<KernelCount> read() const;
  /// Whether the driver has it on a counter that it lets run.
  bool counts() const;
  void enable() const;
  void disable() const;
  void reset() const;
  void set_period(u64 period) const;
  Result<Done, KernelError> map_ring(u64 data_pages) const;
  Result<Done, KernelError> write_into_ring_of(const KernelEvent& other) const;

 private:
  explicit KernelEvent(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// The consumer of an event's ring.
class KernelRing {
 public:
  /// Of an event whose ring is mapped with so many pages.
  KernelRing(const KernelEvent& event, u64 data_pages);
  /// Appends what is published and not yet taken.
  void drain_into(std::vector<std::byte>& records);

 private:
  volatile u64* head_;
  volatile u64* tail_;
  std::vector<const std::byte*> pages_;
};

}  // namespace pmusim::linux_driver

#endif
