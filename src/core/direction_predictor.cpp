// SPDX-License-Identifier: MIT
#include "core/direction_predictor.h"

#include <fmt/format.h>

namespace pmusim {

Result<DirectionPredictor, Error> DirectionPredictor::by_name(std::string_view name,
                                                              const Tage::Shape& shape) {
  if (name == "bimodal") return DirectionPredictor(Bimodal{});
  if (name == "gshare") return DirectionPredictor(Gshare{});
  if (name == "tage") return DirectionPredictor(Tage(shape));
  return Failure(
      Error(fmt::format("unknown branch predictor '{}'; there are 'bimodal', 'gshare' and 'tage'", name)));
}

}  // namespace pmusim
