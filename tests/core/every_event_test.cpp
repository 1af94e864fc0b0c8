// SPDX-License-Identifier: MIT
// Whatever a model's table lists happens on its core, or is refused: nothing silently counts 0.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "cpu/unmodelled_signals.h"
#include "tests/core/chase.h"

namespace pmusim {
namespace {

using namespace test;

/// Machine code at an address.
trace::Block code(u64 ip, std::initializer_list<unsigned> bytes) {
  trace::Block block;
  for (const unsigned byte : bytes) block.code.push_back(static_cast<std::byte>(byte));
  for (std::size_t at = 0; at < block.code.size();) {
    block.instructions.push_back(x86::decode(std::span(block.code).subspan(at), ip + at));
    if (block.instructions.back().length == 0) throw std::logic_error("no code");
    at += block.instructions.back().length;
  }
  return block;
}

/// Does everything that a core can tell, and keeps what it told.
class EventfulProgram {
 public:
  explicit EventfulProgram(const CpuModel& model) : model_(model), core_(make_core(model)) {
    touch_caches();
    compute();
    branch();
    meet_older_stores();
    write_code();
  }

  bool raised(const EventRule& rule) const {
    return std::ranges::any_of(signals_, [&](const SignalSet& seen) { return rule.matches(seen); });
  }
  u64 total(Quantity which) const { return totals_[static_cast<unsigned>(which)]; }
  const std::array<u64, static_cast<unsigned>(Quantity::count_)>& totals() const { return totals_; }
  u64 cycles() const { return core_.cycle(); }
  unsigned open_slots() const { return core_.open_slots(); }

 private:
  static constexpr u64 text = 0x400000, data = 0x10000000;

  void execute(const trace::Block& block, std::vector<u64> addresses = {}, u64 next_ip = 0) {
    trace::BlockRun block_run;
    block_run.block = &block;
    block_run.next_ip = next_ip != 0 ? next_ip : block.instructions.back().end();
    block_run.addresses = addresses;
    const std::array<u32, 1> once{3};
    block_run.rep_counts = once;
    core_.run(block_run, [&](const Retirement& r) { keep(r); });
  }
  void keep(const Retirement& r) {
    for (std::size_t q = 0; q < totals_.size(); ++q) totals_[q] += r.quantities[q];
    if (std::ranges::find(signals_, r.signals) == signals_.end()) signals_.push_back(r.signals);
  }

  // Each level of cache and TLB answers, for loads, stores and code.
  void touch_caches() {
    const trace::Block load = code(text, {0x8B, 0x07}), store = code(text + 16, {0x89, 0x07});
    // More lines than L2 holds, in an order that no prefetcher follows.
    const u64 lines = (model_.core.l2.bytes + model_.core.l2.bytes / 4) / line_bytes;
    const auto line = [&](u64 n) { return n * 37 % lines * line_bytes; };
    for (int round = 0; round < 2; ++round) {
      for (u64 n = 0; n < lines; ++n) {
        execute(load, {data + line(n)});
        if (n % 16 == 0) execute(load, {data + line(n) + 62});
        if (n % 16 == 0) execute(load, {data + line(n) + 4});
      }
      for (u64 n = 0; n < lines; ++n) {
        execute(store, {2 * data + line(n)});
        if (n % 16 == 0) execute(store, {2 * data + line(n) + 62});
      }
      for (u64 n = 0; n < lines; ++n) execute(code(3 * data + line(n), {0x90}));
    }
    for (int n = 0; n < 100; ++n)
      for (const u64 page : {0, 1, 2}) execute(n % 2 != 0 ? load : store, {data + page * page_bytes + 512});
    for (u64 at = 0; at < 32 * page_bytes; at += 2 * line_bytes) execute(load, {4 * data + at});
    for (u64 at = 0; at < model_.core.l1d.bytes * 2; at += line_bytes) execute(load, {4 * data + at});
    for (u64 at = 0; at < model_.core.l1d.bytes * 2; at += line_bytes) execute(store, {4 * data + at});
    for (u64 at = 0; at < model_.core.l1i.bytes * 4; at += line_bytes)
      execute(code(3 * data + at % (model_.core.l1i.bytes * 2), {0x90}));
    for (u64 page = 0; page < 800; ++page)
      execute(load, {5 * data + page % 400 * page_bytes + page % 64 * 64});
    for (u64 page = 0; page < 400; ++page) execute(store, {5 * data + page * page_bytes + page % 64 * 64});
    for (u64 page = 0; page < 800; ++page) execute(code(3 * data + page % 400 * page_bytes, {0x90}));
  }

