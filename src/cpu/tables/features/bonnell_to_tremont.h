// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_BONNELL_TO_TREMONT_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_BONNELL_TO_TREMONT_H

#include <string_view>

/// Small cores from Bonnell to Tremont: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view bonnell_to_tremont = R"(
                              bonnell    silvermont  knightslanding      goldmont  goldmont-plus             tremont
# CPUID
family                              6             6               6             6              6                   6
model                            0x1C          0x37            0x57          0x5C           0x7A                0x86
stepping                           10             8               1             9              1                   5
hybrid                              -             -               -             -              -                   -
native_model_id                     -             -               -             -              -                   -
# counters
perfmon_version                     3             3               3             4              4                   5
gp_counters                       0x3           0x3             0x3           0xF            0xF                 0xF
gp_counters_smt_off                 -             -               -             -              -                   -
fixed_counters                    0x7           0x7             0x7           0x7            0x7                 0x7
counter_width                      40            40              40            48             48                  48
arch_events                      0x7F          0x7F            0x7F          0x7F           0x7F                0x7F
arch_events_length                  7             7               7             7              7                   7
leaf_0a_edx_strays                  -        0x4000               -             -              -                   -
package_view.gp_counters            -             -               -             -              -                   -
package_view.fixed_counters         -             -               -             -              -                   -
package_view.arch_events            -             -               -             -              -                   -
perf_capabilities              0x10C2        0x12C2          0x12C1        0x33C6         0x33C7             0x174C7
freeze                         legacy        legacy          legacy   streamlined    streamlined         streamlined
anythread                         yes           yes             yes           yes              -                   -
smt_shared_filters                  -             -               -             -              -                   -
rtm                                 -             -               -             -              -                   -
hle                                 -             -               -             -              -                   -
arch_perfmon_ext                    -             -               -             -              -                   -
perfmon_ext_ebx                     -             -               -             -              -                   -
metrics_levels                      -             -               -             -              -                   -
reference_event_is_tsc              -             -               -             -              -                   -
core.port_events             one_each      one_each        one_each      one_each       one_each            one_each
# registers beside the counters
has_pdcm                          yes           yes             yes           yes            yes                 yes
has_ibpb                           no           yes             yes           yes            yes                 yes
has_rdtscp                         no           yes             yes           yes            yes                 yes
has_tsc_adjust                      -             -               -           yes            yes                 yes
has_pperf                           -             -               -             -              -                   -
has_tsx_force_abort                 -             -               -             -              -                   -
has_bus_lock_detect                 -             -               -             -              -                   -
offcore_rsp.0                       -  0x768005FFFF    0x799FFBB6E7  0x760005FFBF   0x760005FFBF  0x800FF0FFFFFF9FFF
offcore_rsp.1                       -  0x368005FFFF    0x399FFBFFE7  0x360005FFBF   0x360005FFBF     0xFF0FFFFFF9FFF
omr                                 -             -               -             -              -                   -
snoop_rsp                           -             -               -             -              -                   -
xcr0                              0x0           0x0            0xE7          0x1B           0x1B                 0x3
xss                                 -             -               -         0x100          0x100               0x100
has_xsaves                          -             -               -           yes            yes                 yes
# branch records
lbr.depth                           8             8               8            32             32                  32
lbr.format                        eip           eip       eip_flags          time    info_no_tsx         info_no_tsx
lbr.has_select                      -           yes             yes           yes            yes                 yes
lbr.nehalem_filters                 -           yes               -             -              -                   -
lbr.call_stack                      -             -               -           yes            yes                 yes
lbr.double_abort                    -             -               -             -              -                   -
lbr.from_base                    0x40          0x40           0x680         0x680          0x680               0x680
lbr.arch_depths                     -             -               -             -              -                   -
lbr.cpuid_1c_eax_flags              -             -               -             -              -                   -
lbr.cpuid_1c_ebx                    -             -               -             -              -                   -
lbr.cpuid_1c_ecx                    -             -               -             -              -                   -
# PEBS
pebs.format                         0             2               2             3              3                   4
pebs.counters                     0x1           0x1             0x1           0x1    0x70000000F         0x70000000F
pebs.distribution                   -             -               -           0x1            0x1         0x100000001
pebs.baseline                       -             -               -             -              -                 yes
pebs.precise_store                  -             -               -             -              -                   -
pebs.load_latency                   -             -               -             -              -                   -
pebs.frontend                       -             -               -             -              -                   -
pebs.latency_split                  -             -               -             -              -                   -
pebs.eventing_ip                    -           yes             yes           yes            yes                 yes
pebs.arch_capabilities              -             -               -             -              -                   -
pebs.data_source                    -             -               -             -              -                   -
# auto counter reload
acr.reloadable                      -             -               -             -              -                   -
acr.cause                           -             -               -             -              -                   -
)";

}  // namespace pmusim::tables::features

#endif
