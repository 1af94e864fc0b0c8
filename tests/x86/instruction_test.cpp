// SPDX-License-Identifier: MIT
#include "pmusim/x86/instruction.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace pmusim::x86 {
namespace {

std::vector<std::byte> code(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int v : values) result.push_back(static_cast<std::byte>(v));
  return result;
}

Instruction decode_at(u64 ip, std::initializer_list<int> bytes) { return decode(code(bytes), ip); }
Instruction decode_bytes(std::initializer_list<int> bytes) { return decode_at(0x401000, bytes); }
BranchKind kind_of(std::initializer_list<int> bytes) { return decode_bytes(bytes).branch; }

// --- branches -----------------------------------------------------------------------------------------

TEST(Decode, NearBranchesAreSortedByTargetForm) {
  EXPECT_EQ(kind_of({0x74, 0x02}), BranchKind::conditional);              // je
  EXPECT_EQ(kind_of({0x0F, 0x85, 0, 0, 0, 0}), BranchKind::conditional);  // jne rel32
  EXPECT_EQ(kind_of({0xE2, 0xFE}), BranchKind::conditional);              // loop
  EXPECT_EQ(kind_of({0xE3, 0x00}), BranchKind::conditional);              // jrcxz
  EXPECT_EQ(kind_of({0xEB, 0x00}), BranchKind::direct_jump);
  EXPECT_EQ(kind_of({0xFF, 0xE0}), BranchKind::indirect_jump);  // jmp rax
  EXPECT_EQ(kind_of({0xE8, 0, 0, 0, 0}), BranchKind::direct_call);
  EXPECT_EQ(kind_of({0xFF, 0x10}), BranchKind::indirect_call);  // call [rax]
  EXPECT_EQ(kind_of({0xC3}), BranchKind::near_return);
  EXPECT_EQ(kind_of({0xF3, 0xC3}), BranchKind::near_return);  // rep ret
}

TEST(Decode, FarBranchesAreNotNear) {
  EXPECT_EQ(kind_of({0xFF, 0x28}), BranchKind::far_jump);
  EXPECT_EQ(kind_of({0xFF, 0x18}), BranchKind::far_call);
  EXPECT_EQ(kind_of({0xCB}), BranchKind::far_return);
  EXPECT_EQ(kind_of({0x48, 0xCF}), BranchKind::interrupt_return);  // iretq
  EXPECT_EQ(kind_of({0x0F, 0x05}), BranchKind::syscall);
  EXPECT_EQ(kind_of({0x48, 0x0F, 0x07}), BranchKind::sysret);
  EXPECT_EQ(kind_of({0xCC}), BranchKind::software_interrupt);
  EXPECT_EQ(kind_of({0xCD, 0x80}), BranchKind::software_interrupt);
  const Instruction syscall = decode_bytes({0x0F, 0x05});
  EXPECT_TRUE(syscall.signals.contains({Signal::branch, Signal::far_branch}));
  EXPECT_FALSE(syscall.signals.has(Signal::near_branch));
}

TEST(Decode, TransactionInstructionsAreNoBranches) {
  const Instruction xbegin = decode_bytes({0xC7, 0xF8, 0x10, 0, 0, 0});
  EXPECT_EQ(xbegin.branch, BranchKind::none);
  EXPECT_EQ(xbegin.target, 0x401016u);
  EXPECT_EQ(xbegin.signals, (SignalSet{Signal::instruction, Signal::tx_start}));
  const Instruction xend = decode_bytes({0x0F, 0x01, 0xD5});
  EXPECT_EQ(xend.signals, (SignalSet{Signal::instruction, Signal::tx_commit}));
  const Instruction xabort = decode_bytes({0xC6, 0xF8, 0x01});
  EXPECT_EQ(xabort.branch, BranchKind::none);
  EXPECT_EQ(xabort.target, 0u);
}

