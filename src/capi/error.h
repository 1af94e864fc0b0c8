// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_ERROR_H
#define PMUSIM_SRC_CAPI_ERROR_H

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "pmusim/base/types.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/pmusim.h"

/// How a C function of the library fails: with a sentence that its thread can ask for.
namespace pmusim::capi {

/// A call that cannot be. Thrown within the library, and kept within it by `guarded`.
class Misuse : public std::exception {
 public:
  explicit Misuse(std::string sentence) : sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

/// Keeps the sentence for pmusim_last_error.
void set_last_error(std::string_view function, std::string_view sentence) noexcept;
/// Keeps a fault for it, which becomes a sentence on demand: handlers of a Trap must not allocate.
/// `speaker` is any processor of the model.
void set_last_fault(std::shared_ptr<const Pmu> speaker, const observed::AccessFault& fault) noexcept;

/// The value of a body, or `failed` if it throws. `function` begins the sentence.
template <class Value, class Body>
Value guarded(std::string_view function, Value failed, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    set_last_error(function, "out of memory");
  } catch (const std::exception& error) {
    set_last_error(function, error.what());
  } catch (...) {
    set_last_error(function, "an unknown exception");
  }
  return failed;
}

/// The same for functions that return a status.
template <class Body>
int guarded(std::string_view function, Body body) noexcept {
  return guarded<int>(function, PMUSIM_ERROR, body);
}

/// What a pointer of the caller's points to. Throws Misuse for null.
template <class T>
T& require(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw Misuse(std::string(name) + " is null");
  return *pointer;
}

/// The value of a result. Throws Misuse with the sentence of the failure.
template <class T, class E>
T take(Result<T, E> result) {
  if (!result.ok()) throw Misuse(result.error().message);
  return std::move(result).value();
}

}  // namespace pmusim::capi

#endif
