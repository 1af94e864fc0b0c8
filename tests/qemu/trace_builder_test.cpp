// SPDX-License-Identifier: MIT
// What the plugin tells, and the trace that comes of it.
#include "qemu/trace_builder.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstring>

#include "tests/trace/sample_trace.h"

namespace pmusim::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::OwnedItem;

constexpr u64 run(u64 block) { return wire::run_bit | block; }

/// Packets as the plugin sends them, and the trace in the end.
class Plugin {
 public:
  explicit Plugin(RecordedAddresses addresses = RecordedAddresses::all)
      : writer_(*trace::Writer::create(
            directory_.file("t"), {.addresses = addresses == RecordedAddresses::all, .registers = false})),
        builder_(writer_, addresses) {
    send(wire::Kind::start, 7, 7, {0, 0});
  }

  u64 block(u64 address, std::vector<std::vector<u8>> instructions, u32 pid = 7) {
    std::vector<u8> lengths, code;
    for (const auto& instruction : instructions) {
      lengths.push_back(static_cast<u8>(instruction.size()));
      code.insert(code.end(), instruction.begin(), instruction.end());
    }
    std::vector<u64> words{address, blocks_, instructions.size(), code.size()};
    append(words, lengths);
    append(words, code);
    send(wire::Kind::block, pid, pid, words);
    return blocks_++;
  }
  void runs(std::vector<u64> words, u32 pid = 7, u32 tid = 7) { send(wire::Kind::runs, pid, tid, words); }
  void result(u64 number, i64 value, u32 pid = 7, u32 tid = 7, u32 parent = 0) {
    send(wire::Kind::result, pid, tid, {number, 0, 0, 0, 0, 0, 0, static_cast<u64>(value), parent, 0});
  }
  /// rt_sigreturn, and where it goes on.
  void signal_returns(u64 ip, u64 sp) {
    send(wire::Kind::call, 7, 7, {SYS_rt_sigreturn, 0, 0, 0, 0, 0, 0, ip, sp});
    result(SYS_rt_sigreturn, 0);
  }
  /// The handler's block is entered with the registers of a handler.
  void handler(u64 block, const std::vector<wire::SignalFrame>& frames) {
    std::vector<u64> words{block};
    for (const auto& [signal, address, ip, sp] : frames) words.insert(words.end(), {signal, address, ip, sp});
    send(wire::Kind::signals, 7, 7, words);
    runs({run(block)});
  }
  void send(wire::Kind kind, u32 pid, u32 tid, const std::vector<u64>& words) {
    const auto taken = builder_.take({kind, pid, tid, static_cast<u32>(words.size())}, words);
    if (!taken.ok()) error = taken.error().message;
  }

  /// Without the start of the first process.
  std::vector<OwnedItem> trace() {
    EXPECT_TRUE(builder_.finish().ok());
    EXPECT_TRUE(writer_.finish().ok());
    auto items = *trace::read_all(directory_.file("t"));
    items.erase(items.begin());
    return items;
  }
  const TraceBuilder& builder() const { return builder_; }
  std::string error;

 private:
  static void append(std::vector<u64>& words, const std::vector<u8>& bytes) {
    const std::size_t at = words.size();
    words.resize(at + (bytes.size() + 7) / 8);
    std::memcpy(&words[at], bytes.data(), bytes.size());
  }

  trace::TemporaryDirectory directory_;
  trace::Writer writer_;
  TraceBuilder builder_;
  u64 blocks_ = 0;
};

constexpr u64 load(u64 address, unsigned instruction, unsigned log2_bytes = 3) {
  return wire::Access::encode(address, instruction, log2_bytes, 0);
}
constexpr u64 store(u64 address, unsigned instruction, unsigned log2_bytes = 3) {
  return wire::Access::encode(address, instruction, log2_bytes, 1);
}

const std::vector<u8> nop{0x90}, jump_to_self{0xEB, 0xFE}, return_{0xC3}, syscall{0x0F, 0x05};
const std::vector<u8> load_rax{0x48, 0x8B, 0x07}, store_rax{0x48, 0x89, 0x07}, rep_movsb{0xF3, 0xA4};
const std::vector<u8> load_xmm0{0x0F, 0x28, 0x07}, add_to_memory{0x48, 0x01, 0x07}, push_memory{0xFF, 0x37};

