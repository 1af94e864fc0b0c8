// SPDX-License-Identifier: MIT
#include "tests/support/json.h"

template class nlohmann::basic_json<>;

namespace pmusim::test {

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text); }

}  // namespace pmusim::test