TEST(Decode, ADirectBranchKnowsItsTarget) {
  EXPECT_EQ(decode_at(0x401000, {0xEB, 0xFE}).target, 0x401000u);  // jmp to itself
  EXPECT_EQ(decode_at(0x401000, {0xE8, 0xFB, 0x0F, 0, 0}).target, 0x402000u);
  EXPECT_EQ(decode_bytes({0xFF, 0xE0}).target, 0u);
}

TEST(Decode, BranchSignalsNameEveryKindTheEventsCount) {
  using enum Signal;
  const auto signals = [](std::initializer_list<int> bytes) { return decode_bytes(bytes).signals; };
  EXPECT_EQ(signals({0x74, 0x02}), (SignalSet{instruction, branch, near_branch, conditional}));
  EXPECT_EQ(signals({0xFF, 0xE0}), (SignalSet{instruction, branch, near_branch, indirect, indirect_jump}));
  EXPECT_EQ(signals({0xFF, 0x10}),
            (SignalSet{instruction, branch, near_branch, near_call, indirect, indirect_call, load, store}));
  EXPECT_EQ(signals({0xC3}), (SignalSet{instruction, branch, near_branch, near_return, load}));
}

TEST(ClassifyBranch, RecognizesTheZeroLengthCall) {
  const BranchClass get_ip = classify_branch(code({0xE8, 0, 0, 0, 0}), 0x1000);
  EXPECT_EQ(get_ip.kind, BranchKind::direct_call);
  EXPECT_EQ(get_ip.length, 5);
  EXPECT_TRUE(get_ip.zero_length_call);
  EXPECT_FALSE(classify_branch(code({0xE8, 1, 0, 0, 0}), 0x1000).zero_length_call);
  EXPECT_FALSE(classify_branch(code({0xEB, 0}), 0x1000).zero_length_call);
  EXPECT_EQ(classify_branch(code({0x90}), 0x1000).kind, BranchKind::none);
  EXPECT_EQ(classify_branch(code({0x06}), 0x1000).length, 0);
}

TEST(Decode, BytesThatAreNoInstructionHaveLengthZero) {
  EXPECT_EQ(decode_bytes({0x06}).length, 0);        // not in 64-bit mode
  EXPECT_EQ(decode_bytes({0xE8, 0, 0}).length, 0);  // cut off
  EXPECT_EQ(decode({}, 0x1000).length, 0);
}

// --- memory -----------------------------------------------------------------------------------------------

struct Access {
  u64 address;
  unsigned bytes;
  bool load, store;
  friend bool operator==(const Access&, const Access&) = default;
};

// rax = 0x1000, rcx = 0x10, rbx = 0x3000, rsp = 0x7000, rsi = 0x5000, rdi = 0x6000, fs at 0xF000, gs at
// 0xE000
std::vector<Access> accesses(std::initializer_list<int> bytes) {
  Registers r;
  r[Gpr::rax] = 0x1000, r[Gpr::rcx] = 0x10, r[Gpr::rbx] = 0x3000, r[Gpr::rsp] = 0x7000;
  r[Gpr::rsi] = 0x5000, r[Gpr::rdi] = 0x6000;
  const Instruction i = decode_bytes(bytes);
  std::vector<Access> result;
  for (const MemoryOperand& m : i.accesses()) {
    result.push_back({effective_address(i, m, r, 0xF000, 0xE000), m.bytes, m.load, m.store});
  }
  return result;
}
using Accesses = std::vector<Access>;

TEST(Memory, ExplicitOperandsFollowBaseIndexScaleAndDisplacement) {
  EXPECT_EQ(accesses({0x48, 0x8B, 0x44, 0x88, 0x08}), (Accesses{{0x1048, 8, true, false}}));  // rax+rcx*4+8
  EXPECT_EQ(accesses({0x89, 0x08}), (Accesses{{0x1000, 4, false, true}}));       // mov [rax], ecx
  EXPECT_EQ(accesses({0x83, 0x00, 0x01}), (Accesses{{0x1000, 4, true, true}}));  // add [rax], 1
  EXPECT_EQ(accesses({0x48, 0x8B, 0x05, 0x10, 0, 0, 0}), (Accesses{{0x401017, 8, true, false}}));  // rip+16
  EXPECT_EQ(accesses({0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0}), (Accesses{{0xF028, 8, true, false}}));
  EXPECT_EQ(accesses({0x65, 0x8B, 0x00}), (Accesses{{0xF000, 4, true, false}}));       // gs:[rax]
  EXPECT_EQ(accesses({0x67, 0x8B, 0x40, 0x80}), (Accesses{{0xF80, 4, true, false}}));  // [eax-0x80]
}

