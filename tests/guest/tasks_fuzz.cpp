// SPDX-License-Identifier: MIT
// The ring of a guest's kernel (docs/machine.md): whatever stands in it, a trace has tasks that Linux may
// have, each of which starts once before it runs.
#include <array>
#include <set>

#include "pmu/tasks.h"
#include "tests/support/fuzz_input.h"

namespace {

using namespace pmusim;
using machine::Tasks;

/// What a trace has been told.
class Trace {
 public:
  void operator()(const trace::ThreadStart& r) {
    must(is_task(r.pid) && r.parent_tid < Tasks::limit);
    must(running_.insert(r.tid).second);
  }
  void operator()(const trace::ThreadSwitch& r) { must(running_.contains(r.tid)); }
  void operator()(const trace::ThreadExit& r) { must(running_.erase(r.tid) == 1); }
  void operator()(const trace::ThreadName& r) {
    must(is_task(r.pid) && is_task(r.tid) && r.name.size() <= 15);
  }
  void operator()(const trace::ProcessStart& r) {
    must(is_task(r.pid) && is_task(r.tid) && r.command.size() <= 15);
  }
  void operator()(const trace::Map& r) {
    must(is_task(r.pid) && r.mapping.path.size() <= 4095 && r.mapping.build_id.size() <= 20);
  }
  void operator()(const auto&) { must(false); }

 private:
  static bool is_task(u32 number) { return number != 0 && number <= Tasks::idle; }
  std::set<u32> running_{Tasks::first};
};

/// A header page and two of records, written as a kernel would, or not.
class GuestPages {
 public:
  machine::Ring ring() { return machine::Ring({pages_[0].data(), pages_[1].data(), pages_[2].data()}); }
  template <class T>
  void append(T value) {
    for (std::size_t n = 0; n < sizeof value; ++n, ++written_)
      pages_[1 + written_ / 4096 % 2][written_ % 4096] = static_cast<std::byte>(u64{value} >> 8 * n);
  }
  void publish(u64 beyond) {
    const u64 head = written_ + beyond;
    std::memcpy(pages_[0].data() + 1024, &head, sizeof head);
  }

 private:
  std::array<std::array<std::byte, 4096>, 3> pages_{};
  u64 written_ = 0;
};

void append_record(GuestPages& guest, FuzzInput& input) {
  constexpr std::array<u32, 7> types{2, 3, 4, 7, 9, 10, 15};
  const auto words = static_cast<u16>(input.below(32));
  guest.append(input.flag() ? input.take<u32>() : input.pick(types));
  guest.append(static_cast<u16>(input.take<std::uint8_t>() << 8));
  guest.append(static_cast<u16>(input.below(16) != 0 ? 8 + 4 * words : input.take<u16>()));
  for (u16 n = 0; n < words; ++n) guest.append(static_cast<u32>(input.number()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  GuestPages guest;
  machine::Ring ring = guest.ring();
  Tasks tasks;
  Trace trace;
  for (FuzzInput input(data, size); !input.empty();) {
    append_record(guest, input);
    guest.publish(input.below(64) == 0 ? input.number() : 0);
    for (auto record = ring.next(); record.ok() && !record->empty(); record = ring.next()) {
      const auto changes = tasks.changes(*record);
      if (!changes.ok()) return 0;
      for (const trace::SideBandRecord& change : *changes) std::visit(trace, change);
    }
  }
  return 0;
}