std::vector<OwnedItem> runs_of(const std::vector<OwnedItem>& items) {
  std::vector<OwnedItem> runs;
  for (const OwnedItem& item : items)
    if (!item.side_band) runs.push_back(item);
  return runs;
}

template <class T>
std::vector<T> all(const std::vector<OwnedItem>& items) {
  std::vector<T> result;
  for (const OwnedItem& item : items)
    if (item.side_band && std::holds_alternative<T>(*item.side_band))
      result.push_back(std::get<T>(*item.side_band));
  return result;
}

TEST(TraceBuilder, ABlockGoesOnWhereTheNextOneBegins) {
  Plugin plugin;
  const u64 first = plugin.block(0x1000, {nop, nop}), second = plugin.block(0x1002, {return_});
  plugin.runs({run(first), run(second), store(0, 0), run(first)});
  const auto runs = runs_of(plugin.trace());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].next_ip, 0x1002u);
  EXPECT_EQ(runs[1].next_ip, 0x1000u);
  EXPECT_EQ(plugin.builder().instructions(), 5u);
}

TEST(TraceBuilder, EachEntryOfARepInstructionIsAnIterationOfOne) {
  Plugin plugin;
  const u64 with_nop = plugin.block(0x1000, {nop, rep_movsb}), alone = plugin.block(0x1001, {rep_movsb}),
            after = plugin.block(0x1003, {nop});
  plugin.runs({run(with_nop), load(0x10, 1, 0), store(0x20, 1, 0), run(alone), load(0x11, 0, 0),
               store(0x21, 0, 0), run(alone), run(after)});
  const auto runs = runs_of(plugin.trace());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_THAT(runs[0].rep_counts, ElementsAre(2u));
  EXPECT_THAT(runs[0].addresses, ElementsAre(0x20u, 0x10u));  // where to, then where from
  EXPECT_EQ(plugin.builder().instructions(), 3u);
}

TEST(TraceBuilder, ARepInstructionIsCountedWithoutAddressesToo) {
  Plugin plugin(RecordedAddresses::none);
  const u64 rep = plugin.block(0x1000, {rep_movsb}), after = plugin.block(0x1002, {nop});
  plugin.runs({run(rep), load(0x10, 0, 0), store(0x20, 0, 0), run(rep), run(after)});
  const auto runs = runs_of(plugin.trace());
  EXPECT_THAT(runs[0].rep_counts, ElementsAre(1u));
  EXPECT_THAT(runs[0].addresses, IsEmpty());
}

TEST(TraceBuilder, OperandsTakeTheirFirstAccess) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {load_xmm0, add_to_memory, push_memory, return_});
  plugin.runs({run(block), load(0x100, 0), load(0x108, 0),  // 16 bytes in two pieces
               load(0x200, 1), store(0x200, 1),             // one operand, read and written
               load(0x300, 2), store(0x400, 2), load(0x500, 3)});
  EXPECT_THAT(runs_of(plugin.trace())[0].addresses, ElementsAre(0x100u, 0x200u, 0x300u, 0x400u, 0x500u));
  EXPECT_EQ(plugin.builder().unknown_addresses(), 0u);
}

constexpr u64 stack = 0x7F00;

TEST(TraceBuilder, AFaultEndsABlockBeforeTheInstructionThatFaulted) {
  for (const auto addresses : {RecordedAddresses::all, RecordedAddresses::none}) {
    Plugin plugin(addresses);
    const u64 block = plugin.block(0x1000, {load_rax, store_rax, nop}), handler = plugin.block(0x9000, {nop});
    plugin.runs({run(block), load(0x100, 0)});
    plugin.handler(handler, {{SIGSEGV, 0x9000, 0x1003, stack}});
    const auto items = plugin.trace();
    const auto runs = runs_of(items);
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].code.size(), load_rax.size());
    EXPECT_EQ(runs[0].next_ip, 0x1003u);
    EXPECT_THAT(all<trace::SignalDelivery>(items), ElementsAre(trace::SignalDelivery{SIGSEGV, 0x9000}));
  }
}