TEST(Memory, StackAccessesAreWhereTheDataGoes) {
  EXPECT_EQ(accesses({0x50}), (Accesses{{0x6FF8, 8, false, true}}));              // push rax
  EXPECT_EQ(accesses({0x58}), (Accesses{{0x7000, 8, true, false}}));              // pop rax
  EXPECT_EQ(accesses({0xE8, 0, 0, 0, 0}), (Accesses{{0x6FF8, 8, false, true}}));  // call
  EXPECT_EQ(accesses({0xC3}), (Accesses{{0x7000, 8, true, false}}));              // ret
  EXPECT_EQ(accesses({0xFF, 0x30}), (Accesses{{0x1000, 8, true, false}, {0x6FF8, 8, false, true}}));
  EXPECT_EQ(accesses({0x8F, 0x04, 0x24}), (Accesses{{0x7008, 8, false, true}, {0x7000, 8, true, false}}));
}

TEST(Memory, StringInstructionsAccessThroughRsiAndRdi) {
  EXPECT_EQ(accesses({0xF3, 0x48, 0xA5}), (Accesses{{0x6000, 8, false, true}, {0x5000, 8, true, false}}));
  EXPECT_EQ(accesses({0xAA}), (Accesses{{0x6000, 1, false, true}}));  // stosb
  EXPECT_EQ(accesses({0xD7}), (Accesses{{0x3000, 1, true, false}}));  // xlat: rbx + al, al = 0
}

TEST(Memory, WhatLooksLikeAnAccessButIsNone) {
  EXPECT_TRUE(accesses({0x48, 0x8D, 0x00}).empty());  // lea
  EXPECT_TRUE(accesses({0x0F, 0x1F, 0x00}).empty());  // nop [rax]
  EXPECT_TRUE(accesses({0x0F, 0x18, 0x08}).empty());  // prefetcht0
  EXPECT_TRUE(accesses({0x0F, 0xAE, 0x38}).empty());  // clflush [rax]
  EXPECT_TRUE(decode_bytes({0x0F, 0xAE, 0x38}).flushes_line);
  EXPECT_EQ(decode_bytes({0x0F, 0xAE, 0x38}).flushed_line.base, 0);
  EXPECT_TRUE(decode_bytes({0x0F, 0x18, 0x08}).signals.has(Signal::prefetch));
  EXPECT_FALSE(decode_bytes({0x0F, 0x18, 0x08}).signals.has(Signal::load));
  EXPECT_TRUE(decode_bytes({0x0F, 0x1F, 0x00}).signals.has(Signal::nop));
  EXPECT_TRUE(decode_bytes({0xF3, 0x0F, 0x1E, 0xFA}).signals.has(Signal::nop));  // endbr64
}

TEST(Memory, AGatherIsOneElementAtItsBase) {
  const Instruction gather = decode_bytes({0xC4, 0xE2, 0xE9, 0x92, 0x04, 0x08});  // vgatherdpd
  ASSERT_EQ(gather.memory_operands, 1);
  EXPECT_TRUE(gather.memory[0].vector_index);
  EXPECT_EQ(gather.memory[0].bytes, 8);
  EXPECT_EQ(gather.memory[0].index, 0xFF);
}

// --- other static facts ------------------------------------------------------------------------------------

