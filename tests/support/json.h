// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_JSON_H
#define PMUSIM_TESTS_SUPPORT_JSON_H

#include <nlohmann/json.hpp>
#include <string_view>

// Compiled once and optimised: documents of `pmusim why` have megabytes, and tests are not optimised.
extern template class nlohmann::basic_json<>;

namespace pmusim::test {

/// Throws nlohmann::json::parse_error.
nlohmann::json parse_json(std::string_view text);

}  // namespace pmusim::test

#endif
