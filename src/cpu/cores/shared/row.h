// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_ROW_H
#define PMUSIM_SRC_CPU_CORES_SHARED_ROW_H

#include <array>

#include "../event_rows.h"

/// Events that several cores have under one name and one code, each written down once, with the cores from
/// the first to the last that have it so.
namespace pmusim::event_rows::shared {

using enum Microarchitecture;

/// Lines of cores that follow each other. Rows name the first and the last of those that they are of.
inline constexpr std::array early_line{core2, bonnell, silvermont, knights_landing};
inline constexpr std::array big_line{nehalem, westmere,  sandy_bridge, ivy_bridge,  haswell,     broadwell,
                                     skylake, skylake_x, ice_lake,     golden_cove, redwood_cove};
inline constexpr std::array small_line{goldmont, goldmont_plus, tremont};

/// A core's place in its line; places of different lines have a gap between. 0: in none.
constexpr unsigned place_of(Microarchitecture core) {
  constexpr auto places = [] {
    std::array<u8, 256> numbers{};
    u8 next = 1;
    const auto number = [&](const auto& line) {
      for (const Microarchitecture each : line) numbers[static_cast<u8>(each)] = next++;
      ++next;
    };
    number(early_line), number(big_line), number(small_line);
    return numbers;
  }();
  return places[static_cast<u8>(core)];
}

/// A row of the cores of a line from the first to the last.
struct SharedRow {
  Microarchitecture first, last;
  EventDefinition row;
  constexpr bool is_sound() const { return place_of(first) != 0 && place_of(first) <= place_of(last); }
  constexpr bool is_of(Microarchitecture core) const {
    return place_of(first) <= place_of(core) && place_of(core) <= place_of(last);
  }
};

}  // namespace pmusim::event_rows::shared

#endif