TEST(Decode, RepIsAFactOfStringInstructionsOnly) {
  EXPECT_TRUE(decode_bytes({0xF3, 0xA4}).rep);   // rep movsb
  EXPECT_TRUE(decode_bytes({0xF2, 0xAE}).rep);   // repne scasb
  EXPECT_FALSE(decode_bytes({0xA4}).rep);        // movsb
  EXPECT_FALSE(decode_bytes({0xF3, 0xC3}).rep);  // rep ret
  EXPECT_FALSE(decode_bytes({0xF3, 0x90}).rep);  // pause
  EXPECT_TRUE(decode_bytes({0xF3, 0xA4}).signals.contains({Signal::rep_string, Signal::load, Signal::store}));
}

TEST(Decode, ExchangeWithMemoryLocksWithoutAPrefix) {
  EXPECT_TRUE(decode_bytes({0x87, 0x08}).locked);              // xchg [rax], ecx
  EXPECT_TRUE(decode_bytes({0xF0, 0x0F, 0xB1, 0x08}).locked);  // lock cmpxchg
  EXPECT_FALSE(decode_bytes({0x0F, 0xB1, 0x08}).locked);       // cmpxchg
  EXPECT_FALSE(decode_bytes({0x87, 0xC8}).locked);             // xchg eax, ecx
}

TEST(Decode, FpArithmeticIsSortedByWidthAndElement) {
  using enum Signal;
  const auto has = [](Signal s, std::initializer_list<int> bytes) {
    return decode_bytes(bytes).signals.has(s);
  };
  EXPECT_TRUE(has(fp_scalar_single, {0xF3, 0x0F, 0x58, 0xC1}));                  // addss
  EXPECT_TRUE(has(fp_scalar_double, {0xF2, 0x0F, 0x59, 0xC1}));                  // mulsd
  EXPECT_TRUE(has(fp_packed_128_single, {0x0F, 0x58, 0xC1}));                    // addps
  EXPECT_TRUE(has(fp_packed_128_double, {0x66, 0x0F, 0x5E, 0xC1}));              // divpd
  EXPECT_TRUE(has(fp_packed_256_single, {0xC5, 0xF4, 0x58, 0xC1}));              // vaddps ymm
  EXPECT_TRUE(has(fp_packed_256_double, {0xC4, 0xE2, 0xF5, 0xB8, 0xC1}));        // vfmadd231pd ymm
  EXPECT_TRUE(has(fp_packed_512_single, {0x62, 0xF1, 0x7C, 0x48, 0x58, 0xC1}));  // vaddps zmm
  EXPECT_TRUE(has(fp_packed_128_single, {0x0F, 0x52, 0xC1}));                    // rsqrtps
  EXPECT_TRUE(has(x87, {0xD8, 0xC1}));                                           // fadd
  EXPECT_EQ(decode_bytes({0x0F, 0x2E, 0xC1}).signals, SignalSet{instruction});   // ucomiss
  EXPECT_EQ(decode_bytes({0x0F, 0x28, 0xC1}).signals,
            (SignalSet{instruction, vector_register_move}));  // movaps
}

TEST(Decode, VectorIntegersAreSortedByWidthAndKind) {
  using enum Signal;
  const auto signals = [](std::initializer_list<int> bytes) { return decode_bytes(bytes).signals; };
  EXPECT_TRUE(signals({0x0F, 0xFC, 0xC1}).contains({vector_integer_64, vector_arithmetic}));       // paddb mm
  EXPECT_TRUE(signals({0x66, 0x0F, 0xDB, 0xC1}).contains({vector_integer_128, vector_logical}));   // pand
  EXPECT_TRUE(signals({0x66, 0x0F, 0xF1, 0xC1}).contains({vector_integer_128, vector_shift}));     // psllw
  EXPECT_TRUE(signals({0xC5, 0xF5, 0xD5, 0xC1}).contains({vector_integer_256, vector_multiply}));  // vpmullw
  EXPECT_TRUE(signals({0x66, 0x0F, 0x63, 0xC1}).contains({vector_integer_128, vector_pack}));      // packsswb
  EXPECT_TRUE(signals({0x66, 0x0F, 0x60, 0xC1}).contains({vector_integer_128, vector_unpack}));  // punpcklbw
  EXPECT_TRUE(signals({0x66, 0x0F, 0x70, 0xC1, 0}).contains({vector_integer_128, vector_shuffle}));  // pshufd
  EXPECT_FALSE(signals({0x50}).has(vector_arithmetic));                                              // push
  EXPECT_FALSE(signals({0xF3, 0x0F, 0xB8, 0xC1}).has(vector_integer_128));                           // popcnt
}

