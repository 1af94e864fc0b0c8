// SPDX-License-Identifier: MIT
// Packets byte by byte, as SDM vol. 3, "Intel Processor Trace", "Trace Packets and Data Types" draws them.
#include "formats/pt_packets.h"

#include <gmock/gmock.h>

#include "formats/pt_thread.h"

namespace pmusim::formats {
namespace {

using testing::ElementsAre;

std::vector<unsigned> numbers(std::span<const std::byte> bytes) {
  std::vector<unsigned> result;
  for (const std::byte b : bytes) result.push_back(std::to_integer<unsigned>(b));
  return result;
}

TEST(PtPackets, SynchronizationIsEightPairs) {
  PtPackets out;
  out.psb();
  out.long_mode();
  out.end_psb();
  EXPECT_THAT(numbers(out.bytes()), ElementsAre(2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
                                                2, 0x82, 0x99, 1, 2, 0x23));
}

TEST(PtPackets, TimeHasSevenBytes) {
  PtPackets out;
  out.time(0xFF11223344556677);
  EXPECT_THAT(numbers(out.bytes()), ElementsAre(0x19, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11));
}

TEST(PtPackets, TheCoreBusRatioHasAByteAndAReservedOne) {
  PtPackets out;
  out.core_bus_ratio(0x23);
  EXPECT_THAT(numbers(out.bytes()), ElementsAre(0x02, 0x03, 0x23, 0x00));
}

TEST(PtPackets, CyclesHaveFiveBitsAndThenSevenInEachByte) {
  PtPackets out;
  out.cycles(31);
  out.cycles(32);
  out.cycles(31 + (127 << 5) + (1 << 12));
  EXPECT_THAT(numbers(out.bytes()),
              ElementsAre(0b11111'0'11, 0b00000'1'11, 0b0000001'0, 0b11111'1'11, 0xFF, 0b0000001'0));
}

TEST(PtPackets, SixBranchesFillAByteOldestHighest) {
  PtPackets out;
  for (const bool taken : {true, false, true, true, false, false}) out.branch(taken);
  EXPECT_THAT(numbers(out.bytes()), ElementsAre(0b1101'1000));
}

TEST(PtPackets, FewerBranchesPrecedeTheNextPacketWithAStopBit) {
  PtPackets out;
  out.branch(true);
  out.branch(false);
  EXPECT_TRUE(out.bytes().empty());
  out.no_address(PtAddressPacket::pgd);
  EXPECT_THAT(numbers(out.bytes()), ElementsAre(0b0000'1100, 0x01));
}

TEST(PtPackets, AddressesOmitBytesEqualToTheLastOnes) {
  PtPackets out;
  out.address(PtAddressPacket::pge, 0x7FFF12345678);      // 48 bits
  out.address(PtAddressPacket::tip, 0x7FFF12349ABC);      // 16
  out.address(PtAddressPacket::fup, 0x7FFFDEADBEEF);      // 32
  out.address(PtAddressPacket::tip, 0xFFFFFFFF80001000);  // 48, sign-extended
  out.address(PtAddressPacket::tip, 0x0123456789ABCDEF);  // all
  EXPECT_THAT(numbers(out.bytes()),
              ElementsAre(0x71, 0x78, 0x56, 0x34, 0x12, 0xFF, 0x7F, 0x2D, 0xBC, 0x9A, 0x5D, 0xEF, 0xBE, 0xAD,
                          0xDE, 0x6D, 0x00, 0x10, 0x00, 0x80, 0xFF, 0xFF, 0xCD, 0xEF, 0xCD, 0xAB, 0x89, 0x67,
                          0x45, 0x23, 0x01));
}

TEST(PtPackets, AddressesStartAnewAtSynchronization) {
  PtPackets out;
  out.address(PtAddressPacket::tip, 0x401000);
  out.psb();
  out.take_words();
  out.address(PtAddressPacket::tip, 0x401004);
  EXPECT_EQ(out.bytes().back(), std::byte{0x00});
  EXPECT_EQ(out.bytes().at(out.bytes().size() - 5), std::byte{0x4D});  // 32 bits, not 16
}

/// A block whose code is one instruction.
trace::Block block_of(std::span<const u8> code, u64 ip) {
  trace::Block block;
  block.code.assign(std::as_bytes(code).begin(), std::as_bytes(code).end());
  block.instructions.push_back(x86::decode(block.code, ip));
  return block;
}
constexpr u8 nop[] = {0x90}, call_of_system[] = {0x0F, 0x05};

TEST(PtThread, EndsAtSystemCallsAndGoesOnBehindThem) {
  const trace::Block call = block_of(call_of_system, 0x401000), next = block_of(nop, 0x401002);
  PtThread thread;
  thread.run({.block = &call, .next_ip = 0x401002}, 1, PtThread::Before::itself);
  thread.run({.block = &next, .next_ip = 0x401003}, 3, PtThread::Before::itself);
  thread.stop();
  auto bytes = numbers(thread.take_words());
  constexpr std::ptrdiff_t synchronization = 16 + 8 + 2 + 2;
  bytes.erase(bytes.begin(), bytes.begin() + synchronization);
  EXPECT_THAT(bytes, ElementsAre(0x51, 0x00, 0x10, 0x40, 0x00, 0x01,  // TIP.PGE 0x401000, TIP.PGD
                                 0x19, 3, 0, 0, 0, 0, 0, 0,           // TSC
                                 0x31, 0x02, 0x10,                    // TIP.PGE 0x401002
                                 0x3D, 0x03, 0x10, 0x01,              // FUP 0x401003, TIP.PGD
                                 0, 0, 0, 0, 0, 0, 0));
}

TEST(PtThread, ShowsWhereASignalInterruptedIt) {
  const trace::Block before = block_of(nop, 0x401000), handler = block_of(nop, 0x402000);
  PtThread thread;
  thread.run({.block = &before, .next_ip = 0x401001}, 1, PtThread::Before::itself);
  const std::size_t bytes = thread.size();
  thread.run({.block = &handler, .next_ip = 0x402001}, 3, PtThread::Before::itself);
  EXPECT_EQ(thread.size(), bytes + 3 + 1 + 8 + 3) << "FUP, TIP.PGD, TSC, TIP.PGE";
}

}  // namespace
}  // namespace pmusim::formats
