// SPDX-License-Identifier: MIT
#include "host/kernel_events.h"

#include <array>
#include <cstring>
#include <utility>

#include "events/sampling_pmus.h"
#include "glue/interface.h"
#include "host/machine.h"
#include "session/core_types.h"

namespace pmusim::linux_driver {

namespace {

constexpr u64 event_page = 4096;
// <linux/perf_event.h>: ioctl numbers, and where the control page has the ring's positions.
constexpr u32 ioc_enable = 0x2400, ioc_disable = 0x2401, ioc_reset = 0x2403, ioc_set_output = 0x2405,
              ioc_period = 0x40082404, ioc_id = 0x80082407;
constexpr u64 head_offset = 1024, tail_offset = 1032;

KernelError open_refusal(long error) {
  const int number = static_cast<int>(-error);
  return {number, std::strerror(number)};
}

unsigned long address_of(const void* object) { return reinterpret_cast<unsigned long>(object); }

/// The kernel's own number of ibs_fetch or ibs_op.
void number_sampling_pmu(perf::Attr& attr) {
  for (const events::SamplingPmu& pmu : events::sampling_pmus(KernelMachine::present().model()))
    if (attr.type == pmu.type) attr.type = static_cast<u32>(linux_named_pmu_type(pmu.name.data()));
}

/// The kernel's own number of cpu_atom.
void number_core_pmu(perf::Attr& attr) {
  const u64 atom = static_cast<u32>(linux_named_pmu_type("cpu_atom"));
  if (core_type_of(attr) != 1) return;
  if (is_generic(attr))
    attr.config = atom << 32 | of_one_type(attr).config;
  else
    attr.type = static_cast<u32>(atom);
}

/// Generic events of a hybrid's other core type name their PMU.
void name_pmu(perf::Attr& attr) {
  if (KernelMachine::present().topology().hybrid()) return number_core_pmu(attr);
  const u32 type = linux_pmu_type();
  const auto kind = static_cast<perf::EventType>(attr.type);
  if (type == static_cast<u32>(perf::EventType::raw)) return;
  if (kind == perf::EventType::raw) attr.type = type;
  if (kind == perf::EventType::hardware || kind == perf::EventType::hw_cache) attr.config |= u64{type} << 32;
}

}  // namespace

Result<KernelEvent, KernelError> KernelEvent::open(perf::Attr attr, int leader, CountedTask counted) {
  number_sampling_pmu(attr);
  name_pmu(attr);
  const int descriptor = linux_open(&attr, attr.size, counted.pid, counted.cpu, leader, 0);
  if (descriptor < 0) return Failure(open_refusal(descriptor));
  return KernelEvent(descriptor);
}

KernelEvent::KernelEvent(KernelEvent&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
KernelEvent::~KernelEvent() {
  if (descriptor_ >= 0) linux_close(descriptor_);
}

u64 KernelEvent::id() const {
  u64 id = 0;
  linux_ioctl(descriptor_, ioc_id, address_of(&id));
  return id;
}

std::optional<KernelCount> KernelEvent::read() const {
  std::array<u64, 3> words{};
  if (linux_read(descriptor_, words.data(), sizeof words) != sizeof words) return std::nullopt;
  return KernelCount{.counted = words[0], .enabled_ns = words[1], .running_ns = words[2]};
}

bool KernelEvent::counts() const { return linux_counts(descriptor_) != 0; }
void KernelEvent::enable() const { linux_ioctl(descriptor_, ioc_enable, 0); }
void KernelEvent::disable() const { linux_ioctl(descriptor_, ioc_disable, 0); }
void KernelEvent::reset() const { linux_ioctl(descriptor_, ioc_reset, 0); }
void KernelEvent::set_period(u64 period) const { linux_ioctl(descriptor_, ioc_period, address_of(&period)); }

Result<Done, KernelError> KernelEvent::map_ring(u64 data_pages) const {
  if (const int error = linux_mmap(descriptor_, data_pages); error != 0) return Failure(open_refusal(error));
  return Done{};
}

Result<Done, KernelError> KernelEvent::write_into_ring_of(const KernelEvent& other) const {
  const long error = linux_ioctl(descriptor_, ioc_set_output, static_cast<unsigned long>(other.descriptor_));
  if (error != 0) return Failure(open_refusal(error));
  return Done{};
}

KernelRing::KernelRing(const KernelEvent& event, u64 data_pages) {
  auto* const control = static_cast<std::byte*>(linux_mapped_page(event.descriptor(), 0));
  head_ = reinterpret_cast<volatile u64*>(control + head_offset);
  tail_ = reinterpret_cast<volatile u64*>(control + tail_offset);
  for (u64 n = 1; n <= data_pages; ++n)
    pages_.push_back(static_cast<const std::byte*>(linux_mapped_page(event.descriptor(), n)));
}

void KernelRing::drain_into(std::vector<std::byte>& records) {
  const u64 head = *head_;
  for (u64 at = *tail_; at < head;) {
    const u64 within = at % event_page, bytes = std::min(event_page - within, head - at);
    const std::byte* const from = pages_[at / event_page % pages_.size()] + within;
    records.insert(records.end(), from, from + bytes);
    at += bytes;
  }
  *tail_ = head;
}

}  // namespace pmusim::linux_driver