TEST(Decode, HalfPrecisionPrefetchesAndMovesHaveSignals) {
  using enum Signal;
  const auto has = [](Signal s, std::initializer_list<int> bytes) {
    return decode_bytes(bytes).signals.has(s);
  };
  EXPECT_TRUE(has(fp_scalar_half, {0x62, 0xF5, 0x76, 0x08, 0x58, 0xC1}));      // vaddsh
  EXPECT_TRUE(has(fp_packed_256_half, {0x62, 0xF5, 0x74, 0x28, 0x58, 0xC1}));  // vaddph ymm
  EXPECT_TRUE(has(fp_complex_half, {0x62, 0xF6, 0x76, 0x08, 0xD7, 0xC1}));     // vfmulcsh
  EXPECT_TRUE(has(prefetch_nta, {0x0F, 0x18, 0x07}));
  EXPECT_TRUE(has(prefetch_t0, {0x0F, 0x18, 0x0F}));
  EXPECT_TRUE(has(prefetch_t1_t2, {0x0F, 0x18, 0x1F}));
  EXPECT_TRUE(has(prefetch_write, {0x0F, 0x0D, 0x0F}));
  EXPECT_TRUE(has(register_move, {0x89, 0xC8}));
  EXPECT_TRUE(has(multiply, {0x0F, 0xAF, 0xC1}));
  EXPECT_TRUE(has(slow_lea, {0x8D, 0x44, 0x0A, 0x08}));
  EXPECT_TRUE(has(load_fence, {0x0F, 0xAE, 0xE8}));
}

TEST(Decode, ExecutionClassesAndUops) {
  EXPECT_EQ(decode_bytes({0x01, 0xC8}).execution, ExecutionClass::simple);
  EXPECT_EQ(decode_bytes({0x0F, 0xAF, 0xC1}).execution, ExecutionClass::multiply);
  EXPECT_EQ(decode_bytes({0xF7, 0xF1}).execution, ExecutionClass::divide);
  EXPECT_TRUE(decode_bytes({0xF7, 0xF1}).signals.has(Signal::divide));
  EXPECT_EQ(decode_bytes({0x8B, 0x00}).execution, ExecutionClass::load_only);
  EXPECT_EQ(decode_bytes({0x89, 0x00}).execution, ExecutionClass::store_only);
  EXPECT_EQ(decode_bytes({0x0F, 0xA2}).execution, ExecutionClass::serializing);
  EXPECT_TRUE(decode_bytes({0x0F, 0xA2}).signals.contains({Signal::serializing, Signal::microcoded}));
  EXPECT_EQ(decode_bytes({0x66, 0x0F, 0xFE, 0xC1}).execution, ExecutionClass::vector);  // paddd
  EXPECT_EQ(decode_bytes({0x8B, 0x00}).uops, 1);
  EXPECT_EQ(decode_bytes({0x83, 0x00, 0x01}).uops, 2);
  EXPECT_EQ(decode_bytes({0xE8, 0, 0, 0, 0}).uops, 2);
}

TEST(Disassemble, PrintsIntelSyntaxWithAbsoluteTargets) {
  EXPECT_EQ(disassemble(code({0x48, 0x89, 0xE5}), 0x1000), "mov rbp, rsp");
  EXPECT_EQ(disassemble(code({0x74, 0x10}), 0x401000), "jz 0x0000000000401012");
  EXPECT_EQ(disassemble(code({0x06}), 0x1000), "(bad)");
}

}  // namespace
}  // namespace pmusim::x86
