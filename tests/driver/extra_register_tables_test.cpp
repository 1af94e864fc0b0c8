// SPDX-License-Identifier: MIT
// Every extra register of every core (Linux: intel_*_extra_regs), with the masks of SDM vol. 4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

constexpr u32 LD_LAT = msr::PEBS_LD_LAT_THRESHOLD, FRONTEND = msr::PEBS_FRONTEND, RSP_0 = msr::OFFCORE_RSP_0,
              RSP_1 = msr::OFFCORE_RSP_1, SNOOP_0 = msr::SNOOP_RSP_0, SNOOP_1 = msr::SNOOP_RSP_1;

struct ExtraRegister {
  u16 event;
  u32 address;
  u64 takes;
  unsigned values;  ///< different ones that a group of such events can have: itself and its stand-ins
};

struct ExtraRegisters {
  const char* core;
  FakeBus cpu;
  std::vector<ExtraRegister> registers;
  perf::Kernel kernel = perf::Kernel::v7_1;
};

void PrintTo(const ExtraRegisters& core, std::ostream* out) { *out << core.core; }

std::vector<ExtraRegisters> all_extra_registers() {
  const ExtraRegister load_latency{0x01CD, LD_LAT, 0xFFFF, 1}, atom_load_latency{0x05D0, LD_LAT, 0xFFFF, 1},
      snoop_0{0x0127, SNOOP_0, ~u64{0}, 1}, snoop_1{0x0227, SNOOP_1, ~u64{0}, 1};
  constexpr u64 sandy_bridge_client = 0x3F'807F'8FFF, sandy_bridge_server = 0x3F'FFFF'8FFF,
                ice_lake_takes = 0x3F'FFFF'BFFF, golden_cove_takes = 0x3F'FFFF'FFFF,
                lion_cove_takes = 0xFFF'FFFF'FFFF, panther_cove_takes = 0x40FF'FFFF'0000'FFFF,
                arctic_wolf_takes = 0xC0FF'FFFF'FFFF'FFFF;
  const auto p_core = [&](u64 takes) {
    return std::vector<ExtraRegister>{{0x01B7, RSP_0, takes, 2}, {0x01BB, RSP_1, takes, 2}, load_latency};
  };
  const auto with = [](std::vector<ExtraRegister> registers, std::initializer_list<ExtraRegister> more) {
    registers.insert(registers.end(), more);
    return registers;
  };
  const std::vector<ExtraRegister> redwood_cove_frontend{
      {0x02C6, FRONTEND, 0x9, 1}, {0x03C6, FRONTEND, 0x7F'FF1F, 1}, {0x04C2, FRONTEND, 0x8, 1}};
  const std::vector<ExtraRegister> crestmont{{0x01B7, RSP_0, 0x800F'F3FF'FFFF'FFFF, 2},
                                             {0x02B7, RSP_1, 0x000F'F3FF'FFFF'FFFF, 2},
                                             atom_load_latency,
                                             snoop_0,
                                             snoop_1};
  return {
      {"NHM", part(6, 0x1A), {{0x01B7, RSP_0, 0xFFFF, 1}, {0x100B, LD_LAT, 0xFFFF, 1}}},
      {"WSM",
       part(6, 0x25),
       {{0x01B7, RSP_0, 0xFFFF, 2}, {0x01BB, RSP_1, 0xFFFF, 2}, {0x100B, LD_LAT, 0xFFFF, 1}}},
      {"SNB", part(6, 0x2A), p_core(sandy_bridge_client)},
      {"SNB-EP", part(6, 0x2D), p_core(sandy_bridge_server)},
      {"IVB", part(6, 0x3A), p_core(sandy_bridge_client)},
      {"IVB-EP", part(6, 0x3E), p_core(sandy_bridge_server)},
      {"HSW", part(6, 0x3C), p_core(sandy_bridge_server)},
      {"BDW", part(6, 0x3D), p_core(sandy_bridge_server)},
      {"SKL", part(6, 0x5E), with(p_core(sandy_bridge_server), {{0x01C6, FRONTEND, 0x7F'FF17, 1}})},
      {"CLX", part(6, 0x55), with(p_core(sandy_bridge_server), {{0x01C6, FRONTEND, 0x7F'FF17, 1}})},
      {"ICL", part(6, 0x7E), with(p_core(ice_lake_takes), {{0x01C6, FRONTEND, 0x7F'FF17, 1}})},
      {"GLC",
       part(6, 0x8F),
       {{0x012A, RSP_0, golden_cove_takes, 2},
        {0x012B, RSP_1, golden_cove_takes, 2},
        load_latency,
        {0x01C6, FRONTEND, 0x7F'FF1F, 1},
        {0x40AD, FRONTEND, 0x7, 1},
        {0x04C2, FRONTEND, 0x8, 1}}},
      {"RWC", part(6, 0xAD),
       with(redwood_cove_frontend, {{0x012A, RSP_0, golden_cove_takes, 2},
                                    {0x012B, RSP_1, golden_cove_takes, 2},
                                    load_latency,
                                    {0x40AD, FRONTEND, 0x7, 1}})},
      {"LNC", part(6, 0xBD),
       with(redwood_cove_frontend, {{0x012A, RSP_0, lion_cove_takes, 2},
                                    {0x012B, RSP_1, lion_cove_takes, 2},
                                    load_latency,
                                    {0x40AD, FRONTEND, 0xF, 1}})},
      {"PNC", part(19, 0x01),
       with(redwood_cove_frontend, {{0x012A, msr::OMR_0, panther_cove_takes, 4},
                                    {0x022A, msr::OMR_0 + 1, panther_cove_takes, 4},
                                    {0x042A, msr::OMR_0 + 2, panther_cove_takes, 4},
                                    {0x082A, msr::OMR_0 + 3, panther_cove_takes, 4},
                                    {0x014F, msr::OMR_0, panther_cove_takes, 4},
                                    {0x024F, msr::OMR_0 + 1, panther_cove_takes, 4},
                                    {0x044F, msr::OMR_0 + 2, panther_cove_takes, 4},
                                    {0x084F, msr::OMR_0 + 3, panther_cove_takes, 4},
                                    {0x01D6, msr::OMR_0, panther_cove_takes, 4},
                                    {0x02D6, msr::OMR_0 + 1, panther_cove_takes, 4},
                                    {0x04D6, msr::OMR_0 + 2, panther_cove_takes, 4},
                                    {0x08D6, msr::OMR_0 + 3, panther_cove_takes, 4},
                                    load_latency,
                                    {0x40AD, FRONTEND, 0xF, 1}})},
      {"SLM", part(6, 0x37), {{0x01B7, RSP_0, 0x76'8005'FFFF, 2}, {0x02B7, RSP_1, 0x36'8005'FFFF, 2}}},
      {"KNL", part(6, 0x57), {{0x01B7, RSP_0, 0x79'9FFB'B6E7, 2}, {0x02B7, RSP_1, 0x39'9FFB'FFE7, 2}}},
      {"GLM", part(6, 0x5C), {{0x01B7, RSP_0, 0x76'0005'FFBF, 2}, {0x02B7, RSP_1, 0x36'0005'FFBF, 2}}},
      {"GLP", part(6, 0x7A), {{0x01B7, RSP_0, 0x76'0005'FFBF, 2}, {0x02B7, RSP_1, 0x36'0005'FFBF, 2}}},
      {"TNT",
       part(6, 0x86),
       {{0x01B7, RSP_0, 0x800F'F0FF'FFFF'9FFF, 2}, {0x02B7, RSP_1, 0x000F'F0FF'FFFF'9FFF, 2}}},
      {"GRT",
       part(6, 0xBE),
       {{0x01B7, RSP_0, 0x3F'FFFF'FFFF, 2}, {0x02B7, RSP_1, 0x3F'FFFF'FFFF, 2}, atom_load_latency}},
      {"GRT-7.3",
       part(6, 0xBE),
       {{0x01B7, RSP_0, 0x8003'F03F'FFFF'FFFF, 2},
        {0x02B7, RSP_1, 0x0003'F03F'FFFF'FFFF, 2},
        atom_load_latency},
       perf::Kernel::v7_3},
      {"CMT", part(6, 0xAF), crestmont},
      {"SKT", e_core_of(6, 0xBD), crestmont},
      {"DKT", part(6, 0xDD), crestmont},
      {"ARW",
       e_core_of(18, 0x01),
       {{0x01B7, msr::OMR_0, arctic_wolf_takes, 4},
        {0x02B7, msr::OMR_0 + 1, arctic_wolf_takes, 4},
        {0x04B7, msr::OMR_0 + 2, arctic_wolf_takes, 4},
        {0x08B7, msr::OMR_0 + 3, arctic_wolf_takes, 4},
        atom_load_latency,
        snoop_0,
        snoop_1}},
  };
}

class ExtraRegisterTable : public testing::TestWithParam<ExtraRegisters> {
 protected:
  Rig rig{GetParam().cpu, {.kernel = GetParam().kernel}};
};

TEST_P(ExtraRegisterTable, EachEventHasItsRegisterAndValidBits) {
  for (const ExtraRegister& row : GetParam().registers) {
    const perf::Event& event = rig.opened(Rig::with_value(row.event, row.takes));
    EXPECT_EQ(data_of(event).extra_register, row.address) << std::hex << row.event;
    EXPECT_EQ(data_of(event).extra_config, row.takes) << std::hex << row.event;
    for (const unsigned n : set_bits(~row.takes))
      EXPECT_EQ(rig.error_of(Rig::with_value(row.event, bit(n))), EINVAL)
          << std::hex << row.event << " bit " << n;
  }
}

TEST_P(ExtraRegisterTable, NoOtherEventHasOne) {
  const std::vector<ExtraRegister>& rows = GetParam().registers;
  for (u32 event = 0; event <= 0xFF; ++event)
    for (const u32 umask : {0x00u, 0x01u, 0x02u, 0x03u, 0x04u, 0x05u, 0x08u, 0x10u, 0x40u}) {
      const auto code = static_cast<u16>(umask << 8 | event);
      if (std::ranges::find(rows, code, &ExtraRegister::event) != rows.end()) continue;
      EXPECT_EQ(data_of(rig.opened(Rig::with_value(code, 1))).extra_register, 0u) << std::hex << code;
    }
}

/// Different values of one event go to the registers that can stand in for each other, and no further.
TEST_P(ExtraRegisterTable, AGroupHasAValuePerAlternativeRegister) {
  for (const ExtraRegister& row : GetParam().registers) {
    perf::Event& leader = rig.opened(Rig::with_value(row.event, 0));
    unsigned values = 1;
    for (const unsigned n : set_bits(row.takes & low_bits(16)))
      if (rig.error_of(Rig::with_value(row.event, bit(n)), &leader) == 0) ++values;
    EXPECT_EQ(values, row.values) << std::hex << row.event;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, ExtraRegisterTable, testing::ValuesIn(all_extra_registers()),
                         [](const auto& core) {
                           std::string name = core.param.core;
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name;
                         });

}  // namespace
}  // namespace pmusim::driver
