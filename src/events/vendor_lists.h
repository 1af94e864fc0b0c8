// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_VENDOR_LISTS_H
#define PMUSIM_SRC_EVENTS_VENDOR_LISTS_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

/// The event lists that the vendor publishes, one for each product or core of a hybrid one, under the
/// abbreviations of those lists.
namespace pmusim::events::vendor_lists {

/// A set of lists, bit n for the n-th of `List`.
using Lists = u64;

enum class List : u8 {
  nhm,
  wsm,
  snb,
  ivb,
  hsw,
  bdw,
  skl,
  skx,
  clx,
  icl,
  icx,
  tgl,
  rkl,
  adl_p,
  spr,
  emr,
  mtl_p,
  gnr,
  lnl_p,
  arl_p,
  ptl_p,
  nvl_p,
  bnl,
  slm,
  knl,
  glm,
  glp,
  snr,
  adl_e,
  mtl_e,
  srf,
  lnl_e,
  arl_e,
  ptl_e,
  cwf,
  nvl_e,
  count_
};
static_assert(static_cast<unsigned>(List::count_) <= 64);

/// The list of a model, as a set of one, by its CPUID family, model and stepping; 0 where the vendor
/// publishes none.
Lists list_of(const CpuModel& model);

/// A name that libpfm4 lacks for one of the lists, or encodes otherwise than the list does.
struct Name {
  std::string_view name;
  u64 config;  ///< event select bits, UMASK2 in bits 47:40
  u64 extra;   ///< value of the extra register, or load-latency threshold
  Lists lists;
};

/// By name, then by config.
std::span<const Name> names();

/// The value of the off-core register that a name stands for: OCR.REQUEST.RESPONSE, or OFFCORE_RESPONSE with
/// the same two. A list's names are all of its requests with all of its responses.
std::optional<u64> off_core_value(Lists list, std::string_view name);

/// Every name that off_core_value() takes for a list, in the list's own spelling.
std::vector<std::string> off_core_names(Lists list);

}  // namespace pmusim::events::vendor_lists

#endif
