// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_FEATURES_GENOA_TO_STRIX_H
#define PMUSIM_SRC_CPU_TABLES_FEATURES_GENOA_TO_STRIX_H

#include <string_view>

/// AMD's Zen 4 and Zen 5: what hardware has and CPUID says.
namespace pmusim::tables::features {

inline constexpr std::string_view genoa_to_strix = R"(
                              genoa      raphael  raphael-early      phoenix      bergamo        turin  granite-ridge        strix
# CPUID, as dumped (InstLatX64); what else follows from its words is in cpu/amd_cpuid.cpp
family                         0x19         0x19           0x19         0x19         0x19         0x1A           0x1A         0x1A
model                          0x11         0x61           0x61         0x74         0xA0          0x2           0x44         0x24
stepping                          1            2              2            1            2            1              0            0
amd.cpuid_80000001_ecx   0x75C237FF   0x75C237FF     0x75C237FF   0x75C237FF   0x75C237FF   0x75C237FF     0x75C237FF   0x75C237FF
amd.cpuid_80000008_eax       0x3934       0x3030         0x3030       0x3030       0x3934       0x3934         0x3930       0x3930
amd.cpuid_80000008_ebx   0x79BEF25F   0x791EF257     0x191EF257   0x791EF257   0x79BEF25F   0x79BEF25F     0x791EF257   0x791EF257
amd.cpuid_8000001b_eax        0xBFF        0xBFF          0xBFF        0xBFF        0xBFF      0x81BFF        0x81BFF      0x81BFF
amd.cpuid_80000021_eax      0x62FCF      0x62FCF        0x62FCF      0x62FCF      0x62FCF   0xD93FFFCF     0x593FFFCF   0x593FFFCF
# firmware of the first Raphaels has the LBR stack without freezing on PMI
amd.cpuid_80000022_eax          0x7          0x7            0x3          0x7          0x3          0x7            0x7          0x7
amd.cpuid_80000022_ebx     0x304106      0x84106        0x84106      0x81106     0x204106     0x304106        0x84106     0x102106
# counters
gp_counters                    0x3F         0x3F           0x3F         0x3F         0x3F         0x3F           0x3F         0x3F
freeze                  streamlined  streamlined    streamlined  streamlined  streamlined  streamlined    streamlined  streamlined
rdpmc                         plain        plain          plain        plain        plain        plain          plain        plain
select                  wide_events  wide_events    wide_events  wide_events  wide_events  wide_events    wide_events  wide_events
pmi_masks_lvtpc                  no           no             no           no           no           no             no           no
# registers beside the counters
has_pdcm                         no           no             no           no           no           no             no           no
has_x2apic                      yes          yes            yes          yes          yes          yes            yes          yes
misc_enable                     0x0          0x0            0x0          0x0          0x0          0x0            0x0          0x0
xcr0                          0x2E7        0x2E7          0x2E7        0x2E7        0x2E7        0x2E7          0x2E7        0x2E7
xss                          0x1800       0x1800         0x1800       0x1800       0x1800       0x1800         0x1800       0x1800
has_xsaves                      yes          yes            yes          yes          yes          yes            yes          yes
)";

}  // namespace pmusim::tables::features

#endif
