// SPDX-License-Identifier: MIT
#include "capi/error.h"

namespace pmusim::capi {

namespace {

struct LastError {
  std::string sentence;
  std::shared_ptr<const Pmu> speaker;  // of a fault that is no sentence yet
  observed::AccessFault fault;
};
thread_local LastError last_error;

const char* sentence() noexcept {
  try {
    if (last_error.speaker != nullptr) last_error.sentence = last_error.speaker->why(last_error.fault);
    last_error.speaker.reset();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
  return last_error.sentence.c_str();
}

}  // namespace

void set_last_error(std::string_view function, std::string_view sentence) noexcept {
  last_error.speaker.reset();
  try {
    last_error.sentence.assign(function).append(": ").append(sentence);
  } catch (const std::bad_alloc&) {
    last_error.sentence.clear();
  }
}

void set_last_fault(std::shared_ptr<const Pmu> speaker, const observed::AccessFault& fault) noexcept {
  last_error.speaker = std::move(speaker);
  last_error.fault = fault;
}

}  // namespace pmusim::capi

const char* pmusim_last_error(void) { return pmusim::capi::sentence(); }
