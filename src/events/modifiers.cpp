// SPDX-License-Identifier: MIT
#include "modifiers.h"

#include <fmt/format.h>

#include "pmusim/arch/debug_store.h"

namespace pmusim::events {
namespace {

constexpr std::string_view supported = "ukhpPGHISDWeX";
constexpr unsigned highest_precise_level = 3;

/// A level is counted if its letter is there, all of them if none is.
struct Levels {
  bool restricted = false, user = true, kernel = true, hypervisor = true;

  explicit Levels(const perf::Attr& attr)
      : restricted(attr.exclude_user || attr.exclude_kernel || attr.exclude_hv),
        user(!attr.exclude_user),
        kernel(!attr.exclude_kernel),
        hypervisor(!attr.exclude_hv) {}

  void include(bool Levels::*level) {
    if (!restricted) restricted = true, user = kernel = hypervisor = false;
    this->*level = true;
  }
  void store(perf::Attr& attr) const {
    attr.exclude_user = !user;
    attr.exclude_kernel = !kernel;
    attr.exclude_hv = !hypervisor;
  }
};

/// The same for the two sides of a virtual machine.
struct Sides {
  bool restricted, host, guest;

  explicit Sides(const perf::Attr& attr)
      : restricted(attr.exclude_host || attr.exclude_guest),
        host(!attr.exclude_host),
        guest(!attr.exclude_guest) {}

  void include(bool Sides::*side) {
    if (!restricted) restricted = true, host = guest = false;
    this->*side = true;
  }
  void store(perf::Attr& attr) const {
    attr.exclude_host = !host;
    attr.exclude_guest = !guest;
  }
};

Error refusal(char letter) {
  switch (letter) {
    case 'b':
      return Error("modifier 'b' hands the event to a BPF program, which a replay does not have");
    case 'R':
      return Error(
          "modifier 'R' (retirement latency by a second event) is not supported; retire latency is in "
          "WEIGHT");
    default:
      return Error(
          fmt::format("unknown modifier '{}'; modifiers are u k h p pp ppp P G H I S D W e X", letter));
  }
}

}  // namespace

bool looks_like_modifiers(std::string_view text) {
  constexpr std::string_view known = "ukhpPGHISDWebRX";
  return !text.empty() && text.find_first_not_of(known) == text.npos;
}

Result<Done, Error> apply_modifiers(ParsedEvent& event, std::string_view letters, const CpuModel& model) {
  perf::Attr& attr = event.attr;
  Levels levels(attr);
  Sides sides(attr);
  unsigned precise = attr.precise_ip;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    if (supported.find(letter) == supported.npos) return Failure(refusal(letter));
    if (letter != 'p' && letters.find(letter) != i)
      return Failure(Error(fmt::format("modifier '{}' is given twice", letter)));
    switch (letter) {
      case 'u':
        levels.include(&Levels::user);
        break;
      case 'k':
        levels.include(&Levels::kernel);
        break;
      case 'h':
        levels.include(&Levels::hypervisor);
        break;
      case 'G':
        sides.include(&Sides::guest);
        break;
      case 'H':
        sides.include(&Sides::host);
        break;
      case 'I':
        attr.exclude_idle = 1;
        break;
      case 'p':
        ++precise;
        break;
      case 'P':
        precise = max_precise_level(model);
        event.precision_may_fall = true;
        break;
      case 'S':
        event.sample_read = true;
        break;
      case 'D':
        attr.pinned = 1;
        break;
      case 'e':
        attr.exclusive = 1;
        break;
      case 'W':
        event.weak_group = true;
        break;
      case 'X':  // the group may not be regrouped, and none ever is here
        break;
    }
  }
  if (precise > highest_precise_level)
    return Failure(Error(fmt::format("precise level {} is above the highest, ppp", precise)));
  levels.store(attr);
  sides.store(attr);
  attr.precise_ip = precise & highest_precise_level;
  return Done{};
}

unsigned max_precise_level(const CpuModel& model) {
  if (has_unreliable_pebs(model.family, model.model)) return 0;
  return pebs::max_precise({.format = model.pebs.format,
                            .branch_records = model.lbr.depth != 0,
                            .distribution = model.pebs.distribution != 0});
}

}  // namespace pmusim::events
