// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/counter_exercise.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::westmere {

using namespace rows;

constexpr ConstraintRow main_rows[] = {
    event(0x51, gp01),
    event(0x60, gp0),
    event(0x63, gp01),
    event(0xB3, gp0),
};
constexpr ConstraintRow pebs_rows[] = {
    umask(0x100B, gp0_3), event(0x0F, gp0_3), umask(0x010C, gp0_3), event(0xC0, gp0_3),
    event(0xC2, gp0_3),   event(0xC4, gp0_3), event(0xC5, gp0_3),   event(0xC7, gp0_3),
    umask(0x20C8, gp0_3), event(0xCB, gp0_3), event(0xF7, gp0_3),
};

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0xFFFF), offcore1(0x01BB, 0xFFFF),
                                      load_latency(0x100B)};

constinit const CoreTraits traits{
    .core = Microarchitecture::westmere,
    .constraints = {three_fixed, main_rows, pebs_rows},
    .alias = CyclesAlias::core2,
    .shares_extra_registers = true,
    .extra_registers = extra,
    .memory_events = nehalem_memory,
    .data_source = DataSourceEncoding::westmere,
    .lbr = {.entries = 16, .filter = BranchFilterMap::nehalem},
    .counter_exercise = nehalem_exercise,
};

}  // namespace pmusim::driver::cores::westmere
