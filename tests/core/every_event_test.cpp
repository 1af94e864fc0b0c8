// SPDX-License-Identifier: MIT
// Whatever a model's table lists happens on its core, or is refused: nothing silently counts 0.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "cpu/cycle_views.h"
#include "cpu/unmodelled_signals.h"
#include "tests/core/chase.h"
#include "tests/core/code.h"

namespace pmusim::every_event_test {
namespace {

using namespace test;

/// Does everything that a core can tell, and keeps what it reported.
class EventfulProgram {
 public:
  explicit EventfulProgram(const CpuModel& model)
      : model_(model), core_(std::make_unique<Core>(make_core(model))) {
    touch_caches();
    compute();
    branch();
    meet_older_stores();
    write_code();
    deliver_uops();
    transact();
    fill_buffers();
    fill_ports();
    cycles_ = core_->cycle();
    open_slots_ = core_->open_slots();
    core_.reset();  // which is large
  }

  bool raised(const EventRule& rule) const {
    return std::ranges::any_of(signals_, [&](const SignalSet& seen) { return rule.matches(seen); });
  }
  bool occurs(const EventRule& rule) const {
    if (rule.quantity == Quantity::none) return raised(rule);
    const auto reported = [&](Quantity which) { return total(which) != 0; };
    return reported(rule.quantity) || std::ranges::any_of(rule.plus, reported);
  }
  u64 total(Quantity which) const { return totals_[static_cast<unsigned>(which)]; }
  const std::array<u64, static_cast<unsigned>(Quantity::count_)>& totals() const { return totals_; }
  u64 cycles() const { return cycles_; }
  unsigned open_slots() const { return open_slots_; }

 private:
  static constexpr u64 text = 0x400000, data = 0x10000000;

  void execute(const trace::Block& block, std::vector<u64> addresses = {}, u64 next_ip = 0) {
    trace::BlockRun block_run;
    block_run.block = &block;
    block_run.next_ip = next_ip != 0 ? next_ip : block.instructions.back().end();
    block_run.addresses = addresses;
    const std::array<u32, 1> once{3};
    block_run.rep_counts = once;
    core_->run(block_run, [&](const Retirement& r) { keep(r); });
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
        code(text, {0xF3, 0x0F, 0x59, 0xC1}),              // mulss
        code(text, {0x0F, 0x5E, 0xC1}),                    // divps
        code(text, {0xC4, 0xE2, 0x71, 0xB8, 0xC2}),        // vfmadd231ps
        code(text, {0x0F, 0xAF, 0xC1}),                    // imul
        code(text, {0x8D, 0x44, 0x0A, 0x08}),              // lea eax, [rdx + rcx + 8]
        code(text, {0x0F, 0xAE, 0xE8}),                    // lfence
        code(text, {0x89, 0xC8}),                          // mov eax, ecx
        code(text, {0x0F, 0x28, 0xC1}),                    // movaps
        code(text, {0x0F, 0x18, 0x07}),                    // prefetchnta
        code(text, {0x0F, 0x18, 0x0F}),                    // prefetcht0
        code(text, {0x0F, 0x18, 0x17}),                    // prefetcht1
        code(text, {0x0F, 0x0D, 0x0F}),                    // prefetchw
        code(text, {0x62, 0xF5, 0x76, 0x08, 0x58, 0xC1}),  // vaddsh
        code(text, {0x62, 0xF5, 0x74, 0x08, 0x58, 0xC1}),  // vaddph xmm
        code(text, {0x62, 0xF5, 0x74, 0x28, 0x58, 0xC1}),  // vaddph ymm
        code(text, {0x62, 0xF5, 0x74, 0x48, 0x58, 0xC1}),  // vaddph zmm
        code(text, {0x62, 0xF6, 0x76, 0x08, 0xD7, 0xC1}),  // vfmulcsh
        code(text, {0x62, 0xF2, 0x75, 0x08, 0x50, 0xC1}),  // vpdpbusd xmm
        code(text, {0x62, 0xF2, 0x75, 0x28, 0x50, 0xC1}),  // vpdpbusd ymm
        code(text, {0xC5, 0xF5, 0xFC, 0xC1}),              // vpaddb ymm
        code(text, {0xC5, 0xF5, 0xD5, 0xC1}),              // vpmullw ymm
    };
    // paddb, pand, psllw, pmullw, packsswb, punpcklbw, in MMX and in SSE registers
    for (const unsigned opcode : {0xFC, 0xDB, 0xF1, 0xD5, 0x63, 0x60}) {
      execute(code(text, {0x0F, opcode, 0xC1}));
      execute(code(text, {0x66, 0x0F, opcode, 0xC1}));
    }
    execute(code(text, {0x66, 0x0F, 0x70, 0xC1, 0x00}));  // pshufd
    for (int n = 0; n < 10; ++n)
      for (const trace::Block& block : blocks) execute(block);
    execute(code(text, {0xF0, 0x01, 0x07}), {data});           // lock add
    execute(code(text, {0xF0, 0x01, 0x07}), {data + 62});      // over the border of a line
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

