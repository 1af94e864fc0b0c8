// SPDX-License-Identifier: MIT
#include "events/resolve.h"
#include "host/outcome.h"

namespace pmusim::linux_driver {

const std::vector<Setup>& setups() {
  using namespace perf::branch;
  constexpr u64 general_registers = 0xff0fff;
  static const std::vector<Setup> all{
      {.name = "count",
       .text = "events that count",
       .events = "instructions:u,branches:u,branch-misses:u",
       .samples = false},
      {.name = "count-fixed",
       .text = "the fixed counters' events",
       .events = "cycles:u,instructions:u,ref-cycles:u",
       .samples = false},
      {.name = "count-raw", .text = "raw encodings", .events = "r00c0:u,r00c4:u,r00c5:u", .samples = false},
      {.name = "count-cmask",
       .text = "edges and thresholds",
       .events = "cpu/event=0xc0,cmask=2/u,cpu/event=0xc4,edge=1,cmask=1/u,cpu/event=0xc0,cmask=1,inv=1/u",
       .samples = false},
      {.name = "group",
       .text = "a group",
       .events = "{cycles:u,instructions:u,branches:u}",
       .samples = false},
      {.name = "groups",
       .text = "two groups",
       .events = "{cycles:u,branches:u},{instructions:u,branch-misses:u}",
       .samples = false},
      {.name = "multiplex",
       .text = "more events than counters",
       .events = "r00c0:u,r00c4:u,r00c5:u,r412e:u,r4f2e:u,cpu/event=0xc0,cmask=2/u,cpu/"
                 "event=0xc4,edge=1,cmask=1/u,cpu/event=0xc0,cmask=3/u,cpu/event=0xc0,cmask=4/u,cpu/"
                 "event=0xc4,cmask=1/u,cpu/event=0xc4,cmask=2/u",
       .samples = false},
      {.name = "topdown",
       .text = "top-down slots",
       .events = "{slots:u,topdown-retiring:u,topdown-bad-spec:u}",
       .samples = false},
      {.name = "pinned",
       .text = "an event that must stay on its counter",
       .events = "instructions:uD,branches:u",
       .samples = false},
      {.name = "cache", .text = "a generic cache event", .events = "L1-dcache-loads:u", .samples = false},
      {.name = "sample", .text = "samples by interrupt", .events = "instructions:u", .period = 5003},
      {.name = "sample-branches",
       .text = "samples of a general counter",
       .events = "branches:u",
       .period = 1009},
      {.name = "sample-cycles", .text = "samples of cycles", .events = "cycles:u", .period = 7001},
      {.name = "sample-two",
       .text = "two sampling events",
       .events = "instructions:u,branches:u",
       .period = 2003},
      {.name = "sample-read",
       .text = "a group read with its leader's samples",
       .events = "{instructions:u,branches:u}:S",
       .period = 3001},
      {.name = "throttle",
       .text = "more samples than the kernel takes",
       .events = "branches:u",
       .period = 53},
      {.name = "frequency", .text = "frequency mode", .events = "instructions:u", .frequency = 20000},
      {.name = "pebs",
       .text = "single PEBS records",
       .events = "instructions:upp",
       .period = 3001,
       .interrupt_registers = general_registers},
      {.name = "pebs-large", .text = "large PEBS", .events = "cpu/event=0xc4/upp", .period = 211},
      {.name = "pebs-two",
       .text = "two precise events",
       .events = "cpu/event=0xc4/upp,cpu/event=0xc0/upp",
       .period = 907},
      {.name = "pebs-branches",
       .text = "PEBS with branch stacks",
       .events = "cpu/event=0xc4/upp",
       .period = 1009,
       .branches = USER | ANY},
      {.name = "memory-loads",
       .text = "memory sampling of loads",
       .events = "cpu/event=0xcd,umask=0x1,ldlat=3/upp",
       .period = 101,
       .addresses = true,
       .weight = true},
      {.name = "memory-all",
       .text = "memory sampling of all loads",
       .events = "cpu/event=0xd0,umask=0x81/upp",
       .period = 301,
       .addresses = true,
       .weight = true},
      {.name = "registers",
       .text = "registers of interrupts",
       .events = "branches:u",
       .period = 1009,
       .interrupt_registers = general_registers},
      {.name = "lbr-any",
       .text = "every branch",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | ANY},
      {.name = "lbr-call",
       .text = "calls",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | ANY_CALL},
      {.name = "lbr-return",
       .text = "returns",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | ANY_RETURN},
      {.name = "lbr-indirect-call",
       .text = "indirect calls",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | IND_CALL},
      {.name = "lbr-direct-call",
       .text = "direct calls",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | CALL},
      {.name = "lbr-indirect-jump",
       .text = "indirect jumps",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | IND_JUMP},
      {.name = "lbr-conditional",
       .text = "conditional branches",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | COND},
      {.name = "lbr-types",
       .text = "branch types",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | ANY | TYPE_SAVE},
      {.name = "lbr-plain",
       .text = "no flags and cycles",
       .events = "branches:u",
       .period = 1009,
       .branches = USER | ANY | NO_FLAGS | NO_CYCLES | HW_INDEX},
      {.name = "call-stack",
       .text = "call chains of the LBR",
       .events = "branches:u",
       .period = 1009,
       .call_graph = true},
  };
  return all;
}

namespace {

Result<Done, Error> in_core_model(const perf::Attr& attr, const CpuModel& model) {
  if (!events::is_pmu_event(attr)) return Done{};
  const auto event = events::resolve(model, attr);
  if (!event.ok()) return Failure(event.error());
  return Done{};
}

}  // namespace

Result<RecordOptions, Error> options_of(const Setup& setup, const CpuModel& model) {
  auto events = events::parse_events(setup.events, model);
  if (!events.ok()) return Failure(events.error());
  for (const events::EventGroup& group : *events)
    for (const events::ParsedEvent& event : group.events)
      if (auto known = in_core_model(event.attr, model); !known.ok()) return Failure(known.error());
  RecordOptions options{.events = std::move(events).value()};
  if (setup.period != 0) options.period = setup.period;
  if (setup.frequency != 0) options.frequency = setup.frequency;
  options.branch_sample_type = setup.branches;
  options.interrupt_registers = setup.interrupt_registers;
  options.call_graph_lbr = setup.call_graph;
  options.addresses = setup.addresses;
  options.weight = setup.weight;
  return options;
}

}  // namespace pmusim::linux_driver
