// SPDX-License-Identifier: MIT
#include "driver/intel/cores/cores.h"
#include "driver/intel/cores/memory_events.h"
#include "driver/intel/cores/shared_constraints.h"
#include "driver/intel/cores/shared_extra_registers.h"

namespace pmusim::driver::cores::ice_lake {

using namespace rows;

constexpr ConstraintRow fixed_rows[] = {
    fixed(0x00C0, 0), fixed(0x01C0, 0),  fixed(0x0100, 0),  fixed(0x003C, 1),  fixed(0x0300, 2),
    fixed(0x0400, 3), metric(0x8000, 0), metric(0x8100, 1), metric(0x8200, 2), metric(0x8300, 3),
};
constexpr ConstraintRow corrected_fixed[] = {
    fixed(0x00C0, 0),  fixed(0x01C0, 0),  fixed(0x0100, 0),  fixed(0x003C, 1),
    fixed(0x0200, 1),  fixed(0x0300, 2),  fixed(0x0400, 3),  metric(0x8000, 0),
    metric(0x8100, 1), metric(0x8200, 2), metric(0x8300, 3),
};
constexpr ConstraintRow main_rows[] = {
    events(0x03, 0x0A, gp0_3), events(0x1F, 0x28, gp0_3), event(0x32, gp0_3),
    events(0x48, 0x56, gp0_3), events(0x60, 0x8B, gp0_3), umask(0x04A3, gp0_7),
    umask(0x10A3, gp0_7),      umask(0x14A3, gp0_7),      event(0xA3, gp0_3),
    events(0xA8, 0xB0, gp0_3), events(0xB7, 0xBD, gp0_3), events(0xD0, 0xE6, gp0_3),
    event(0xEF, gp0_3),        events(0xF0, 0xF4, gp0_3),
};
constexpr ConstraintRow pebs_rows[] = {
    umask(0x01C0, fixed0), umask(0x0100, fixed0),     umask(0x0400, fixed3),
    umask(0x01CD, gp0_7),  events(0xD0, 0xD4, gp0_3),
};
constexpr ConstraintRow corrected_pebs[] = {umask(0x01CD, gp0_7), events(0xD0, 0xD4, gp0_3)};

constexpr ExtraRegisterRow extra[] = {offcore0(0x01B7, 0x3F'FFFF'BFFF), offcore1(0x01BB, 0x3F'FFFF'BFFF),
                                      load_latency(0x01CD), frontend(0x01C6, 0x7F'FF17)};

constexpr ProductTraits products[] = {{.model = 0x6A, .persistent_memory = true},
                                      {.model = 0x6C, .persistent_memory = true}};

constinit const CoreTraits traits{
    .core = Microarchitecture::ice_lake,
    .constraints = {fixed_rows, main_rows, pebs_rows},
    .placement = PlacementRule::ice_lake,
    .ack = PmiAck::late,
    .pebs_on_all_counters = true,
    .extra_registers = extra,
    .memory_events = haswell_memory,
    .data_source = DataSourceEncoding::skylake,
    .pebs = {.distribution = fixed0},
    .products = products,
    .corrected = LaterTables{.constraints = {corrected_fixed, main_rows, corrected_pebs}},
};

}  // namespace pmusim::driver::cores::ice_lake
