// SPDX-License-Identifier: MIT
// Any bytes as a PEBS buffer of any format: the first byte chooses format and order, the rest is the buffer.
// No access outside of it, every record in one account, and whole samples are built.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "driver/intel/samples/pebs_sample.h"
#include "tests/driver/fake_code.h"

namespace {

using namespace pmusim;
using namespace pmusim::driver;

class NoHost : public PebsHost {
 public:
  perf::SampleSink& sink() override { return no_code_; }
  Interval update_and_restart(perf::Event&) override { return Interval::over; }
  void restart(perf::Event&) override {}
  void stop(perf::Event&) override {}
  const perf::BranchStack* interrupt_branches(const perf::Event&) override { return nullptr; }
  const perf::BranchStack& decode_branches(const perf::Event&, std::span<const pebs::LbrRecord>) override {
    return stack_;
  }

 private:
  FakeCode no_code_;
  perf::BranchStack stack_;
};

struct BuildAll {
  PebsSampleBuilder& builder;
  const perf::Event& event;
  void sample(unsigned, std::span<const std::byte> record, Place) { builder.build(event, record, {}); }
  void lost(unsigned, u64) {}
  bool begins(unsigned, u64) { return true; }
  void finished(unsigned, u64) {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr unsigned formats[] = {0, 1, 2, 3, 4, 5, 6, 0xF};
  const unsigned format = formats[data[0] % 8];
  std::vector<std::byte> buffer(size - 1);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(data[i + 1]);

  Enumeration cpu;
  cpu.pebs_format = format;
  cpu.lbr_entries = 32;
  cpu.microarchitecture = format == 0xF ? Microarchitecture::panther_cove : Microarchitecture::golden_cove;
  NoHost host;
  PebsSampleBuilder builder(cpu, host);
  perf::Event event;
  event.attr.sample_type = perf::sample::ALL;
  event.attr.precise_ip = 1;
  data_of(event).flags = pebs_flag::PRECISE | pebs_flag::LOAD_LATENCY;
  Demultiplexer demultiplexer;
  const DemuxTotals totals =
      demultiplexer.run(buffer,
                        {.format = format,
                         .enabled = ~u64{0},
                         .enable_word = 1,
                         .record_bytes = data[0] & 8 ? 208u : 32u,
                         .order = data[0] & 16 ? DrainOrder::grouped : DrainOrder::record},
                        BuildAll{builder, event});
  if (totals.accounted() != totals.records) std::abort();
  return 0;
}
