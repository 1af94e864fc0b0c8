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

  Result<Done, KernelError> map_ring(u64 data_pages) override {
    if (auto mapped = events_.front()->map_ring(data_pages); !mapped.ok()) return mapped;
    ring_.emplace(*events_.front(), data_pages);
    for (std::size_t n = 1; n < events_.size(); ++n)
      if (auto given = events_[n]->write_into_ring_of(*events_.front()); !given.ok()) return given;
    return Done{};
  }
  void drain_into(std::vector<std::byte>& records) override {
    if (ring_) ring_->drain_into(records);
  }

 private:
  std::vector<std::unique_ptr<KernelEvent>> events_;
  std::optional<KernelRing> ring_;
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

  Result<Done, KernelError> map_ring(u64 data_pages) override {
    auto ring = core().mmap(*events_.front(), data_pages);
    if (!ring.ok()) return Failure(ring.error());
    reader_.emplace(**ring);
    for (std::size_t n = 1; n < events_.size(); ++n)
      if (auto given = core().set_output(*events_[n], events_.front()); !given.ok()) return given;
    return Done{};
  }
  void drain_into(std::vector<std::byte>& records) override {
    if (reader_)
      reader_->drain([&](auto piece) { records.insert(records.end(), piece.begin(), piece.end()); });
  }

 private:
  perf::PerfCore& core() { return session_.perf(); }

  Session& session_;
  std::vector<perf::Event*> events_;
  std::optional<perf::RingReader> reader_;
};

}  // namespace

std::unique_ptr<DriverEvents> events_of_kernel() { return std::make_unique<OfKernel>(); }
std::unique_ptr<DriverEvents> events_of(Session& session) { return std::make_unique<OfSession>(session); }

}  // namespace pmusim::linux_driver
