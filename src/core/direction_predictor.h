// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_DIRECTION_PREDICTOR_H
#define PMUSIM_CORE_DIRECTION_PREDICTOR_H

#include <string_view>
#include <variant>

#include "core/bimodal.h"
#include "core/gshare.h"
#include "core/tage.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// Predicts conditional branches. Each kind has one verb, `train`: say what you predict, then learn what
/// happened (the trace knows the outcome, so both come at once). Copies are independent snapshots.
class DirectionPredictor {
 public:
  /// "bimodal", "gshare" or "tage", which has a shape. Errors: any other name.
  static Result<DirectionPredictor, Error> by_name(std::string_view name, const Tage::Shape& shape = {});

  /// The predicted direction of the conditional branch at `ip`, whose outcome is `taken`.
  bool train(u64 ip, bool taken) {
    return std::visit([&](auto& kind) { return kind.train(ip, taken); }, kind_);
  }

 private:
  using Kind = std::variant<Bimodal, Gshare, Tage>;
  explicit DirectionPredictor(Kind kind) : kind_(std::move(kind)) {}
  Kind kind_;
};

}  // namespace pmusim

#endif