TEST(TraceBuilder, AFaultAtALoopsStartLeavesNothingOfThatRound) {
  Plugin plugin;
  const u64 loop = plugin.block(0x1000, {load_rax, {0xEB, 0xFB}}), handler = plugin.block(0x9000, {return_});
  plugin.runs({run(loop), load(0x100, 0), run(loop)});
  plugin.handler(handler, {{SIGSEGV, 0x9000, 0x1000, stack}});
  EXPECT_EQ(plugin.builder().instructions(), 2u);
}

TEST(TraceBuilder, ASignalBetweenBlocksIsADelivery) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {nop}), handler = plugin.block(0x9000, {nop});
  plugin.runs({run(block)});
  plugin.handler(handler, {{SIGALRM, 0x9000, 0x1001, stack}});
  const auto items = plugin.trace();
  EXPECT_EQ(runs_of(items)[0].next_ip, 0x1001u);
  EXPECT_THAT(all<trace::SignalDelivery>(items), ElementsAre(trace::SignalDelivery{SIGALRM, 0x9000}));
}

TEST(TraceBuilder, ABranchBeforeASignalWentWhereTheProgramGoesOn) {
  Plugin plugin;
  const u64 branch = plugin.block(0x1000, {{0x75, 0x10}}), returning = plugin.block(0x1012, {return_}),
            handler = plugin.block(0x9000, {nop});
  plugin.runs({run(branch)});
  plugin.handler(handler, {{SIGALRM, 0x9000, 0x1012, stack}});
  plugin.runs({run(returning)});
  plugin.handler(handler, {{SIGALRM, 0x9000, 0x3000, stack}});
  const auto items = plugin.trace();
  EXPECT_EQ(runs_of(items)[0].next_ip, 0x1012u);
  EXPECT_EQ(runs_of(items)[2].next_ip, 0x3000u);
  EXPECT_EQ(all<trace::SignalDelivery>(items).size(), 2u);
}

TEST(TraceBuilder, ASignalAtTheEndOfASystemCallFollowsTheCall) {
  Plugin plugin;
  const u64 call = plugin.block(0x1000, {syscall}), handler = plugin.block(0x9000, {nop});
  plugin.runs({run(call)});
  plugin.result(SYS_tgkill, 0);
  plugin.handler(handler, {{SIGUSR1, 0x9000, 0x1002, stack}});
  const auto items = plugin.trace();
  ASSERT_EQ(items.size(), 5u);  // after a switch to the thread
  EXPECT_EQ(items[1].next_ip, 0x1002u);
  EXPECT_EQ(items[2].side_band, trace::SideBandRecord(trace::Syscall{SYS_tgkill, 0}));
  EXPECT_EQ(items[3].side_band, trace::SideBandRecord(trace::SignalDelivery{SIGUSR1, 0x9000}));
}

TEST(TraceBuilder, ASystemCallRestartedAfterASignalIsOne) {
  Plugin plugin;
  const u64 call = plugin.block(0x1000, {nop, syscall}), again = plugin.block(0x1001, {syscall}),
            handler = plugin.block(0x9000, {nop, syscall});
  plugin.runs({run(call)});
  plugin.result(SYS_wait4, -512);
  plugin.handler(handler, {{SIGCHLD, 0x9000, 0x1001, stack}});
  plugin.signal_returns(0x1001, stack);
  plugin.runs({run(again)});
  plugin.result(SYS_wait4, 5);
  EXPECT_EQ(plugin.builder().instructions(), 4u);
  const auto items = plugin.trace();
  EXPECT_EQ(all<trace::SignalDelivery>(items).size(), 1u);
  EXPECT_EQ(runs_of(items)[0].code.size(), 1u);
}

// Linux and qemu lay the second frame on the first, whose handler has not begun.
TEST(TraceBuilder, TwoSignalsAtOnceAreTwoDeliveries) {
  Plugin plugin;
  const u64 call = plugin.block(0x1000, {syscall}), handler = plugin.block(0x9000, {syscall});
  constexpr u64 first_frame = stack - 0x400;
  const wire::SignalFrame first{SIGUSR1, 0x9000, 0x1002, stack}, second{SIGUSR2, 0x9000, 0x9000, first_frame};
  plugin.runs({run(call)});
  plugin.result(SYS_rt_sigsuspend, -4);
  plugin.handler(handler, {first, second});
  plugin.signal_returns(0x9000, first_frame);
  plugin.handler(handler, {first});  // as it looks: the registers are those of its beginning
  plugin.signal_returns(0x1002, stack);
  const auto items = plugin.trace();
  EXPECT_THAT(all<trace::SignalDelivery>(items),
              ElementsAre(trace::SignalDelivery{SIGUSR1, 0x9000}, trace::SignalDelivery{SIGUSR2, 0x9000}));
  EXPECT_EQ(runs_of(items).size(), 3u);
}

