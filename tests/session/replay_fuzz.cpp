// SPDX-License-Identifier: MIT
// Any well-formed trace, whatever it tells: it is replayed and recorded, and what was recorded can be read.
#include <stdlib.h>

#include <filesystem>

#include "pmusim/events/parser.h"
#include "pmusim/perfdata/reader.h"
#include "pmusim/session/record.h"
#include "pmusim/trace/trace.h"
#include "pmusim/x86/instruction.h"
#include "tests/support/fuzz_input.h"

namespace pmusim {
namespace {

/// A directory for this process; what is in it is overwritten again and again.
const std::filesystem::path& directory() {
  static const std::filesystem::path path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "pmusim-fuzz-XXXXXX").string();
    must(::mkdtemp(name.data()) != nullptr);
    return std::filesystem::path(name);
  }();
  return path;
}

/// The model with caches and predictors that take no time to make.
CpuModel small(CpuModel model) {
  model.core.l2.bytes = 16 * model.core.l2.ways * model.core.l2.line_bytes;
  model.core.l3.bytes = 16 * model.core.l3.ways * model.core.l3.line_bytes;
  model.core.predictor = "bimodal";
  return model;
}

class TraceMaker {
 public:
  TraceMaker(FuzzInput& input, const std::string& path) : input_(input), contents_(contents(input)) {
    auto writer = trace::Writer::create(path, contents_);
    must(writer.ok());
    writer_.emplace(*std::move(writer));
  }
  TraceMaker(const TraceMaker&) = delete;
  TraceMaker& operator=(const TraceMaker&) = delete;

  /// False: no trace can hold that.
  bool make() {
    if (input_.below(8) != 0) {
      add_side_band(trace::ProcessStart{1, 1, "program", true});
      add_side_band(trace::ThreadSwitch{1, 1});
    }
    for (unsigned steps = 0; steps < 200 && input_.below(64) != 0; ++steps) step();
    return fits_ && writer_->finish().ok();
  }

 private:
  static trace::Contents contents(FuzzInput& input) {
    return {.addresses = input.flag(), .registers = input.flag()};
  }
  void add_side_band(const trace::SideBandRecord& record) {
    fits_ = writer_->side_band(record).ok() && fits_;
  }

  void step() {
    switch (input_.below(4)) {
      case 0:
        return add_block();
      case 1:
        return add_side_band(record());
      default:
        for (std::size_t n = blocks_.empty() ? 0 : 1 + input_.below(32); n != 0; --n)
          run(*input_.pick(blocks_));
    }
  }
  void add_block() {
    const auto bytes = std::as_bytes(input_.bytes(1 + input_.below(40)));
    const u64 start = input_.flag() ? 0x401000 + 64 * input_.below(64) : input_.number();
    std::vector<u8> lengths;
    std::size_t covered = 0;
    while (covered < bytes.size()) {
      const unsigned length = x86::decode(bytes.subspan(covered), start + covered).length;
      if (length == 0) break;
      lengths.push_back(static_cast<u8>(length));
      covered += length;
    }
    if (!lengths.empty()) blocks_.push_back(&writer_->add_block(start, bytes.first(covered), lengths));
  }
  void run(const trace::Block& block) {
    std::vector<u64> addresses(contents_.addresses ? block.operands : 0);
    for (u64& address : addresses) address = input_.number();
    std::vector<u32> rep_counts(block.reps);
    for (u32& count : rep_counts) count = static_cast<u32>(input_.number());
    std::vector<Registers> registers(contents_.registers ? block.instructions.size() : 0);
    for (Registers& each : registers) each.gpr[input_.below(16)] = input_.number();
    const u64 next = input_.flag()   ? block.end()
                     : input_.flag() ? input_.pick(blocks_)->start()
                                     : input_.number();
    fits_ = writer_->run({&block, next, addresses, rep_counts, registers, nullptr, {}}).ok() && fits_;
  }
  u32 id() { return input_.below(8) == 0 ? input_.take<u32>() : static_cast<u32>(input_.below(4)); }
  std::string text() {
    const auto bytes = input_.bytes(input_.below(16));
    return {bytes.begin(), bytes.end()};
  }
  trace::SideBandRecord record() {
    switch (input_.below(8)) {
      case 0:
        return trace::ProcessStart{id(), id(), text(), input_.flag()};
      case 1:
        return trace::ThreadStart{id(), id(), id(), id()};
      case 2:
        return trace::ThreadExit{id(), id(), static_cast<i32>(input_.number())};
      case 3:
        return trace::Map{
            id(),
            {input_.number(), input_.number(), input_.number(), static_cast<u32>(input_.below(8)),
             static_cast<u32>(input_.below(4)), text(), std::vector<u8>(input_.below(21))}};
      case 4:
        return trace::Unmap{id(), input_.number(), input_.number()};
      case 5:
        return trace::Syscall{input_.number(), static_cast<i64>(input_.number())};
      case 6:
        return trace::SignalDelivery{id(), input_.number()};
      default:
        return trace::ThreadSwitch{id(), id()};
    }
  }

