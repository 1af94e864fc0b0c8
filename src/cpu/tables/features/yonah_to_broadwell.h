// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_YONAH_TO_BROADWELL_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_YONAH_TO_BROADWELL_H

#include <string_view>

/// P cores from Yonah to Broadwell: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view yonah_to_broadwell = R"(
                                yonah     core2    penryn    nehalem   westmere   sandybridge     ivybridge        haswell      broadwell
# CPUID
family                              6         6         6          6          6             6             6              6              6
model                             0xE       0xF      0x17       0x1A       0x2C          0x2A          0x3A           0x3C           0x3D
stepping                            8        11        10          5          2             7             9              3              4
hybrid                              -         -         -          -          -             -             -              -              -
native_model_id                     -         -         -          -          -             -             -              -              -
# counters
perfmon_version                     1         2         2          3          3             3             3              3              3
gp_counters                       0x3       0x3       0x3        0xF        0xF           0xF           0xF            0xF            0xF
gp_counters_smt_off                 -         -         -          -          -          0xFF          0xFF           0xFF           0xFF
fixed_counters                      -       0x7       0x7        0x7        0x7           0x7           0x7            0x7            0x7
counter_width                      40        40        40         48         48            48            48             48             48
# Nehalem does not count branch mispredicts (erratum), Westmere does not enumerate reference cycles
arch_events                      0x7F      0x7F      0x7F       0x3F       0x7B          0x7F          0x7F           0x7F           0x7F
arch_events_length                  7         7         7          7          7             7             7              7              7
leaf_0a_edx_strays                  -         -         -          -          -             -             -              -              -
package_view.gp_counters            -         -         -          -          -             -             -              -              -
package_view.fixed_counters         -         -         -          -          -             -             -              -              -
package_view.arch_events            -         -         -          -          -             -             -              -              -
perf_capabilities                   -    0x10C2    0x10C2     0x11C3     0x11C3        0x31C3        0x31C3         0x32C4         0x32C4
freeze                         legacy    legacy    legacy     legacy     legacy        legacy        legacy         legacy         legacy
anythread                           -         -         -        yes        yes           yes           yes            yes            yes
smt_shared_filters                  -         -         -        yes        yes             -             -              -              -
rtm                                 -         -         -          -          -             -             -            yes            yes
hle                                 -         -         -          -          -             -             -            yes            yes
arch_perfmon_ext                    -         -         -          -          -             -             -              -              -
perfmon_ext_ebx                     -         -         -          -          -             -             -              -              -
metrics_levels                      -         -         -          -          -             -             -              -              -
reference_event_is_tsc              -         -         -          -          -             -             -              -              -
core.port_events             one_each  one_each  one_each   one_each   one_each      one_each      one_each       one_each       one_each
# registers beside the counters
has_pdcm                           no       yes       yes        yes        yes           yes           yes            yes            yes
has_ibpb                           no        no        no        yes        yes           yes           yes            yes            yes
has_rdtscp                         no        no        no        yes        yes           yes           yes            yes            yes
has_tsc_adjust                      -         -         -          -          -             -             -            yes            yes
has_pperf                           -         -         -          -          -             -             -              -              -
has_tsx_force_abort                 -         -         -          -          -             -             -              -              -
has_bus_lock_detect                 -         -         -          -          -             -             -              -              -
offcore_rsp.0                       -         -         -     0xFFFF     0xFFFF  0x3F807F8FFF  0x3F807F8FFF   0x3FFFFF8FFF   0x3FFFFF8FFF
offcore_rsp.1                       -         -         -          -     0xFFFF  0x3F807F8FFF  0x3F807F8FFF   0x3FFFFF8FFF   0x3FFFFF8FFF
omr                                 -         -         -          -          -             -             -              -              -
snoop_rsp                           -         -         -          -          -             -             -              -              -
xcr0                              0x0       0x0       0x3        0x0        0x0           0x7           0x7            0x7            0x7
xss                                 -         -         -          -          -             -             -              -              -
has_xsaves                          -         -         -          -          -             -             -              -              -
# branch records
lbr.depth                           -         4         4         16         16            16            16             16             16
lbr.format                          -       eip       eip  eip_flags  eip_flags     eip_flags     eip_flags  eip_flags_tsx  eip_flags_tsx
lbr.has_select                      -         -         -        yes        yes           yes           yes            yes            yes
lbr.nehalem_filters                 -         -         -        yes        yes             -             -              -              -
lbr.call_stack                      -         -         -          -          -             -             -            yes            yes
lbr.double_abort                    -         -         -          -          -             -             -            yes              -
lbr.from_base                       -      0x40      0x40      0x680      0x680         0x680         0x680          0x680          0x680
lbr.arch_depths                     -         -         -          -          -             -             -              -              -
lbr.cpuid_1c_eax_flags              -         -         -          -          -             -             -              -              -
lbr.cpuid_1c_ebx                    -         -         -          -          -             -             -              -              -
lbr.cpuid_1c_ecx                    -         -         -          -          -             -             -              -              -
# PEBS
pebs.format                         -         0         0          1          1             1             1              2              2
pebs.counters                       -       0x1       0x1        0xF        0xF           0xF           0xF            0xF            0xF
pebs.distribution                   -         -         -          -          -           0x2           0x2            0x2            0x2
pebs.baseline                       -         -         -          -          -             -             -              -              -
pebs.precise_store                  -         -         -          -          -           yes           yes              -              -
pebs.load_latency                   -         -         -        yes        yes           yes           yes            yes            yes
pebs.frontend                       -         -         -          -          -             -             -              -              -
pebs.latency_split                  -         -         -          -          -             -             -              -              -
pebs.eventing_ip                    -         -         -          -          -             -             -            yes            yes
pebs.arch_capabilities              -         -         -          -          -             -             -              -              -
pebs.data_source                    -         -         -    nehalem   westmere  sandy_bridge  sandy_bridge   sandy_bridge   sandy_bridge
# auto counter reload
acr.reloadable                      -         -         -          -          -             -             -              -              -
acr.cause                           -         -         -          -          -             -             -              -              -
)";

}  // namespace pmusim::tables::features

#endif