TEST(TraceBuilder, AReturnInterruptedByTheNextSignalIsFollowedByIt) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {nop}), handler = plugin.block(0x9000, {syscall});
  plugin.runs({run(block)});
  for (int n = 0; n < 3; ++n) {
    plugin.handler(handler, {{SIGUSR1, 0x9000, 0x1001, stack}});
    plugin.signal_returns(0x1001, stack);
  }
  EXPECT_EQ(all<trace::SignalDelivery>(plugin.trace()).size(), 3u);
}

TEST(TraceBuilder, ALoopToAHandlersBeginningIsNoDelivery) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {nop}), handler = plugin.block(0x9000, {nop, {0x75, 0xFD}});
  const wire::SignalFrame frame{SIGUSR1, 0x9000, 0x1001, stack};
  plugin.runs({run(block)});
  for (int n = 0; n < 3; ++n) plugin.handler(handler, {frame});
  EXPECT_EQ(all<trace::SignalDelivery>(plugin.trace()).size(), 1u);
}

TEST(TraceBuilder, AKilledThreadHasWhatItsAccessesShow) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {load_rax, store_rax, nop});
  plugin.runs({run(block), load(0x100, 0)});
  plugin.send(wire::Kind::exit, 7, 7, {SIGSEGV});
  EXPECT_EQ(plugin.builder().instructions(), 1u);
}

TEST(TraceBuilder, SaysThatTheRegistersOfThisQemuAreNotFound) {
  Plugin plugin;
  plugin.send(wire::Kind::unknown_cpu, 7, 7, {});
  EXPECT_THAT(plugin.error, testing::HasSubstr("record with --step"));
}

TEST(TraceBuilder, ABlockReenteredInTheMiddleExecutedUpToThere) {  // an atomic step of qemu's
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {nop, nop, nop}), rest = plugin.block(0x1001, {nop, nop});
  plugin.runs({run(block), run(rest)});
  EXPECT_EQ(plugin.builder().instructions(), 1u);
  EXPECT_EQ(runs_of(plugin.trace())[0].code.size(), 1u);
}

TEST(TraceBuilder, ASystemCallRetiresWhenItReturns) {
  Plugin plugin;
  const u64 call = plugin.block(0x1000, {syscall});
  plugin.runs({run(call)});
  plugin.result(SYS_read, -512);  // interrupted: qemu repeats it
  EXPECT_EQ(plugin.builder().instructions(), 0u);
  plugin.runs({run(call)});
  plugin.result(SYS_read, 5);
  EXPECT_EQ(plugin.builder().instructions(), 1u);
  EXPECT_THAT(all<trace::Syscall>(plugin.trace()), ElementsAre(trace::Syscall{SYS_read, 5}));
}

TEST(TraceBuilder, AForkedProcessGoesOnWithTheBlocksOfItsParent) {
  Plugin plugin;
  const u64 block = plugin.block(0x1000, {nop});
  plugin.result(SYS_fork, 0, 8, 8, 7);
  plugin.runs({run(block)}, 8, 8);
  const auto items = plugin.trace();
  EXPECT_THAT(all<trace::ThreadStart>(items), ElementsAre(trace::ThreadStart{8, 8, 7, 7}));
  EXPECT_EQ(runs_of(items).size(), 1u);
  EXPECT_EQ(plugin.builder().processes(), 2u);
}

TEST(TraceBuilder, DamagedPacketsAreRefused) {
  Plugin unknown;
  unknown.runs({run(3)});
  EXPECT_THAT(unknown.error, testing::HasSubstr("not shown"));
  Plugin cut;
  cut.send(wire::Kind::block, 7, 7, {0x1000, 0, 400, 6000});
  EXPECT_THAT(cut.error, testing::HasSubstr("cannot be"));
}

}  // namespace
}  // namespace pmusim::qemu
