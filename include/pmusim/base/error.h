// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_ERROR_H
#define PMUSIM_BASE_ERROR_H

#include <cassert>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace pmusim {

/// Wraps a failure so that it converts to any `Result` with that failure type: `return Failure(Fault::gp)`.
template <class E>
struct Failure {
  explicit Failure(E e) : error(std::move(e)) {}
  E error;
};

/// What `Result::value()` and `*` throw where there is an error instead: what() is its sentence, or the name
/// of a fault ("#GP").
class NoValue : public std::exception {
 public:
  explicit NoValue(std::string sentence) : sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

namespace detail {

/// Whether an error can say why.
template <class E>
inline constexpr bool has_sentence = requires(const E& error) {
  error.message;
};

/// Apart from the place that asks, which stays small.
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void throw_no_value(const E& error) {
  if constexpr (has_sentence<E>)
    throw NoValue(error.message);
  else if constexpr (requires { name_of(error); })
    throw NoValue(std::string(name_of(error)));
  else
    throw NoValue("no value");
}

/// One of the two. Two optionals compile in less time than a variant of both, and every source has some.
template <class T, class E>
struct OptionalState {
  explicit OptionalState(T v) : value_(std::move(v)) {}
  explicit OptionalState(Failure<E> failure) : error_(std::move(failure.error)) {}
  bool has_value() const { return value_.has_value(); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  const E& error() const { return *error_; }
  std::optional<T> value_;
  std::optional<E> error_;
};

/// Both side by side, so that small ones travel in registers: a register read returns one of these.
template <class T, class E>
struct PlainState {
  explicit PlainState(T v) : value_(v), has_value_(true) {}
  explicit PlainState(Failure<E> failure) : error_(failure.error) {}
  bool has_value() const { return has_value_; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  const E& error() const { return error_; }
  T value_{};
  E error_{};
  bool has_value_ = false;
};

template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable_v<T>&& std::is_default_constructible_v<T>;

template <class T, class E>
using ResultState = std::conditional_t<is_plain<T> && is_plain<E>, PlainState<T, E>, OptionalState<T, E>>;

}  // namespace detail

/// A value of type T, or the reason E why there is none. (std::expected, which C++20 does not have.)
///
/// Check ok() before asking for the value:
///
///     auto model = find_cpu_model(name);
///     if (!model.ok()) return complain(model.error().message);
///     Pmu pmu(*model);
///
/// Asking for a value that is not there throws `NoValue`. Asking for an error that is not there is a caller's
/// bug, and asserts.
template <class T, class E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  template <class F>
  Result(Failure<F> failure) : state_(Failure<E>(std::move(failure.error))) {}

  bool ok() const { return state_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & { return check(), state_.value(); }
  const T& value() const& { return check(), state_.value(); }
  T&& value() && { return check(), std::move(state_.value()); }
  const E& error() const { return assert(!ok()), state_.error(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T value_or(T other) const { return ok() ? value() : std::move(other); }

 private:
  void check() const {
    if (!ok()) [[unlikely]]
      detail::throw_no_value(state_.error());
  }

  detail::ResultState<T, E> state_;
};

/// Success without a value.
struct Done {};

/// Why an input could not be used, as one sentence for the person who gave it: what is wrong, where (file and
/// offset, option, field), and what was expected.
struct Error {
  explicit Error(std::string text) : message(std::move(text)) {}
  std::string message;
};

/// A refusal shaped like the kernel's: an errno value and the sentence that says which field and why.
struct KernelError {
  KernelError(int code, std::string text) : error_number(code), message(std::move(text)) {}
  int error_number;  ///< positive errno, for example EINVAL
  std::string message;
};

}  // namespace pmusim

#endif
