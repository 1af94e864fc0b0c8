// SPDX-License-Identifier: MIT
#include "host/drawn.h"

#include <fmt/format.h>

#include <array>

namespace pmusim::linux_driver {

namespace {

/// Events that the trace's program has many of. Cycles and instructions may be on fixed counters.
constexpr std::array<const char*, 7> reloaded_events{"event=0xc4",
                                                     "event=0xc5",
                                                     "event=0xc0",
                                                     "event=0x3c",
                                                     "event=0xc5,edge=1,cmask=1",
                                                     "event=0xc0,cmask=2",
                                                     "event=0xc4,edge=1,cmask=1"};

/// Linux's mark of an exact instruction pointer is in the flags.
constexpr u64 registers_but_flags = 0xff0dff;

/// Any magnitude from 16 to 8191 is as likely as the next.
u64 drawn_period(Drawing& draw) {
  const u64 magnitude = 4 + draw.below(9);
  return (u64{1} << magnitude) + draw.below(u64{1} << magnitude);
}

/// Of positions in the group; now and then of one behind its end.
u64 drawn_mask(Drawing& draw, u64 members) {
  const u64 beyond = draw.chance(5) ? u64{1} << members : 0;
  return draw.below(u64{1} << members) | beyond;
}

enum class Precise : u8 { none, all, leader, some };

Precise drawn_precise(Drawing& draw) {
  const u64 n = draw.below(10);
  return n < 6 ? Precise::none : n < 8 ? Precise::all : n < 9 ? Precise::leader : Precise::some;
}

std::string drawn_event(Drawing& draw, u64 members, bool precise) {
  std::string text = fmt::format("cpu/{}", reloaded_events[draw.below(reloaded_events.size())]);
  if (draw.chance(90)) text += fmt::format(",period={}", drawn_period(draw));
  if (draw.chance(80)) text += fmt::format(",acr_mask={:#x}", drawn_mask(draw, members));
  return text + (!precise ? "/u" : draw.chance(10) ? "/uppp" : "/upp");
}

std::string drawn_group(Drawing& draw) {
  const u64 members = 1 + draw.below(draw.chance(20) ? 7 : 4);
  const bool read = draw.chance(10);
  const Precise precise = drawn_precise(draw);
  std::string text;
  for (u64 n = 0; n < members; ++n) {
    const bool exactly = precise == Precise::all || (precise == Precise::leader && n == 0) ||
                         (precise == Precise::some && draw.chance(50));
    text += (n == 0 ? "" : ",") + drawn_event(draw, members, exactly);
  }
  return fmt::format("{{{}}}{}", text, read ? ":S" : "");
}

/// What shares the counters with the group: nothing, a plain event, a precise one, a group of either kind, or
/// so much that they take turns.
std::string drawn_company(Drawing& draw) {
  switch (draw.below(10)) {
    case 0:
      return "cpu/event=0xc4/u";
    case 1:
      return "cpu/event=0xc4/upp";
    case 2:
      return drawn_group(draw);
    case 3:
      return "{cpu/event=0xc4/u,cpu/event=0xc0/u}";
    case 4:
      return drawn_group(draw) + "," + drawn_group(draw) + "," + drawn_group(draw);
    default:
      return "";
  }
}

}  // namespace

Setup drawn_reload_setup(u64 seed, u64 number) {
  Drawing draw(seed * 1'000'003 + number);
  Setup setup{.name = fmt::format("acr-drawn-{}", number)};
  setup.events = drawn_group(draw);
  const std::string company = drawn_company(draw);
  if (!company.empty())
    setup.events = draw.chance(30) ? company + "," + setup.events : setup.events + "," + company;
  setup.period = drawn_period(draw);
  setup.samples = !draw.chance(10);
  if (draw.chance(20)) setup.branches = perf::branch::USER | perf::branch::ANY;
  if (draw.chance(10)) setup.interrupt_registers = registers_but_flags;
  if (draw.chance(20)) setup.whose = Setup::Whose::task;
  // Precise events that are operated on meet a bug of Linux 7.3, which operate-pebs is for.
  const bool precise = setup.events.find("pp") != std::string::npos;
  setup.operated = draw.chance(20) && !precise;
  setup.scripted = true;
  setup.since_release = 7 << 8 | 3;
  setup.text = fmt::format(
      "drawn: period {}{}{}{}{}{}", setup.period, setup.samples ? "" : ", counts only",
      setup.branches != 0 ? ", branch stacks" : "", setup.interrupt_registers != 0 ? ", registers" : "",
      setup.whose == Setup::Whose::task ? ", of a task" : "", setup.operated ? ", operated" : "");
  return setup;
}

}  // namespace pmusim::linux_driver
