// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_GRACEMONT_TO_ARCTICWOLF_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_GRACEMONT_TO_ARCTICWOLF_H

#include <string_view>

/// Small cores from Gracemont to Arctic Wolf: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view gracemont_to_arcticwolf = R"(
                                gracemont        sierraforest           crestmont             skymont    arrowlake-h-atom            darkmont    clearwaterforest          arcticwolf
# CPUID
family                                  6                   6                   6                   6                   6                   6                   6                  18
model                                0xBE                0xAF                0xAA                0xBD                0xC5                0xCC                0xDD                 0x1
stepping                                0                   3                   4                   1                   1                   1                   0                   1
hybrid                                  -                   -                 yes                 yes                 yes                 yes                   -                 yes
native_model_id                         1                   2                   2                   3                   3                   4                   4                   5
# counters
perfmon_version                         5                   5                   5                   6                   5                   6                   6                   6
gp_counters                          0x3F                0xFF                0xFF                0xFF                0xFF                0xFF                0xFF                0xFF
gp_counters_smt_off                     -                   -                   -                   -                   -                   -                   -                   -
fixed_counters                        0x7                 0x7                 0x7                0x77                0x77                0x77                0x77                0x77
counter_width                          48                  48                  48                  48                  48                  48                  48                  48
arch_events                          0x7F                0x7F                0x7F              0x1F7F              0x1F7F              0x1F7F              0x1F7F              0x1F7F
arch_events_length                      7                   7                   7                  13                   7                  13                  13                  13
leaf_0a_edx_strays                      -                   -                   -                   -                   -                   -                   -                   -
# leaf 0AH of hybrids: what the cores have in common; Meteor Lake's happens to describe its E core in full
package_view.gp_counters                -                   -                   -                0xFF                0xFF                0xFF                   -                0xFF
package_view.fixed_counters             -                   -                   -                 0x7                 0x7                 0x7                   -                 0x7
package_view.arch_events                -                   -                   -              0x1D7F                0x7F              0x1D7F                   -              0x1D7F
perf_capabilities                 0x174FF             0x275FF             0x275FF             0x276FF             0x275FF             0x23FFF             0x23FFF             0x23FFF
freeze                        streamlined         streamlined         streamlined         streamlined         streamlined         streamlined         streamlined         streamlined
anythread                               -                   -                   -                   -                   -                   -                   -                   -
smt_shared_filters                      -                   -                   -                   -                   -                   -                   -                   -
rtm                                     -                   -                   -                   -                   -                   -                   -                   -
hle                                     -                   -                   -                   -                   -                   -                   -                   -
arch_perfmon_ext                        -                 yes                 yes                 yes                 yes                 yes                 yes                 yes
perfmon_ext_ebx                         -                   -                   -                 0x3                 0x3                 0x3                 0x3                 0x7
metrics_levels                          -                   -                   -                   -                   -                   -                   -                   -
reference_event_is_tsc                yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
core.port_events                 one_each            one_each            one_each            one_each            one_each            one_each            one_each            one_each
# registers beside the counters
has_pdcm                              yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
has_ibpb                              yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
has_rdtscp                            yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
has_tsc_adjust                        yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
has_pperf                             yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
has_tsx_force_abort                     -                   -                   -                   -                   -                   -                   -                   -
has_bus_lock_detect                   yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
offcore_rsp.0                0x3FFFFFFFFF  0x800FF3FFFFFFFFFF  0x800FF3FFFFFFFFFF  0x800FF3FFFFFFFFFF  0x800FF3FFFFFFFFFF  0x800FF3FFFFFFFFFF  0x800FF3FFFFFFFFFF                   -
offcore_rsp.1                0x3FFFFFFFFF     0xFF3FFFFFFFFFF     0xFF3FFFFFFFFFF     0xFF3FFFFFFFFFF     0xFF3FFFFFFFFFF     0xFF3FFFFFFFFFF     0xFF3FFFFFFFFFF                   -
omr                                     -                   -                   -                   -                   -                   -                   -  0xC0FFFFFFFFFFFFFF
snoop_rsp                               -  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF  0xFFFFFFFFFFFFFFFF
xcr0                                0x207               0x207               0x207               0x207               0x207               0x207               0x207               0x207
xss                                0xD900              0xDD00              0xD900              0xD900              0xD900             0x1D900             0x1DD00             0x1D900
has_xsaves                            yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
# branch records
lbr.depth                              32                  32                  32                  32                  32                  32                  32                  32
lbr.format                           arch                arch                arch                arch                arch                arch                arch                arch
lbr.has_select                          -                   -                   -                   -                   -                   -                   -                   -
lbr.nehalem_filters                     -                   -                   -                   -                   -                   -                   -                   -
lbr.call_stack                        yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
lbr.double_abort                        -                   -                   -                   -                   -                   -                   -                   -
lbr.from_base                           -                   -                   -                   -                   -                   -                   -                   -
lbr.arch_depths                       0xB                 0xB                 0xB                 0xB                 0xB                 0xB                 0xB                 0xB
lbr.cpuid_1c_eax_flags         0xC0000000          0xC0000000          0xC0000000          0xC0000000          0xC0000000          0xC0000000          0xC0000000          0xC0000000
lbr.cpuid_1c_ebx                      0x7                 0x7                 0x7                 0x7                 0x7                 0x7                 0x7                 0x7
lbr.cpuid_1c_ecx                      0x7             0xF0007                 0x7             0xF0007                 0x7             0xF0007             0xF0007             0xF0007
# PEBS
pebs.format                             4                   5                   5                   6                   5       architectural       architectural       architectural
pebs.counters                 0x70000003F         0x7000000FF         0x7000000FF        0x77000000FF        0x77000000FF        0x77000000FF        0x77000000FF        0x77000000FF
pebs.distribution             0x100000001         0x100000003         0x100000003         0x100000003         0x100000003         0x100000003         0x100000003         0x100000003
pebs.baseline                         yes                 yes                 yes                 yes                 yes                   -                   -                   -
pebs.precise_store                      -                   -                   -                   -                   -                   -                   -                   -
pebs.load_latency                     yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
pebs.frontend                           -                   -                   -                   -                   -                   -                   -                   -
pebs.latency_split                    yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
pebs.eventing_ip                      yes                 yes                 yes                 yes                 yes                 yes                 yes                 yes
pebs.arch_capabilities                  -                   -                   -                   -                   -          0x60060338          0x60060338          0x60060338
pebs.data_source                gracemont           crestmont           crestmont           crestmont           crestmont           crestmont           crestmont         arctic_wolf
# auto counter reload
acr.reloadable                          -                   -                   -         0x3000000FC                   -         0x3000000FC         0x3000000FC         0x3000000FC
acr.cause                               -                   -                   -         0x3000000FC                   -         0x3000000FC         0x3000000FC         0x3000000FC
)";

}  // namespace pmusim::tables::features

#endif
