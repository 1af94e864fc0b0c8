// SPDX-License-Identifier: MIT
#include "host/planted_bus.h"

#include <cstring>

#include "host/machine.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"

namespace pmusim::linux_driver {

namespace {

using namespace pebs;

/// Which register of a counter's block of four, of the general and of the fixed counters.
bool is_cfg(u32 address, u32 gp0, u32 fixed0) {
  const bool gp = address >= msr::V6_GP0_CFG_A - 1 && address < msr::V6_GP0_CFG_A + 0x7F;
  return gp ? (address - gp0) % msr::V6_STRIDE == 0
            : address >= fixed0 && address < fixed0 + 0x40 && (address - fixed0) % msr::V6_STRIDE == 0;
}
bool is_cfg_b(u32 address) { return is_cfg(address, msr::V6_GP0_CFG_B, msr::V6_FX0_CFG_B); }
bool is_cfg_c(u32 address) { return is_cfg(address, msr::V6_GP0_CFG_C, msr::V6_FX0_CFG_C); }

/// The first bytes of the buffer of architectural PEBS, if it holds a record.
std::byte* arch_record(PlantedBus& bus) {
  if ((bus.pmu().rdmsr(msr::PEBS_INDEX).value_or(0) & index_register::WRITE_OFFSET) == 0) return nullptr;
  return KernelMachine::present().physical(bus.pmu().rdmsr(msr::PEBS_BASE).value_or(0) &
                                           base_register::ADDRESS);
}

u64 word_at(PlantedBus& bus, u64 address) {
  u64 word = 0;
  static_cast<void>(bus.read_memory(address, std::as_writable_bytes(std::span(&word, 1))));
  return word;
}
void put_word(PlantedBus& bus, u64 address, u64 word) {
  static_cast<void>(bus.write_memory(address, std::as_bytes(std::span(&word, 1))));
}
u64 ds_pointer(PlantedBus& bus, std::size_t offset) {
  return bus.pmu().rdmsr(msr::DS_AREA).value_or(0) + offset;
}
/// Where the first record of the DS area's PEBS buffer is; 0: nowhere.
u64 ds_record(PlantedBus& bus) {
  if (bus.pmu().rdmsr(msr::DS_AREA).value_or(0) == 0) return 0;
  const u64 base = word_at(bus, ds_pointer(bus, offsetof(DsArea64, pebs_base)));
  return word_at(bus, ds_pointer(bus, offsetof(DsArea64, pebs_index))) != base ? base : 0;
}

}  // namespace

const std::vector<PlantedBug>& planted_bugs() {
  static const std::vector<PlantedBug> all{
      {"acr-causes-shifted", "CFG_B names the counters one further", "skymont", "acr-lbr",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(is_cfg_b(address) ? value << 1 & 0xFC : value);
       }},
      {"acr-causes-not-written", "CFG_B is left as it was", "skymont", "acr-lbr",
       [](PlantedBus&, u32 address, u64 value) {
         return is_cfg_b(address) ? std::nullopt : std::optional(value);
       }},
      {"acr-reload-one-more", "the value to reload is one more than minus the period", "arcticwolf",
       "acr-three",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(is_cfg_c(address) ? value + 1 : value);
       }},
      {"acr-self-reload-interrupts", "a counter that reloads itself keeps its interrupt", "skymont",
       "acr-three",
       [](PlantedBus&, u32 address, u64 value) {
         const bool select = is_cfg(address, msr::V6_GP0_CFG_A, msr::V6_FX0_CFG_C - 2);
         return std::optional(select && value != 0 ? value | msr::evtsel::INT : value);
       }},
      {"arch-index-not-emptied", "a drain leaves the buffer as full as it was", "darkmont", "pebs-large",
       [](PlantedBus& bus, u32 address, u64 value) {
         const u64 now = bus.pmu().rdmsr(msr::PEBS_INDEX).value_or(0) & index_register::WRITE_OFFSET;
         return std::optional(address == msr::PEBS_INDEX ? value | now : value);
       }},
      {"arch-threshold-of-one", "a large buffer interrupts for each record", "darkmont", "pebs-large",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(address == msr::PEBS_INDEX ? (value & ~index_register::THRESHOLD) | bit(36)
                                                         : value);
       }},
      {"arch-last-record-lost", "a drain ends 16 bytes before the end of the records", "diamondrapids",
       "pebs-two", nullptr,
       [](PlantedBus&, u32 address, u64 value) {
         const bool full = address == msr::PEBS_INDEX && (value & index_register::WRITE_OFFSET) > 288;
         return full ? value - 320 : value;
       }},
      {"arch-other-owner", "the first record of a drain is taken for another counter's", "diamondrapids",
       "pebs-two", nullptr,
       [](PlantedBus& bus, u32 address, u64 value) {
         if (std::byte* const record = arch_record(bus); address == msr::PEBS_INDEX && record != nullptr)
           record[sizeof(ArchHeader) + offsetof(ArchBasic, applicable_counters)] ^= std::byte{3};
         return value;
       }},
      {"arch-no-counters", "CFG_C asks for no values of counters", "arcticwolf", "pebs-snapshot",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(is_cfg_c(address) ? value & ~cfg_c::GP : value);
       }},
      {"arch-no-auxiliary", "CFG_C asks for no data address", "arcticwolf", "latency-loads",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(is_cfg_c(address) ? value & ~cfg_c::AUX : value);
       }},
      {"ds-other-ip", "the first record of a drain is taken for one of the next byte", "goldencove", "pebs",
       nullptr,
       [](PlantedBus& bus, u32 address, u64 value) {
         const u64 record = address == msr::PERF_GLOBAL_STATUS ? ds_record(bus) : 0;
         if (record != 0) put_word(bus, record + 8, word_at(bus, record + 8) + 1);
         return value;
       }},
      {"ds-other-owner", "the first record of a drain is taken for no counter's", "lioncove",
       "frequency-pebs", nullptr,
       [](PlantedBus& bus, u32 address, u64 value) {
         const u64 record = address == msr::PERF_GLOBAL_STATUS ? ds_record(bus) : 0;
         if (record != 0) put_word(bus, record + 16, 0);
         return value;
       }},
      {"ds-index-not-emptied", "the first record of a drain comes out of the next one again", "skylake",
       "pebs-large",
       [](PlantedBus& bus, u32 address, u64 value) {
         if (address != msr::PERF_GLOBAL_CTRL || bus.pmu().rdmsr(msr::DS_AREA).value_or(0) == 0)
           return std::optional(value);
         const u64 place = ds_pointer(bus, offsetof(DsArea64, pebs_index)), now = word_at(bus, place);
         if (value == 0) bus.seen = now;
         if (value != 0 && now < bus.seen) put_word(bus, place, bus.seen);
         return std::optional(value);
       }},
      {"ds-no-registers", "PEBS_DATA_CFG asks for no general registers", "icelake", "pebs",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(address == msr::PEBS_DATA_CFG ? value & ~data_cfg::GPRS : value);
       }},
      {"ds-not-acknowledged", "the status of a full buffer is not cleared", "lioncove", "frequency-pebs",
       [](PlantedBus&, u32 address, u64 value) {
         return std::optional(address == msr::PERF_GLOBAL_STATUS_RESET ? value & ~msr::status::OVF_BUF
                                                                       : value);
       }},
  };
  return all;
}

}  // namespace pmusim::linux_driver
