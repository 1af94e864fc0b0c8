// SPDX-License-Identifier: MIT
#include "capi/error.h"

namespace pmusim::capi {

namespace {

thread_local std::string last_error;

}  // namespace

void set_last_error(std::string_view function, std::string_view sentence) noexcept {
  try {
    last_error.assign(function).append(": ").append(sentence);
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
}

}  // namespace pmusim::capi

const char* pmusim_last_error(void) { return pmusim::capi::last_error.c_str(); }
