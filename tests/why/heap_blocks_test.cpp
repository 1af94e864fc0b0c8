// SPDX-License-Identifier: MIT
// Blocks of the heap, from the registers at calls and returns.
#include "why/heap_blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace pmusim::why {
namespace {

constexpr u64 new_ = 0x1000, malloc_ = 0x2000, free_ = 0x3000, realloc_ = 0x4000, caller = 0x9000,
              stack = 0x7000;

class HeapBlocksTest : public testing::Test {
 protected:
  HeapBlocksTest() {
    heap.take(trace::ProcessStart{.pid = 1, .tid = 1, .command = "a", .exec = true});
    heap.add_function(1, new_, *heap_call("_Znwm"));
    heap.add_function(1, malloc_, *heap_call("malloc"));
    heap.add_function(1, free_, *heap_call("free"));
    heap.add_function(1, realloc_, *heap_call("realloc"));
  }
  /// A block of code of one instruction, and the registers behind it.
  HeapChange run(u64 ip, BranchKind branch, u64 next, u64 rsp, u64 rax = 0, u64 rdi = 0, u64 rsi = 0) {
    block_.instructions.assign(1, {.ip = ip, .length = 4, .branch = branch});
    registers_ = {};
    registers_[Gpr::rsp] = rsp;
    registers_[Gpr::rax] = rax;
    registers_[Gpr::rdi] = rdi;
    registers_[Gpr::rsi] = rsi;
    return heap.run({.block = &block_, .next_ip = next, .registers = {&registers_, 1}});
  }
  void call(u64 function, u64 rsp, u64 rdi, u64 rsi = 0, u64 from = caller) {
    run(from, BranchKind::direct_call, function, rsp - 8, 0, rdi, rsi);
  }
  HeapChange give_back(u64 from, u64 rsp, u64 rax, u64 to = caller + 4) {
    return run(from, BranchKind::near_return, to, rsp, rax);
  }

  HeapBlocks heap;

 private:
  trace::Block block_;
  Registers registers_;
};

TEST_F(HeapBlocksTest, ABlockLivesFromTheReturnUntilItIsFreed) {
  call(malloc_, stack, 24);
  EXPECT_EQ(heap.find(0x100), nullptr);
  const HeapChange change = give_back(malloc_, stack, 0x100);
  ASSERT_NE(change.given, nullptr);
  EXPECT_EQ(change.given->site, caller + 4);
  EXPECT_NE(heap.find(0x117), nullptr);
  EXPECT_EQ(heap.find(0x118), nullptr);
  call(free_, stack, 0x100);
  EXPECT_TRUE(run(free_, BranchKind::near_return, caller + 4, stack).released);
  EXPECT_EQ(heap.find(0x100), nullptr);
}

TEST_F(HeapBlocksTest, OfNestedCallsTheOutermostAsked) {
  call(new_, stack, 16);
  call(malloc_, stack - 16, 16, 0, new_);
  EXPECT_EQ(give_back(malloc_, stack - 16, 0x100, new_ + 4).given, nullptr);
  const HeapChange change = give_back(new_ + 4, stack, 0x100);
  ASSERT_NE(change.given, nullptr);
  EXPECT_EQ(change.given->site, caller + 4);
}

TEST_F(HeapBlocksTest, AReallocThatFailsLeavesTheBlock) {
  call(malloc_, stack, 8);
  give_back(malloc_, stack, 0x100);
  call(realloc_, stack, 0x100, 32);
  EXPECT_EQ(give_back(realloc_, stack, 0).given, nullptr);
  EXPECT_NE(heap.find(0x100), nullptr);
  call(realloc_, stack, 0x100, 32);
  EXPECT_NE(give_back(realloc_, stack, 0x200).given, nullptr);
  EXPECT_EQ(heap.find(0x100), nullptr);
  EXPECT_NE(heap.find(0x21F), nullptr);
}

TEST_F(HeapBlocksTest, AnExceptionEndsTheCall) {
  call(new_, stack, 16);
  EXPECT_EQ(run(0x8000, BranchKind::indirect_jump, caller + 64, stack + 256, 0x100).given, nullptr);
  EXPECT_EQ(heap.find(0x100), nullptr);
  call(malloc_, stack, 16);
  EXPECT_NE(give_back(malloc_, stack, 0x100).given, nullptr);
}

TEST_F(HeapBlocksTest, ThreadsAskAtTheSameTime) {
  heap.take(trace::ThreadStart{.pid = 1, .tid = 2, .parent_pid = 1, .parent_tid = 1});
  call(malloc_, stack, 16);
  heap.take(trace::ThreadSwitch{.pid = 1, .tid = 2});
  call(malloc_, 2 * stack, 64);
  heap.take(trace::ThreadSwitch{.pid = 1, .tid = 1});
  EXPECT_EQ(give_back(malloc_, stack, 0x100).given->end, 0x110u);
  heap.take(trace::ThreadSwitch{.pid = 1, .tid = 2});
  EXPECT_EQ(give_back(malloc_, 2 * stack, 0x200).given->end, 0x240u);
}

TEST_F(HeapBlocksTest, AChildHasTheBlocksOfItsParent) {
  call(malloc_, stack, 16);
  give_back(malloc_, stack, 0x100);
  heap.take(trace::ThreadStart{.pid = 2, .tid = 2, .parent_pid = 1, .parent_tid = 1});
  heap.take(trace::ThreadSwitch{.pid = 2, .tid = 2});
  EXPECT_NE(heap.find(0x100), nullptr);
  heap.take(trace::ProcessStart{.pid = 2, .tid = 2, .command = "b", .exec = true});
  EXPECT_EQ(heap.find(0x100), nullptr);
}

TEST_F(HeapBlocksTest, WithoutRegistersNothingIsKnown) {
  trace::Block block;
  block.instructions.assign(1, {.ip = malloc_, .length = 4});
  EXPECT_EQ(heap.run({.block = &block, .next_ip = malloc_ + 4}).given, nullptr);
}

}  // namespace
}  // namespace pmusim::why
