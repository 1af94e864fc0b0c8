// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_EVENT_CODE_H
#define PMUSIM_SRC_EVENTS_EVENT_CODE_H

#include "pmusim/arch/msr.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

namespace pmusim::events {

/// An event's number and unit mask.
struct EventCode {
  u16 event = 0, umask = 0;
};

/// As event selects of a layout hold them: unit masks of up to 16 bits, or events of 12.
constexpr EventCode event_code(SelectLayout layout, u64 config) {
  const auto umask = static_cast<u16>(field(config, 15, 8));
  if (layout == SelectLayout::wide_events) return {msr::amd::ctl::event(config), umask};
  return {static_cast<u16>(field(config, 7, 0)), static_cast<u16>(umask | field(config, 47, 40) << 8)};
}

/// The bits that hold them.
constexpr u64 event_code_bits(SelectLayout layout) {
  return bits(15, 0) | (layout == SelectLayout::wide_events ? msr::amd::ctl::EVENT_HIGH : bits(47, 40));
}

}  // namespace pmusim::events

#endif
