// SPDX-License-Identifier: MIT
#include "host/driver_events.h"

#include "perf/ring_buffer.h"
#include "pmusim/perf/core.h"
#include "session/monitor.h"

namespace pmusim::linux_driver {

namespace {

class OfKernel final : public DriverEvents {
 public:
  Result<Done, KernelError> open(const perf::Attr& attr, std::optional<std::size_t> leader,
                                 CountedTask counted) override {
    auto made = KernelEvent::open(attr, leader ? events_[*leader]->descriptor() : -1, counted);
    if (!made.ok()) return Failure(made.error());
    events_.push_back(std::make_unique<KernelEvent>(std::move(made).value()));
    return Done{};
  }
  std::size_t size() const override { return events_.size(); }
  bool is_open(std::size_t n) const override { return events_[n] != nullptr; }
  void enable(std::size_t n) override { events_[n]->enable(); }
  void disable(std::size_t n) override { events_[n]->disable(); }
  void reset(std::size_t n) override { events_[n]->reset(); }
  void set_period(std::size_t n, u64 period) override { events_[n]->set_period(period); }
  void close(std::size_t n) override { events_[n].reset(); }
  KernelCount read(std::size_t n) override { return events_[n]->read().value_or(KernelCount{}); }

  Result<Done, KernelError> map_ring(u64 data_pages, std::size_t first) override {
    const KernelEvent& owner = *events_[first];
    if (auto mapped = owner.map_ring(data_pages); !mapped.ok()) return mapped;
    rings_.emplace_back(owner, data_pages);
    for (std::size_t n = first + 1; n < events_.size(); ++n)
      if (auto given = events_[n]->write_into_ring_of(owner); !given.ok()) return given;
    return Done{};
  }
  std::size_t rings() const override { return rings_.size(); }
  void drain_ring(std::size_t ring, std::vector<std::byte>& records) override {
    rings_[ring].drain_into(records);
  }

 private:
  std::vector<std::unique_ptr<KernelEvent>> events_;
  std::vector<KernelRing> rings_;
};

class OfSession final : public DriverEvents {
 public:
  explicit OfSession(Session& session) : session_(session) {}

  Result<Done, KernelError> open(const perf::Attr& attr, std::optional<std::size_t> leader,
                                 CountedTask counted) override {
    auto made = session_.monitor().open_event(attr, leader ? events_[*leader] : nullptr,
                                              {.pid = counted.pid, .cpu = counted.cpu});
    if (!made.ok()) return Failure(made.error());
    events_.push_back(*made);
    return Done{};
  }
  std::size_t size() const override { return events_.size(); }
  bool is_open(std::size_t n) const override { return events_[n] != nullptr; }
  void enable(std::size_t n) override { core().enable(*events_[n]); }
  void disable(std::size_t n) override { core().disable(*events_[n]); }
  void reset(std::size_t n) override { core().reset(*events_[n]); }
  void set_period(std::size_t n, u64 period) override {
    static_cast<void>(core().set_period(*events_[n], period));
  }
  void close(std::size_t n) override { core().close(*std::exchange(events_[n], nullptr)); }
  KernelCount read(std::size_t n) override {
    const auto words = core().read(*events_[n]);
    if (!words.ok() || words->size() != 3) return {};
    return {.counted = (*words)[0], .enabled_ns = (*words)[1], .running_ns = (*words)[2]};
  }

  Result<Done, KernelError> map_ring(u64 data_pages, std::size_t first) override {
    auto ring = core().mmap(*events_[first], data_pages);
    if (!ring.ok()) return Failure(ring.error());
    readers_.emplace_back(**ring);
    for (std::size_t n = first + 1; n < events_.size(); ++n)
      if (auto given = core().set_output(*events_[n], events_[first]); !given.ok()) return given;
    return Done{};
  }
  std::size_t rings() const override { return readers_.size(); }
  void drain_ring(std::size_t ring, std::vector<std::byte>& records) override {
    readers_[ring].drain([&](auto piece) { records.insert(records.end(), piece.begin(), piece.end()); });
  }

 private:
  perf::PerfCore& core() { return session_.perf(); }

  Session& session_;
  std::vector<perf::Event*> events_;
  std::vector<perf::RingReader> readers_;
};

}  // namespace

std::unique_ptr<DriverEvents> events_of_kernel() { return std::make_unique<OfKernel>(); }
std::unique_ptr<DriverEvents> events_of(Session& session) { return std::make_unique<OfSession>(session); }

}  // namespace pmusim::linux_driver
