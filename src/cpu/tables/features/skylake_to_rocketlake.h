// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_SKYLAKE_TO_ROCKETLAKE_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_SKYLAKE_TO_ROCKETLAKE_H

#include <string_view>

/// P cores from Skylake to Rocket Lake: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view skylake_to_rocketlake = R"(
                                  skylake    cannonlake     skylake-x   cascadelake       icelake  icelake-server     tigerlake    rocketlake
# CPUID
family                                  6             6             6             6             6               6             6             6
model                                0x5E          0x66          0x55          0x55          0x7E            0x6A          0x8C          0xA7
stepping                                3             3             4             7             5               6             1             1
hybrid                                  -             -             -             -             -               -             -             -
native_model_id                         -             -             -             -             -               -             -             -
# counters
perfmon_version                         4             4             4             4             5               5             5             5
gp_counters                           0xF           0xF           0xF           0xF          0xFF            0xFF          0xFF          0xFF
gp_counters_smt_off                  0xFF          0xFF          0xFF          0xFF             -               -             -             -
fixed_counters                        0x7           0x7           0x7           0x7           0xF             0xF           0xF           0xF
counter_width                          48            48            48            48            48              48            48            48
arch_events                          0x7F          0x7F          0x7F          0x7F          0xFF            0xFF          0xFF          0xFF
arch_events_length                      7             7             7             7             8               8             8             8
leaf_0a_edx_strays                      -             -             -             -             -               -             -             -
package_view.gp_counters                -             -             -             -             -               -             -             -
package_view.fixed_counters             -             -             -             -             -               -             -             -
package_view.arch_events                -             -             -             -             -               -             -             -
perf_capabilities                  0x33C5        0x33C5        0x33C5        0x33C5        0xF4C5          0xF4C5        0xF4C5        0xF4C5
freeze                        streamlined   streamlined   streamlined   streamlined   streamlined     streamlined   streamlined   streamlined
anythread                             yes           yes           yes           yes             -               -             -             -
smt_shared_filters                      -             -             -             -             -               -             -             -
rtm                                   yes             -           yes           yes             -             yes             -             -
hle                                   yes             -           yes           yes             -             yes             -             -
arch_perfmon_ext                        -             -             -             -             -               -             -             -
perfmon_ext_ebx                         -             -             -             -             -               -             -             -
metrics_levels                          -             -             -             -             1               1             1             1
reference_event_is_tsc                  -             -             -             -             -               -             -             -
core.port_events                 one_each      one_each      one_each      one_each        shared          shared        shared        shared
# registers beside the counters
has_pdcm                              yes           yes           yes           yes           yes             yes           yes           yes
has_ibpb                              yes           yes           yes           yes           yes             yes           yes           yes
has_rdtscp                            yes           yes           yes           yes           yes             yes           yes           yes
has_tsc_adjust                        yes           yes           yes           yes           yes             yes           yes           yes
has_pperf                             yes           yes           yes           yes           yes             yes           yes           yes
has_tsx_force_abort                   yes             -           yes           yes             -               -             -             -
has_bus_lock_detect                     -             -             -             -             -               -           yes             -
offcore_rsp.0                0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFFBFFF    0x3FFFFFBFFF  0x3FFFFFBFFF  0x3FFFFFBFFF
offcore_rsp.1                0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFF8FFF  0x3FFFFFBFFF    0x3FFFFFBFFF  0x3FFFFFBFFF  0x3FFFFFBFFF
omr                                     -             -             -             -             -               -             -             -
snoop_rsp                               -             -             -             -             -               -             -             -
xcr0                                 0x1F          0xFF          0xFF          0xFF         0x2E7           0x2E7         0x2E7         0x2E7
xss                                 0x100         0x100         0x100         0x100         0x100           0x100        0x3900         0x100
has_xsaves                            yes           yes           yes           yes           yes             yes           yes           yes
# branch records
lbr.depth                              32            32            32            32            32              32            32            32
lbr.format                           info          info          info          info          info            info          info          info
lbr.has_select                        yes           yes           yes           yes           yes             yes           yes           yes
lbr.nehalem_filters                     -             -             -             -             -               -             -             -
lbr.call_stack                        yes           yes           yes           yes           yes             yes           yes           yes
lbr.double_abort                        -             -             -             -             -               -             -             -
lbr.from_base                       0x680         0x680         0x680         0x680         0x680           0x680         0x680         0x680
lbr.arch_depths                         -             -             -             -             -               -             -             -
lbr.cpuid_1c_eax_flags                  -             -             -             -             -               -             -             -
lbr.cpuid_1c_ebx                        -             -             -             -             -               -             -             -
lbr.cpuid_1c_ecx                        -             -             -             -             -               -             -             -
# PEBS
pebs.format                             3             3             3             3             4               4             4             4
pebs.counters                         0xF           0xF           0xF           0xF   0xF000000FF     0xF000000FF   0xF000000FF   0xF000000FF
pebs.distribution                     0x2           0x2           0x2           0x2   0x100000000     0x100000000   0x100000000   0x100000000
pebs.baseline                           -             -             -             -           yes             yes           yes           yes
pebs.precise_store                      -             -             -             -             -               -             -             -
pebs.load_latency                     yes           yes           yes           yes           yes             yes           yes           yes
pebs.frontend                         yes           yes           yes           yes           yes             yes           yes           yes
pebs.latency_split                      -             -             -             -             -               -             -             -
pebs.eventing_ip                      yes           yes           yes           yes           yes             yes           yes           yes
pebs.arch_capabilities                  -             -             -             -             -               -             -             -
pebs.data_source                  skylake       skylake       skylake       skylake       skylake         skylake       skylake       skylake
# auto counter reload
acr.reloadable                          -             -             -             -             -               -             -             -
acr.cause                               -             -             -             -             -               -             -             -
)";

}  // namespace pmusim::tables::features

#endif
