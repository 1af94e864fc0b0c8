// SPDX-License-Identifier: MIT
#include "host/setups.h"

namespace pmusim::linux_driver {

namespace {

std::vector<Setup> of_counters() {
  return {
      {.name = "amd-raw", .text = "raw encodings", .events = "r00c0:u,r00c2:u,r00c3:u,r00c4:u,r0076:u"},
      {.name = "amd-wide", .text = "events of 12 bits", .events = "cpu/event=0x18e,umask=0x1f/u,r00c0:u"},
      {.name = "amd-generic",
       .text = "generic events of caches",
       .events = "cache-references:u,cache-misses:u"},
      {.name = "amd-cache",
       .text = "generic cache events",
       .events = "L1-dcache-loads:u,L1-dcache-load-misses:u,dTLB-loads:u,dTLB-load-misses:u,"
                 "iTLB-load-misses:u,branch-loads:u"},
      {.name = "amd-cmask",
       .text = "edges and thresholds",
       .events = "cpu/event=0xc0,cmask=2/u,cpu/event=0xc4,edge=1,cmask=1/u,cpu/event=0xc0,cmask=1,inv=1/u"},
      {.name = "amd-group-six",
       .text = "a group that has all counters",
       .events = "{cycles:u,instructions:u,branches:u,branch-misses:u,r00c4:u,r0076:u}"},
      {.name = "amd-group-seven",
       .text = "a group with more events than counters",
       .events = "{cycles:u,instructions:u,branches:u,branch-misses:u,r00c4:u,r0076:u,r00c0:u}"},
      {.name = "amd-multiplex",
       .text = "more events than counters",
       .events = "r00c0:u,r00c2:u,r00c3:u,r00c4:u,r0076:u,cpu/event=0xc0,cmask=2/u,cpu/event=0xc4,cmask=1/u,"
                 "cpu/event=0xc0,cmask=3/u,cpu/event=0xc0,cmask=4/u"},
      {.name = "amd-multiplex-groups",
       .text = "groups that take turns",
       .events = "{r00c0:u,r00c2:u,r00c3:u,r00c4:u},{cycles:u,instructions:u,branches:u},branch-misses:u"},
      {.name = "amd-pinned",
       .text = "an event that must stay among those that take turns",
       .events = "instructions:uD,r00c0:u,r00c2:u,r00c3:u,r00c4:u,r0076:u,cpu/event=0xc0,cmask=2/u"},
      {.name = "amd-task-multiplex",
       .text = "more events of a task than counters",
       .events = "r00c0:u,r00c2:u,r00c3:u,r00c4:u,r0076:u,cpu/event=0xc0,cmask=2/u,cpu/event=0xc4,cmask=1/u,"
                 "cpu/event=0xc0,cmask=3/u",
       .whose = Setup::Whose::task},
  };
}

/// Floating-point additions and fused multiplications need two counters each.
std::vector<Setup> of_pairs() {
  return {
      {.name = "amd-flops",
       .text = "floating-point operations, beside other events",
       .events = "cpu/event=0x3,umask=0x1/u,instructions:u,cpu/event=0x3,umask=0x8/u"},
      {.name = "amd-flops-group",
       .text = "a group that has all counters",
       .events = "{cpu/event=0x3,umask=0x1/u,cpu/event=0x3,umask=0x8/u,cycles:u,instructions:u}"},
      {.name = "amd-flops-group-five",
       .text = "a group that does not fit",
       .events = "{cpu/event=0x3,umask=0x1/u,cpu/event=0x3,umask=0x8/u,cycles:u,instructions:u,branches:u}"},
      {.name = "amd-flops-multiplex",
       .text = "pairs that take turns",
       .events = "cpu/event=0x3,umask=0x1/u,cpu/event=0x3,umask=0x8/u,cpu/event=0x3,umask=0x2/u,"
                 "cpu/event=0x3,umask=0x4/u,instructions:u,branches:u"},
  };
}

std::vector<Setup> of_sampled_pairs() {
  return {
      {.name = "amd-flops-sample",
       .text = "samples of floating-point operations",
       .events = "cpu/event=0x3,umask=0x1/u,cpu/event=0x3,umask=0x8/u",
       .period = 1009},
      {.name = "amd-flops-operate",
       .text = "the same, switched and given other periods",
       .events = "cpu/event=0x3,umask=0x1/u,instructions:u",
       .period = 1009,
       .operated = true},
  };
}

std::vector<Setup> of_samples() {
  using namespace perf::branch;
  return {
      {.name = "amd-sample-multiplex",
       .text = "samples of more events than counters",
       .events = "r00c0:u,r00c2:u,r00c4:u,r0076:u,cpu/event=0xc0,cmask=2/u,cpu/event=0xc4,cmask=1/u,"
                 "cpu/event=0xc0,cmask=3/u",
       .period = 1009},
      {.name = "amd-lbr-two",
       .text = "two events with branch stacks",
       .events = "branches:u,instructions:u",
       .period = 1511,
       .branches = USER | ANY},
      {.name = "amd-lbr-frequency",
       .text = "branch stacks in frequency mode",
       .events = "branches:u",
       .frequency = 20000,
       .branches = USER | ANY},
      {.name = "brs",
       .text = "taken branches with branch stacks",
       .events = "r00c4:u",
       .period = 1009,
       .branches = USER | ANY},
      {.name = "brs-beside",
       .text = "the same beside an event that samples without",
       .events = "r00c4:u,r00c4,branches:u",
       .period = 811,
       .branches = USER | ANY},
      {.name = "brs-short",
       .text = "a period that branch sampling does not take",
       .events = "r00c4:u",
       .period = 16,
       .branches = USER | ANY},
      {.name = "brs-frequency",
       .text = "frequency mode, which branch sampling does not take",
       .events = "r00c4:u",
       .frequency = 20000,
       .branches = USER | ANY},
      {.name = "brs-operate",
       .text = "taken branches with branch stacks, switched and given other periods",
       .events = "r00c4:u",
       .period = 1009,
       .branches = USER | ANY,
       .operated = true},
      {.name = "brs-task",
       .text = "taken branches of a task with branch stacks",
       .events = "r00c4:u",
       .period = 211,
       .branches = USER | ANY,
       .whose = Setup::Whose::task},
      {.name = "precise-cycles", .text = "cycles, forwarded to ibs_op", .events = "cycles:p", .period = 4096},
      {.name = "precise-raw", .text = "raw cycles, forwarded", .events = "r0076:pp", .period = 4096},
      {.name = "precise-ops", .text = "dispatched ops, forwarded", .events = "r00c1:pp", .period = 4096},
      {.name = "precise-refused",
       .text = "precise instructions, which there are none of",
       .events = "instructions:p",
       .period = 4096},
      {.name = "precise-three",
       .text = "a level of precision that there is none of",
       .events = "cycles:ppp",
       .period = 4096},
  };
}

std::vector<Setup> of_ibs() {
  return {
      {.name = "ibs-op", .text = "ibs_op by cycles", .events = "ibs_op//", .period = 4096},
      {.name = "ibs-op-ops", .text = "by ops", .events = "ibs_op/cnt_ctl=1/", .period = 4096},
      {.name = "ibs-op-raw",
       .text = "by ops, with the registers",
       .events = "ibs_op/cnt_ctl=1/",
       .period = 1024,
       .raw = true},
      {.name = "ibs-op-memory",
       .text = "with addresses, data sources and latencies",
       .events = "ibs_op/cnt_ctl=1/",
       .period = 512,
       .addresses = true,
       .weight = true},
      {.name = "ibs-op-all",
       .text = "with all of it, by cycles",
       .events = "ibs_op//",
       .period = 2048,
       .interrupt_registers = general_registers,
       .addresses = true,
       .weight = true,
       .raw = true},
      {.name = "ibs-op-odd",
       .text = "a period that is no multiple of 16",
       .events = "ibs_op//",
       .period = 4099},
      {.name = "ibs-op-short", .text = "a period below the least", .events = "ibs_op//", .period = 128},
      {.name = "ibs-op-frequency", .text = "frequency mode", .events = "ibs_op//", .frequency = 20000},
      {.name = "ibs-op-frequency-ops",
       .text = "frequency mode by ops",
       .events = "ibs_op/cnt_ctl=1/",
       .frequency = 9000},
      {.name = "ibs-op-miss",
       .text = "what misses the L3 cache",
       .events = "ibs_op/cnt_ctl=1,l3missonly=1/",
       .period = 256,
       .addresses = true,
       .weight = true},
      {.name = "ibs-op-latency",
       .text = "slow loads",
       .events = "ibs_op/cnt_ctl=1,ldlat=128/",
       .period = 256,
       .addresses = true,
       .weight = true},
      {.name = "ibs-op-throttle",
       .text = "more samples than the kernel takes",
       .events = "ibs_op//",
       .period = 144},
      {.name = "ibs-fetch", .text = "ibs_fetch", .events = "ibs_fetch//", .period = 1024},
      {.name = "ibs-fetch-raw",
       .text = "with the registers",
       .events = "ibs_fetch//",
       .period = 512,
       .raw = true},
      {.name = "ibs-fetch-random",
       .text = "random starts",
       .events = "ibs_fetch/rand_en=1/",
       .period = 512,
       .raw = true},
      {.name = "ibs-fetch-miss",
       .text = "what misses the L3 cache",
       .events = "ibs_fetch/rand_en=1,l3missonly=1/",
       .period = 64,
       .raw = true},
      {.name = "ibs-fetch-frequency", .text = "frequency mode", .events = "ibs_fetch//", .frequency = 20000},
      {.name = "ibs-fetch-throttle",
       .text = "more samples than the kernel takes",
       .events = "ibs_fetch//",
       .period = 16},
      {.name = "ibs-both",
       .text = "both units",
       .events = "ibs_op//,ibs_fetch//",
       .period = 2048,
       .raw = true},
      {.name = "ibs-turns",
       .text = "two events that take turns on one unit",
       .events = "ibs_op//,ibs_op/cnt_ctl=1/",
       .period = 1024},
      {.name = "ibs-beside",
       .text = "beside counters that sample",
       .events = "ibs_op//,branches:u,ibs_fetch//,instructions:u",
       .period = 2048},
      {.name = "ibs-group",
       .text = "a unit in a group that counters lead",
       .events = "{cycles:u,ibs_op//}",
       .period = 4096},
      {.name = "ibs-group-two",
       .text = "a group with two events of one unit",
       .events = "{ibs_op//,ibs_op/cnt_ctl=1/}",
       .period = 4096},
      {.name = "ibs-branches",
       .text = "branch stacks, which units have none of",
       .events = "ibs_op//",
       .period = 4096,
       .branches = perf::branch::USER | perf::branch::ANY},
      {.name = "ibs-count",
       .text = "a period in config, counting",
       .events = "ibs_op/config=0x100/",
       .samples = false},
      {.name = "ibs-operate",
       .text = "events of both units that are switched and given other periods",
       .events = "ibs_op//,ibs_fetch//",
       .period = 1024,
       .operated = true},
      {.name = "ibs-task",
       .text = "of a task and its children",
       .events = "ibs_op/cnt_ctl=1/,ibs_fetch//",
       .period = 1024,
       .whose = Setup::Whose::task},
  };
}

void add(std::vector<Setup>& all, std::vector<Setup> more, bool samples) {
  for (Setup& setup : more) {
    setup.vendor = Vendor::amd;
    setup.samples = setup.samples && samples;
    all.push_back(std::move(setup));
  }
}

}  // namespace

std::vector<Setup> amd_setups() {
  std::vector<Setup> all;
  add(all, of_counters(), false);
  add(all, of_pairs(), false);
  add(all, of_samples(), true);
  add(all, of_sampled_pairs(), true);
  add(all, of_ibs(), true);
  return all;
}

}  // namespace pmusim::linux_driver
