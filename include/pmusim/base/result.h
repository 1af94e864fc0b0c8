#ifndef PMUSIM_BASE_RESULT_H
#define PMUSIM_BASE_RESULT_H

#include <cassert>
#include <utility>
#include <variant>

namespace pmusim {

/// Wraps a failure so that it converts to any `Result` with that failure type: `return Failure(Fault::gp)`.
template <class E>
struct Failure {
  explicit Failure(E e) : error(std::move(e)) {}
  E error;
};

/// A value of type T, or the reason E why there is none. (std::expected, which C++20 does not have.)
///
/// Asking for the one that is not there is a caller's bug and asserts.
template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  template <class F>
  Result(Failure<F> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return assert(ok()), std::get<0>(state_); }
  const T& value() const& { return assert(ok()), std::get<0>(state_); }
  T&& value() && { return assert(ok()), std::move(std::get<0>(state_)); }
  const E& error() const { return assert(!ok()), std::get<1>(state_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const { return ok() ? value() : std::move(other); }

 private:
  std::variant<T, E> state_;
};

/// Success without a value.
struct Done {};

}  // namespace pmusim

#endif
