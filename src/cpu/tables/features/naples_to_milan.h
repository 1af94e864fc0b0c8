// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_NAPLES_TO_MILAN_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_NAPLES_TO_MILAN_H

#include <string_view>

/// AMD's from Zen to Zen 3: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view naples_to_milan = R"(
                             naples  pinnacle-ridge         rome       renoir      matisse        milan      vermeer      cezanne
# CPUID, as dumped (InstLatX64); what else follows from its words is in cpu/amd_cpuid.cpp
family                         0x17            0x17         0x17         0x17         0x17         0x19         0x19         0x19
model                           0x1             0x8         0x31         0x60         0x71          0x1         0x21         0x50
stepping                          2               2            0            1            0            1            0            0
amd.cpuid_80000001_ecx   0x35C233FF      0x35C233FF   0x75C237FF   0x75C237FF   0x75C237FF   0x75C237FF   0x75C237FF   0x75C237FF
amd.cpuid_80000008_eax       0x3030          0x3030       0x3030       0x3030       0x3030       0x3030       0x3030       0x3030
amd.cpuid_80000008_ebx          0x7             0x7    0x18CF757    0x90CF757    0x10EB757   0x91BEF75F   0x111EF657   0x191EF657
amd.cpuid_8000001b_eax            -               -        0x3FF        0x3FF        0x3FF        0x3FF        0x3FF        0x3FF
amd.cpuid_80000021_eax            -               -            -            -            -       0x204D         0x4D         0x4D
amd.cpuid_80000022_eax            -               -            -            -            -            -            -            -
amd.cpuid_80000022_ebx            -               -            -            -            -            -            -            -
# counters
gp_counters                    0x3F            0x3F         0x3F         0x3F         0x3F         0x3F         0x3F         0x3F
freeze                  streamlined     streamlined  streamlined  streamlined  streamlined  streamlined  streamlined  streamlined
rdpmc                         plain           plain        plain        plain        plain        plain        plain        plain
select                  wide_events     wide_events  wide_events  wide_events  wide_events  wide_events  wide_events  wide_events
pmi_masks_lvtpc                  no              no           no           no           no           no           no           no
# registers beside the counters
has_pdcm                         no              no           no           no           no           no           no           no
has_x2apic                       no              no          yes          yes          yes          yes          yes          yes
misc_enable                     0x0             0x0          0x0          0x0          0x0          0x0          0x0          0x0
xcr0                            0x7             0x7          0x7          0x7          0x7        0x207        0x207        0x207
xss                               -               -            -            -            -       0x1800       0x1800       0x1800
has_xsaves                      yes             yes          yes          yes          yes          yes          yes          yes
)";

}  // namespace pmusim::tables::features

#endif
