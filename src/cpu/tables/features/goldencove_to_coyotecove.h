// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_GOLDENCOVE_TO_COYOTECOVE_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_GOLDENCOVE_TO_COYOTECOVE_H

#include <string_view>

/// P cores from Golden Cove to Coyote Cove: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view goldencove_to_coyotecove = R"(
                               goldencove  sapphirerapids  emeraldrapids   redwoodcove  graniterapids       lioncove    arrowlake-h     cougarcove       diamondrapids          coyotecove
# CPUID
family                                  6               6              6             6              6              6              6              6                  19                  18
model                                0x97            0x8F           0xCF          0xAA           0xAD           0xBD           0xC5           0xCC                 0x1                 0x1
stepping                                2               8              2             4              1              1              1              1                   0                   0
hybrid                                yes               -              -           yes              -            yes            yes            yes                   -                 yes
native_model_id                         1               -              -             2              2              3              3              4                   4                   5
# counters
perfmon_version                         5               5              5             5              5              6              5              6                   6                   6
gp_counters                          0xFF            0xFF           0xFF          0xFF           0xFF          0x3FF          0x3FF          0x3FF                0xFF                0xFF
gp_counters_smt_off                     -               -              -             -              -              -              -              -                   -                   -
fixed_counters                        0xF             0xF            0xF           0xF            0xF            0xF            0xF            0xF                 0xF                 0xF
counter_width                          48              48             48            48             48             48             48             48                  48                  48
arch_events                          0xFF            0xFF           0xFF         0xDFF          0xDFF         0x1DFF         0x1DFF         0x1DFF              0x1DFF              0x1DFF
arch_events_length                      7               8              8             7              8             13              7             13                  13                  13
leaf_0a_edx_strays                      -               -              -             -              -              -              -              -                   -                   -
# leaf 0AH of hybrids: what the cores have in common
package_view.gp_counters             0x3F               -              -          0xFF              -           0xFF           0xFF           0xFF                   -                0xFF
package_view.fixed_counters           0x7               -              -           0x7              -            0x7            0x7            0x7                   -                 0x7
package_view.arch_events             0x7F               -              -          0x7F              -         0x1D7F           0x7F         0x1D7F                   -              0x1D7F
perf_capabilities                  0xF4FF          0xF4FF         0xF4FF       0x275FF        0x2F5FF        0x2F6FF        0x2F5FF        0x2BFFF             0xABFFF             0x2BFFF
freeze                        streamlined     streamlined    streamlined   streamlined    streamlined    streamlined    streamlined    streamlined         streamlined         streamlined
anythread                               -               -              -             -              -              -              -              -                   -                   -
smt_shared_filters                      -               -              -             -              -              -              -              -                   -                   -
rtm                                     -             yes            yes             -            yes              -              -              -                 yes                   -
hle                                     -             yes            yes             -            yes              -              -              -                 yes                   -
arch_perfmon_ext                        -               -              -           yes            yes            yes            yes            yes                 yes                 yes
perfmon_ext_ebx                         -               -              -             -              -            0x3            0x3            0x3                 0x7                 0x7
metrics_levels                          2               2              2             2              2              2              2              2                   2                   2
reference_event_is_tsc                yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
core.port_events                   shared          shared         shared        shared         shared         shared         shared         shared              shared              shared
# registers beside the counters
has_pdcm                              yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
has_ibpb                              yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
has_rdtscp                            yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
has_tsc_adjust                        yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
has_pperf                             yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
has_tsx_force_abort                     -               -              -             -              -              -              -              -                   -                   -
has_bus_lock_detect                   yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
offcore_rsp.0                0x3FFFFFFFFF    0x3FFFFFFFFF   0x3FFFFFFFFF  0x3FFFFFFFFF   0x3FFFFFFFFF  0xFFFFFFFFFFF  0xFFFFFFFFFFF  0xFFFFFFFFFFF                   -                   -
offcore_rsp.1                0x3FFFFFFFFF    0x3FFFFFFFFF   0x3FFFFFFFFF  0x3FFFFFFFFF   0x3FFFFFFFFF  0xFFFFFFFFFFF  0xFFFFFFFFFFF  0xFFFFFFFFFFF                   -                   -
omr                                     -               -              -             -              -              -              -              -  0x40FFFFFF0000FFFF  0x40FFFFFF0000FFFF
snoop_rsp                               -               -              -             -              -              -              -              -                   -                   -
xcr0                                0x207         0x602E7        0x602E7         0x207        0x602E7          0x207          0x207          0x207             0xE02E7             0x802E7
xss                                0xD900          0xDD00         0xDD00        0xD900        0x1DD00         0xD900         0xD900        0x1D900             0x1DD00             0x1D900
has_xsaves                            yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
# branch records
lbr.depth                              32              32             32            32             32             32             32             32                  32                  32
lbr.format                           arch            arch           arch          arch           arch           arch           arch           arch                arch                arch
lbr.has_select                          -               -              -             -              -              -              -              -                   -                   -
lbr.nehalem_filters                     -               -              -             -              -              -              -              -                   -                   -
lbr.call_stack                        yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
lbr.double_abort                        -               -              -             -              -              -              -              -                   -                   -
lbr.from_base                           -               -              -             -              -              -              -              -                   -                   -
lbr.arch_depths                       0xB             0xB            0xB           0xB            0xB            0xB            0xB            0xB                 0xB                 0xB
lbr.cpuid_1c_eax_flags         0x40000000      0x40000000     0x40000000    0x40000000     0x40000000     0x40000000     0x40000000     0x40000000          0x40000000          0x40000000
lbr.cpuid_1c_ebx                      0x7             0x7            0x7           0x7            0x7            0x7            0x7            0x7                 0x7                 0x7
lbr.cpuid_1c_ecx                      0x7             0x7            0x7           0x7            0x7        0xF0007            0x7        0xF0007             0xF0007             0xF0007
# PEBS
pebs.format                             4               4              4             5              5              6              5  architectural       architectural       architectural
pebs.counters                 0xF000000FF     0xF000000FF    0xF000000FF   0xF000000FF    0xF000000FF    0xF000003FF    0xF000003FF    0xF000003FF         0xF000000FF         0xF000000FF
pebs.distribution             0x100000001     0x100000001    0x100000001   0x100000001    0x100000001    0x100000003    0x100000003    0x100000003         0x100000003         0x100000003
pebs.baseline                         yes             yes            yes           yes            yes            yes            yes              -                   -                   -
pebs.precise_store                      -               -              -             -              -              -              -              -                   -                   -
pebs.load_latency                     yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
pebs.frontend                         yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
pebs.latency_split                    yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
pebs.eventing_ip                      yes             yes            yes           yes            yes            yes            yes            yes                 yes                 yes
pebs.arch_capabilities                  -               -              -             -              -              -              -     0x60060378          0x60060378          0x60060378
pebs.data_source              golden_cove     golden_cove    golden_cove   golden_cove    golden_cove      lion_cove      lion_cove      lion_cove        panther_cove        panther_cove
# auto counter reload
acr.reloadable                          -               -              -             -              -              -              -              -         0x3000000FC         0x3000000FC
acr.cause                               -               -              -             -              -              -              -              -         0x3000000FC         0x3000000FC
)";

}  // namespace pmusim::tables::features

#endif
