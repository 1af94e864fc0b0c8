// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_SHARED_EXTRA_REGISTERS_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_SHARED_EXTRA_REGISTERS_H

#include "driver/intel/cores/core_traits.h"

/// Extra registers of several cores, named after the first, and the words to write them in
/// (intel_*_extra_regs).
namespace pmusim::driver::rows {

inline constexpr unsigned offcore = 1, omr = 2, omr_4f = 3, omr_d6 = 4;
inline constexpr u32 FRONTEND = msr::PEBS_FRONTEND, LD_LAT = msr::PEBS_LD_LAT_THRESHOLD;

inline constexpr ExtraRegisterRow offcore0(u16 event, u64 valid) {
  return {event, msr::OFFCORE_RSP_0, valid, offcore};
}
inline constexpr ExtraRegisterRow offcore1(u16 event, u64 valid) {
  return {event, msr::OFFCORE_RSP_1, valid, offcore};
}
inline constexpr ExtraRegisterRow load_latency(u16 event) { return {event, LD_LAT, 0xFFFF, 0}; }
inline constexpr ExtraRegisterRow frontend(u16 event, u64 valid) { return {event, FRONTEND, valid, 0}; }

inline constexpr ExtraRegisterRow sandy_bridge_client_extra[] = {
    offcore0(0x01B7, 0x3F'807F'8FFF), offcore1(0x01BB, 0x3F'807F'8FFF), load_latency(0x01CD)};

inline constexpr ExtraRegisterRow sandy_bridge_extra[] = {
    offcore0(0x01B7, 0x3F'FFFF'8FFF), offcore1(0x01BB, 0x3F'FFFF'8FFF), load_latency(0x01CD)};

inline constexpr ExtraRegisterRow skylake_extra[] = {offcore0(0x01B7, 0x3F'FFFF'8FFF),
                                                     offcore1(0x01BB, 0x3F'FFFF'8FFF), load_latency(0x01CD),
                                                     frontend(0x01C6, 0x7F'FF17)};

inline constexpr ExtraRegisterRow lion_cove_extra[] = {offcore0(0x012A, 0xFFF'FFFF'FFFF),
                                                       offcore1(0x012B, 0xFFF'FFFF'FFFF),
                                                       load_latency(0x01CD),
                                                       frontend(0x02C6, 0x9),
                                                       frontend(0x03C6, 0x7F'FF1F),
                                                       frontend(0x40AD, 0xF),
                                                       frontend(0x04C2, 0x8)};

inline constexpr u64 panther_cove_omr = 0x40FF'FFFF'0000'FFFF;
// Three event codes share the four registers; an event that is moved keeps its code.
inline constexpr ExtraRegisterRow panther_cove_extra[] = {{0x012A, msr::OMR_0, panther_cove_omr, omr},
                                                          {0x022A, msr::OMR_0 + 1, panther_cove_omr, omr},
                                                          {0x042A, msr::OMR_0 + 2, panther_cove_omr, omr},
                                                          {0x082A, msr::OMR_0 + 3, panther_cove_omr, omr},
                                                          {0x014F, msr::OMR_0, panther_cove_omr, omr_4f},
                                                          {0x024F, msr::OMR_0 + 1, panther_cove_omr, omr_4f},
                                                          {0x044F, msr::OMR_0 + 2, panther_cove_omr, omr_4f},
                                                          {0x084F, msr::OMR_0 + 3, panther_cove_omr, omr_4f},
                                                          {0x01D6, msr::OMR_0, panther_cove_omr, omr_d6},
                                                          {0x02D6, msr::OMR_0 + 1, panther_cove_omr, omr_d6},
                                                          {0x04D6, msr::OMR_0 + 2, panther_cove_omr, omr_d6},
                                                          {0x08D6, msr::OMR_0 + 3, panther_cove_omr, omr_d6},
                                                          load_latency(0x01CD),
                                                          frontend(0x02C6, 0x9),
                                                          frontend(0x03C6, 0x7F'FF1F),
                                                          frontend(0x40AD, 0xF),
                                                          frontend(0x04C2, 0x8)};

inline constexpr ExtraRegisterRow goldmont_extra[] = {offcore0(0x01B7, 0x76'0005'FFBF),
                                                      offcore1(0x02B7, 0x36'0005'FFBF)};

inline constexpr ExtraRegisterRow crestmont_extra[] = {offcore0(0x01B7, 0x800F'F3FF'FFFF'FFFF),
                                                       offcore1(0x02B7, 0x000F'F3FF'FFFF'FFFF),
                                                       load_latency(0x05D0),
                                                       {0x0127, msr::SNOOP_RSP_0, ~u64{0}, 0},
                                                       {0x0227, msr::SNOOP_RSP_1, ~u64{0}, 0}};

}  // namespace pmusim::driver::rows

#endif