  FuzzInput& input_;
  trace::Contents contents_;
  std::optional<trace::Writer> writer_;
  std::vector<const trace::Block*> blocks_;
  bool fits_ = true;
};

RecordOptions record_options(FuzzInput& input, const CpuModel& model) {
  constexpr std::string_view events[] = {
      "cycles",    "cycles:ppp",       "branches:pp",    "{instructions,branch-misses}:S",
      "cpu-clock", "context-switches", "{cycles,r00c0}", "mem-loads:p",
      "ibs_op//",  "ibs_fetch//"};
  RecordOptions options;
  const std::string_view event = input.pick(events);
  if (auto parsed = events::parse_events(event, model); parsed.ok()) options.events = *std::move(parsed);
  options.period = 1 + input.take<u8>();
  if (input.flag()) options.frequency = 1 + input.number() % 100'000, options.period.reset();
  options.branch_sample_type = input.flag() ? perf::branch::ANY | perf::branch::USER : 0;
  options.call_graph_lbr = input.below(4) == 0;
  options.call_graph_trace = !options.call_graph_lbr && input.flag();
  options.addresses = input.flag();
  options.interrupt_registers = input.flag() ? 0xFF0FFF & input.number() : 0;
  options.switches = options.running_times = options.mapping_build_ids = input.flag();
  options.data_page_sizes = options.code_page_sizes = options.transactions = input.flag();
  options.build_ids = input.flag();
  options.weight = input.flag();
  options.raw = event.starts_with("ibs") && input.flag();
  options.ring_pages = 4;
  if (input.below(4) == 0) options.compression_level = 1;
  return options;
}

void must_be_readable(const std::string& path) {
  auto file = perfdata::Reader::open(path);
  must(file.ok());
  for (auto record = file->next(); *record; record = file->next()) must(record.ok());
}

void replay(FuzzInput& input, const std::string& trace, const std::string& output) {
  const CpuModel model = small(input.pick(cpu_models()));
  RecordOptions options = record_options(input, model);
  options.output = output;
  auto session = Session::open(trace, {.model = model, .call_stacks = options.call_graph_trace});
  must(session.ok());
  if (options.events.empty()) return;
  if (record(*session, options).ok()) must_be_readable(output);
}

}  // namespace
}  // namespace pmusim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pmusim;
  static const std::string trace = directory() / "trace", output = directory() / "perf.data";
  // The trace takes what is left of the input.
  FuzzInput settings(data, std::min<std::size_t>(size, 32));
  FuzzInput rest(data + std::min<std::size_t>(size, 32), size - std::min<std::size_t>(size, 32));
  if (TraceMaker(rest, trace).make()) replay(settings, trace, output);
  return 0;
}
