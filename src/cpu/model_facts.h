// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MODEL_FACTS_H
#define PMUSIM_CPU_MODEL_FACTS_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/cpu/model.h"

/// What the presets claim of their PMUs, and where each claim is from. The numbers of the timing model bring
/// their sources themselves (`CoreNumber`).
namespace pmusim {

/// How a claim is known, the surest first.
enum class FactOrigin : u8 {
  dumped,      ///< what a part says of itself: CPUID as dumped
  logged,      ///< what a kernel said at boot on the part
  documented,  ///< Intel's manual
  driven,      ///< what Linux' driver takes the part for
  listed,      ///< the vendor's list of events, as libpfm4 has it
  computed,    ///< follows from other facts of the model
  inferred,    ///< taken over from the nearest relative
};

std::string_view name_of(FactOrigin origin);
std::string_view meaning_of(FactOrigin origin);
std::string_view name_of(FactSource source);
std::string_view meaning_of(FactSource source);

/// One claim about every preset.
struct ModelFact {
  /// Presets of which it is known in one way.
  struct Known {
    FactOrigin origin = FactOrigin::inferred;
    std::string_view models;  ///< names with a space between, or "*": all that no row before names
  };

  std::string_view name;
  std::string_view document;                        ///< where to look it up
  std::string (*value)(const CpuModel&) = nullptr;  ///< empty where the model has nothing of the kind
  std::span<const Known> known;

  /// How it is known of the preset with this name. What no row says is inferred: a new model has to be looked
  /// up.
  FactOrigin origin_of(std::string_view model) const;
};

std::span<const ModelFact> model_facts();

}  // namespace pmusim

#endif