  // More work than fits behind what waits for memory, in each of the places where it waits.
  void fill_buffers() {
    const trace::Block load = code(text, {0x8B, 0x07}), store = code(text, {0x89, 0x07}),
                       nop = code(text, {0x90}),
                       chain = code(text, {0x48, 0x0F, 0xAF, 0xC0});  // imul rax, rax
    const u64 far = 64 * data;
    for (u64 n = 0; n < 4; ++n) {
      execute(load, {far + n * 37 * page_bytes});
      for (int more = 0; more < 1200; ++more) execute(nop);
      for (int more = 0; more < 400; ++more) execute(chain);
    }
    for (u64 n = 0; n < 600; ++n) execute(load, {2 * far + n * 37 % 600 * 5 * line_bytes});
    for (u64 n = 0; n < 600; ++n) execute(store, {3 * far + n * 37 % 600 * 5 * line_bytes});
  }

  // Additions, a load and a store, none of which waits for another.
  void fill_ports() {
    const trace::Block block =
        code(text, {0x83, 0xC0, 1,    0x83, 0xC1, 1,    0x83, 0xC2, 1,    0x83, 0xC3, 1,    0x83, 0xC6,
                    1,    0x44, 0x8B, 0x07, 0x44, 0x89, 0x4F, 0x40, 0x0F, 0x58, 0xC9, 0x0F, 0x59, 0xD2});
    for (int n = 0; n < 4000; ++n) execute(block, {data, data + line_bytes});
  }

  // A loop, code that no uop cache has yet, a prefix that changes lengths, microcode.
  void deliver_uops() {
    for (int n = 0; n < 200; ++n) execute(code(text, {0x90, 0x90, 0x90, 0x90, 0xEB, 0xFA}), {}, text);
    execute(code(6 * data, {0x90, 0x66, 0x81, 0xC1, 0x34, 0x12, 0x0F, 0xA2, 0x90}));
  }

  // Transactions that end in every way there is.
  void transact() {
    const trace::Block begins = code(text, {0xC7, 0xF8, 0x40, 0x00, 0x00, 0x00});
    const trace::Block store = code(text + 6, {0x89, 0x07});
    const trace::Block ends[] = {
        code(text + 8, {0x0F, 0x01, 0xD5}),  // xend
        code(text + 8, {0xC6, 0xF8, 0x01}),  // xabort
        code(text + 8, {0x0F, 0xA2}),        // cpuid
    };
    for (const trace::Block& end : ends) {
      execute(begins);
      execute(store, {data});
      execute(end);
    }
    execute(begins, {}, begins.instructions.front().target);
    execute(begins);
    for (u64 line = 0; line <= model_.core.l1d.ways; ++line)
      execute(store, {data + line * model_.core.l1d.bytes / model_.core.l1d.ways});
  }

  void write_code() { execute(code(text, {0x89, 0x07}), {text + 8}); }

