#include "core_traits.h"

namespace pmusim::driver {
namespace {

using enum Microarchitecture;

constexpr unsigned offcore = 1, omr = 2, omr_d4 = 3;
constexpr u32 FRONTEND = msr::PEBS_FRONTEND, LD_LAT = msr::PEBS_LD_LAT_THRESHOLD;

constexpr ExtraRegisterRow offcore0(u16 event, u64 valid) {
  return {event, msr::OFFCORE_RSP_0, valid, offcore};
}
constexpr ExtraRegisterRow offcore1(u16 event, u64 valid) {
  return {event, msr::OFFCORE_RSP_1, valid, offcore};
}
constexpr ExtraRegisterRow load_latency(u16 event) { return {event, LD_LAT, 0xFFFF, 0}; }
constexpr ExtraRegisterRow frontend(u16 event, u64 valid) { return {event, FRONTEND, valid, 0}; }

constexpr ExtraRegisterRow nehalem_extra[] = {offcore0(0x01B7, 0xFFFF), load_latency(0x100B)};
constexpr ExtraRegisterRow westmere_extra[] = {offcore0(0x01B7, 0xFFFF), offcore1(0x01BB, 0xFFFF),
                                               load_latency(0x100B)};
constexpr ExtraRegisterRow sandy_bridge_client_extra[] = {
    offcore0(0x01B7, 0x3F'807F'8FFF), offcore1(0x01BB, 0x3F'807F'8FFF), load_latency(0x01CD)};
constexpr ExtraRegisterRow sandy_bridge_extra[] = {offcore0(0x01B7, 0x3F'FFFF'8FFF),
                                                   offcore1(0x01BB, 0x3F'FFFF'8FFF), load_latency(0x01CD)};
constexpr ExtraRegisterRow skylake_extra[] = {offcore0(0x01B7, 0x3F'FFFF'8FFF),
                                              offcore1(0x01BB, 0x3F'FFFF'8FFF), load_latency(0x01CD),
                                              frontend(0x01C6, 0x7F'FF17)};
constexpr ExtraRegisterRow ice_lake_extra[] = {offcore0(0x01B7, 0x3F'FFFF'BFFF),
                                               offcore1(0x01BB, 0x3F'FFFF'BFFF), load_latency(0x01CD),
                                               frontend(0x01C6, 0x7F'FF17)};
constexpr ExtraRegisterRow golden_cove_extra[] = {offcore0(0x012A, 0x3F'FFFF'FFFF),
                                                  offcore1(0x012B, 0x3F'FFFF'FFFF),
                                                  load_latency(0x01CD),
                                                  frontend(0x01C6, 0x7F'FF1F),
                                                  frontend(0x40AD, 0x7),
                                                  frontend(0x04C2, 0x8)};
constexpr ExtraRegisterRow redwood_cove_extra[] = {offcore0(0x012A, 0x3F'FFFF'FFFF),
                                                   offcore1(0x012B, 0x3F'FFFF'FFFF),
                                                   load_latency(0x01CD),
                                                   frontend(0x02C6, 0x9),
                                                   frontend(0x03C6, 0x7F'FF1F),
                                                   frontend(0x40AD, 0x7),
                                                   frontend(0x04C2, 0x8)};
constexpr ExtraRegisterRow lion_cove_extra[] = {offcore0(0x012A, 0xFFF'FFFF'FFFF),
                                                offcore1(0x012B, 0xFFF'FFFF'FFFF),
                                                load_latency(0x01CD),
                                                frontend(0x02C6, 0x9),
                                                frontend(0x03C6, 0x7F'FF1F),
                                                frontend(0x40AD, 0xF),
                                                frontend(0x04C2, 0x8)};
constexpr u64 panther_cove_omr = 0x40FF'FFFF'0000'FFFF, arctic_wolf_omr = 0xC0FF'FFFF'FFFF'FFFF;
constexpr ExtraRegisterRow panther_cove_extra[] = {{0x012A, msr::OMR_0, panther_cove_omr, omr},
                                                   {0x022A, msr::OMR_0 + 1, panther_cove_omr, omr},
                                                   {0x042A, msr::OMR_0 + 2, panther_cove_omr, omr},
                                                   {0x082A, msr::OMR_0 + 3, panther_cove_omr, omr},
                                                   load_latency(0x01CD),
                                                   frontend(0x02C6, 0x9),
                                                   frontend(0x03C6, 0x7F'FF1F),
                                                   frontend(0x40AD, 0xF),
                                                   frontend(0x04C2, 0x8)};

constexpr ExtraRegisterRow silvermont_extra[] = {offcore0(0x01B7, 0x76'8005'FFFF),
                                                 offcore1(0x02B7, 0x36'8005'FFFF)};
constexpr ExtraRegisterRow knights_extra[] = {offcore0(0x01B7, 0x79'9FFB'B6E7),
                                              offcore1(0x02B7, 0x39'9FFB'FFE7)};
constexpr ExtraRegisterRow goldmont_extra[] = {offcore0(0x01B7, 0x76'0005'FFBF),
                                               offcore1(0x02B7, 0x36'0005'FFBF)};
constexpr ExtraRegisterRow tremont_extra[] = {offcore0(0x01B7, 0x800F'F0FF'FFFF'9FFF),
                                              offcore1(0x02B7, 0x000F'F0FF'FFFF'9FFF)};
constexpr ExtraRegisterRow gracemont_extra[] = {offcore0(0x01B7, 0x3F'FFFF'FFFF),
                                                offcore1(0x02B7, 0x3F'FFFF'FFFF), load_latency(0x05D0)};
constexpr ExtraRegisterRow crestmont_extra[] = {offcore0(0x01B7, 0x800F'F3FF'FFFF'FFFF),
                                                offcore1(0x02B7, 0x000F'F3FF'FFFF'FFFF),
                                                load_latency(0x05D0),
                                                {0x0127, msr::SNOOP_RSP_0, ~u64{0}, 0},
                                                {0x0227, msr::SNOOP_RSP_1, ~u64{0}, 0}};
constexpr ExtraRegisterRow arctic_wolf_extra[] = {{0x01B7, msr::OMR_0, arctic_wolf_omr, omr},
                                                  {0x02B7, msr::OMR_0 + 1, arctic_wolf_omr, omr},
                                                  {0x04B7, msr::OMR_0 + 2, arctic_wolf_omr, omr},
                                                  {0x08B7, msr::OMR_0 + 3, arctic_wolf_omr, omr},
                                                  {0x01D4, msr::OMR_0, arctic_wolf_omr, omr_d4},
                                                  {0x02D4, msr::OMR_0 + 1, arctic_wolf_omr, omr_d4},
                                                  {0x04D4, msr::OMR_0 + 2, arctic_wolf_omr, omr_d4},
                                                  {0x08D4, msr::OMR_0 + 3, arctic_wolf_omr, omr_d4},
                                                  load_latency(0x05D0),
                                                  {0x0127, msr::SNOOP_RSP_0, ~u64{0}, 0},
                                                  {0x0227, msr::SNOOP_RSP_1, ~u64{0}, 0}};

bool is_client_sandy_bridge(u32 model) { return model == 0x2A || model == 0x3A; }

CoreTraits later_p_core(const ConstraintTables& tables, PlacementRule placement,
                        std::span<const ExtraRegisterRow> extra) {
  return {.tables = &tables,
          .placement = placement,
          .period = PeriodRule::reduced_skid,
          .ack = PmiAck::late,
          .pebs_on_all_counters = true,
          .extra_registers = extra};
}

CoreTraits e_core(const ConstraintTables& tables, PlacementRule placement,
                  std::span<const ExtraRegisterRow> extra) {
  return {.tables = &tables,
          .placement = placement,
          .period = PeriodRule::reduced_skid,
          .ack = PmiAck::middle,
          .pebs_on_all_counters = true,
          .extra_registers = extra};
}

CoreTraits early_p_core(Microarchitecture core, u32 model) {
  const std::span<const ExtraRegisterRow> sandy_bridge_offcore =
      is_client_sandy_bridge(model) ? std::span<const ExtraRegisterRow>(sandy_bridge_client_extra)
                                    : sandy_bridge_extra;
  switch (core) {
    case core2:
      return {.tables = &core2_constraints, .alias = CyclesAlias::core2};
    case nehalem:
      return {.tables = &nehalem_constraints,
              .period = PeriodRule::nehalem,
              .alias = CyclesAlias::core2,
              .extra_registers = nehalem_extra};
    case westmere:
      return {
          .tables = &westmere_constraints, .alias = CyclesAlias::core2, .extra_registers = westmere_extra};
    case sandy_bridge:
      return {.tables = &sandy_bridge_constraints,
              .alias = CyclesAlias::sandy_bridge,
              .exclusive_counters = true,
              .extra_registers = sandy_bridge_offcore};
    case ivy_bridge:
      return {.tables = &ivy_bridge_constraints,
              .alias = CyclesAlias::ivy_bridge,
              .exclusive_counters = true,
              .extra_registers = sandy_bridge_offcore};
    case haswell:
      return {.tables = &haswell_constraints,
              .placement = PlacementRule::haswell,
              .period = PeriodRule::haswell,
              .alias = CyclesAlias::ivy_bridge,
              .ack = PmiAck::late,
              .exclusive_counters = true,
              .extra_registers = sandy_bridge_extra};
    case broadwell:
      return {.tables = &broadwell_constraints,
              .placement = PlacementRule::haswell,
              .period = PeriodRule::broadwell,
              .alias = CyclesAlias::ivy_bridge,
              .ack = PmiAck::late,
              .extra_registers = sandy_bridge_extra};
    default:
      return {.tables = &skylake_constraints,
              .placement = PlacementRule::haswell,
              .alias = CyclesAlias::skylake,
              .ack = PmiAck::late,
              .extra_registers = skylake_extra};
  }
}

CoreTraits early_atom(Microarchitecture core) {
  switch (core) {
    case silvermont:
      return {
          .tables = &old_atom_constraints, .alias = CyclesAlias::core2, .extra_registers = silvermont_extra};
    case knights_landing:
      return {.tables = &old_atom_constraints, .alias = CyclesAlias::core2, .extra_registers = knights_extra};
    case goldmont:
      return {.tables = &old_atom_constraints, .extra_registers = goldmont_extra};
    case goldmont_plus:
      return {.tables = &goldmont_plus_constraints,
              .placement = PlacementRule::goldmont_plus,
              .pebs_on_all_counters = true,
              .extra_registers = goldmont_extra};
    case tremont:
      return {.tables = &goldmont_plus_constraints,
              .placement = PlacementRule::tremont,
              .ack = PmiAck::late,
              .pebs_on_all_counters = true,
              .extra_registers = tremont_extra};
    default:
      return {.tables = &old_atom_constraints, .alias = CyclesAlias::core2};
  }
}

}  // namespace

CoreTraits core_traits(const Enumeration& enumeration) {
  switch (enumeration.microarchitecture) {
    case ice_lake: {
      CoreTraits traits = later_p_core(ice_lake_constraints, PlacementRule::ice_lake, ice_lake_extra);
      traits.period = PeriodRule::none;
      return traits;
    }
    case golden_cove: {
      CoreTraits traits =
          later_p_core(golden_cove_constraints, PlacementRule::golden_cove, golden_cove_extra);
      traits.load_latency_companion = true;
      return traits;
    }
    case redwood_cove:
      return later_p_core(golden_cove_constraints, PlacementRule::redwood_cove, redwood_cove_extra);
    case lion_cove:
    case cougar_cove:
      return later_p_core(lion_cove_constraints, PlacementRule::redwood_cove, lion_cove_extra);
    case panther_cove:
    case coyote_cove:
      return later_p_core(panther_cove_constraints, PlacementRule::redwood_cove, panther_cove_extra);
    case gracemont:
      return e_core(gracemont_constraints, PlacementRule::tremont, gracemont_extra);
    case crestmont:
      return e_core(gracemont_constraints, PlacementRule::crestmont, crestmont_extra);
    case skymont:
    case darkmont:
      return e_core(skymont_constraints, PlacementRule::crestmont, crestmont_extra);
    case arctic_wolf:
      return e_core(arctic_wolf_constraints, PlacementRule::crestmont, arctic_wolf_extra);
    case bonnell:
    case silvermont:
    case knights_landing:
    case goldmont:
    case goldmont_plus:
    case tremont:
      return early_atom(enumeration.microarchitecture);
    case unknown:
      return {
          .tables = enumeration.perfmon_version >= 5 ? &architectural_constraints : &three_fixed_constraints,
          .alias = CyclesAlias::core2,
          .pebs_on_all_counters = enumeration.pebs_baseline || enumeration.arch_pebs()};
    default:
      return early_p_core(enumeration.microarchitecture, enumeration.model);
  }
}

}  // namespace pmusim::driver