  void compute() {
    const trace::Block blocks[] = {
        code(text, {0x90}),                                // nop
        code(text, {0xF3, 0x90}),                          // pause
        code(text, {0x0F, 0xA2}),                          // cpuid
        code(text, {0xF3, 0x0F, 0x58, 0xC1}),              // addss
        code(text, {0xF2, 0x0F, 0x58, 0xC1}),              // addsd
        code(text, {0x0F, 0x58, 0xC1}),                    // addps
        code(text, {0x66, 0x0F, 0x58, 0xC1}),              // addpd
        code(text, {0xC5, 0xF4, 0x58, 0xC1}),              // vaddps ymm
        code(text, {0xC5, 0xF5, 0x58, 0xC1}),              // vaddpd ymm
        code(text, {0x62, 0xF1, 0x74, 0x48, 0x58, 0xC1}),  // vaddps zmm
        code(text, {0x62, 0xF1, 0xF5, 0x48, 0x58, 0xC1}),  // vaddpd zmm
        code(text, {0xD8, 0xC1}),                          // fadd
        code(text, {0xF7, 0xF1}),                          // div
        code(text, {0x0F, 0x01, 0xD5}),                    // xend
        code(text, {0xC7, 0xF8, 0x00, 0x00, 0x00, 0x00}),  // xbegin
        code(text, {0x39, 0xC8, 0x75, 0x00}),              // cmp, jne
    };
    for (int n = 0; n < 10; ++n)
      for (const trace::Block& block : blocks) execute(block);
    execute(code(text, {0xF0, 0x01, 0x07}), {data});           // lock add
    execute(code(text, {0xF3, 0xA4}), {data, data + 0x1000});  // rep movsb
    execute(code(text, {0x0F, 0x05}));                         // syscall
  }

  // Every kind of branch, to places that nobody foresees.
  void branch() {
    std::mt19937_64 random(1);
    for (int n = 0; n < 4000; ++n) {
      const u64 ip = text + random() % 4096 * 16, there = text + random() % 4096 * 16;
      const trace::Block conditional = code(ip, {0x75, 0x20});
      execute(conditional, {}, random() % 2 != 0 ? conditional.instructions[0].target : 0);
      execute(code(ip + 2, {0xEB, 0x08}), {}, ip + 12);
      execute(code(ip + 4, {0xFF, 0xE0}), {}, there);
      execute(code(ip + 6, {0xE8, 0, 0, 1, 0}), {data}, ip + 11 + 0x10000);
      execute(code(ip + 11, {0xFF, 0xD0}), {data}, there);
      execute(code(ip + 13, {0xC3}), {data}, random() % 4 == 0 ? there : ip + 13);
    }
  }

  void meet_older_stores() {
    // Twelve multiplications, mov [rbx], eax and mov ecx, [rdi].
    std::vector<x86::Instruction> late;
    for (int n = 0; n < 12; ++n) late.push_back(code(text, {0x48, 0x0F, 0xAF, 0xDB}).instructions[0]);
    late.push_back(code(text, {0x89, 0x03}).instructions[0]);
    late.push_back(code(text, {0x8B, 0x0F}).instructions[0]);
    const trace::Block block = block_at(text, std::move(late));
    for (int round = 0; round < 4; ++round) {
      for (int n = 0; n < 40; ++n) execute(block, {data, data + 256});
      execute(block, {data, data});
      execute(block, {data, data + 2});
      execute(block, {data, data + page_bytes});
    }
  }

  void write_code() { execute(code(text, {0x89, 0x07}), {text + 8}); }

  const CpuModel& model_;
  Core core_;
  std::vector<SignalSet> signals_;
  std::array<u64, static_cast<unsigned>(Quantity::count_)> totals_{};
};

class EveryListedEvent : public testing::TestWithParam<CpuModel> {};
std::string name_of(const testing::TestParamInfo<CpuModel>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, EveryListedEvent,
                         testing::ValuesIn(cpu_models().begin(), cpu_models().end()), name_of);

bool is_refused(const EventRule& rule, const CoreParameters& core) {
  const SignalSet never = signals_never_raised(core);
  return rule.all.intersects(never) || (!rule.any.empty() && never.contains(rule.any));
}

// Known to be 0 (docs/core-model.md), or counted where the LBR takes a record.
bool is_known_otherwise(const EventRule& rule) {
  return rule.all.intersects(rule.none) || rule.all.has(Signal::lbr_insert);
}

TEST_P(EveryListedEvent, HappensOnTheCoreOrIsRefused) {
  const CpuModel& model = GetParam();
  const EventfulProgram program(model);
  for (const EventDefinition& event : model.events) {
    if (is_refused(event.rule, model.core) || is_known_otherwise(event.rule)) continue;
    const bool happened = event.rule.quantity == Quantity::none ? program.raised(event.rule)
                                                                : program.total(event.rule.quantity) != 0;
    EXPECT_TRUE(happened) << event.name;
  }
}

TEST_P(EveryListedEvent, AndTheSlotsOfAllCyclesAreAccountedFor) {
  const EventfulProgram program(GetParam());
  EXPECT_EQ(program.total(Quantity::cycles), program.cycles());
  EXPECT_EQ(program.total(Quantity::slots), program.cycles() * GetParam().core.issue_width);
  EXPECT_EQ(program.total(Quantity::slots),
            program.total(Quantity::uops) + program.total(Quantity::slots_bad_speculation) +
                program.total(Quantity::slots_frontend) + program.total(Quantity::slots_backend) +
                program.open_slots());
}

}  // namespace
}  // namespace pmusim