  const CpuModel model_;
  std::unique_ptr<Core> core_;
  u64 cycles_ = 0;
  unsigned open_slots_ = 0;
  std::vector<SignalSet> signals_;
  std::array<u64, static_cast<unsigned>(Quantity::count_)> totals_{};
};

/// Run once for all tests of a process.
const EventfulProgram& program_on(const CpuModel& model) {
  static std::map<std::string, EventfulProgram> programs;
  return programs.try_emplace(std::string(model.name), model).first->second;
}

class EveryListedEvent : public testing::TestWithParam<CpuModel> {};
std::string name_of(const testing::TestParamInfo<CpuModel>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
  return name;
}
std::vector<CpuModel> models_of_all_vendors() {
  std::vector<CpuModel> all;
  for (const Vendor vendor : {Vendor::intel, Vendor::amd})
    for (const CpuModel& model : cpu_models(vendor)) all.push_back(model);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, EveryListedEvent, testing::ValuesIn(models_of_all_vendors()), name_of);

bool is_refused(const EventRule& rule, const CpuModel& model) {
  const SignalSet never = signals_never_raised(model);
  if (is_never_reported(rule.quantity, model.core)) return true;
  return rule.all.intersects(never) || (!rule.any.empty() && never.contains(rule.any));
}

// Known to be 0 (docs/core-model.md), or counted where the LBR takes a record.
bool is_known_otherwise(const EventRule& rule) {
  return rule.all.intersects(rule.none) || rule.all.has(Signal::lbr_insert) ||
         rule.all.has(Signal::ibs_tagged) || rule.all.has(Signal::ibs_tagged_retired);
}

TEST_P(EveryListedEvent, HappensOnTheCoreOrIsRefused) {
  const CpuModel& model = GetParam();
  const EventfulProgram& program = program_on(model);
  for (const EventDefinition& event : model.events) {
    if (is_refused(event.rule, model) || is_known_otherwise(event.rule)) continue;
    EXPECT_TRUE(program.occurs(event.rule)) << event.name;
  }
}

// Counters with a CMASK see quantities of their own (cpu/cycle_views.h).
TEST_P(EveryListedEvent, OccursInSomeCycleThatTheCoreReports) {
  const CpuModel& model = GetParam();
  const EventfulProgram& program = program_on(model);
  for (const EventDefinition& event : model.events)
    for (const bool inv : {false, true}) {
      const auto rule =
          cycles_with(event.rule, {.cmask = 1, .inv = inv, .issue_width = model.core.issue_width});
      if (!rule || is_refused(*rule, model)) continue;
      EXPECT_TRUE(program.occurs(*rule)) << event.name << (inv ? " inverted" : "");
    }
}

TEST_P(EveryListedEvent, AndTheSlotsOfAllCyclesAreAccountedFor) {
  const EventfulProgram& program = program_on(GetParam());
  EXPECT_EQ(program.total(Quantity::cycles), program.cycles());
  EXPECT_EQ(program.total(Quantity::slots), program.cycles() * GetParam().core.issue_width);
  EXPECT_EQ(program.total(Quantity::slots),
            program.total(Quantity::uops) + program.total(Quantity::slots_bad_speculation) +
                program.total(Quantity::slots_frontend) + program.total(Quantity::slots_backend) +
                program.open_slots());
  EXPECT_EQ(program.total(Quantity::slots_frontend),
            program.total(Quantity::slots_fetch_latency) + program.total(Quantity::slots_fetch_bandwidth));
}

TEST_P(EveryListedEvent, AndEveryUopCameFromSomewhere) {
  const EventfulProgram& program = program_on(GetParam());
  EXPECT_EQ(program.total(Quantity::uops),
            program.total(Quantity::uops_dsb) + program.total(Quantity::uops_mite) +
                program.total(Quantity::uops_ms) + program.total(Quantity::uops_lsd));
}

TEST_P(EveryListedEvent, AndWhatACoreLacksIsNeverReported) {
  const EventfulProgram& program = program_on(GetParam());
  for (std::size_t q = 1; q < program.totals().size(); ++q) {
    if (is_never_reported(static_cast<Quantity>(q), GetParam().core)) {
      EXPECT_EQ(program.totals()[q], 0u) << q;
    }
  }
}

TEST_P(EveryListedEvent, AndNoDispatchOrPortCycleIsReportedTwice) {
  const EventfulProgram& program = program_on(GetParam());
  const u64 dispatched =
      program.total(Quantity::cycles_issuing) + program.total(Quantity::cycles_not_issuing);
  EXPECT_LE(dispatched, program.cycles());
  EXPECT_GT(dispatched, program.cycles() - 100'000);
  u64 executed = program.total(Quantity::cycles_executing_none);
  for (const Quantity cycles : {Quantity::cycles_executing_one, Quantity::cycles_executing_two,
                                Quantity::cycles_executing_three, Quantity::cycles_executing_more})
    executed += program.total(cycles);
  EXPECT_LE(executed, dispatched) << "cycles that are over are behind dispatch";
  EXPECT_GE(executed + 64, dispatched);
  EXPECT_EQ(program.total(Quantity::uops_issued), program.total(Quantity::uops));
}

}  // namespace
}  // namespace pmusim::every_event_test
