// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_TYPES_H
#define PMUSIM_BASE_TYPES_H

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

/// Words that all of the library uses: integers and their bits, results and errors, hashes of states.
namespace pmusim {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// The value with only bit `n` (0..63) set.
constexpr u64 bit(unsigned n) { return u64{1} << n; }

/// The value with the lowest `n` (0..64) bits set.
constexpr u64 low_bits(unsigned n) { return n >= 64 ? ~u64{0} : bit(n) - 1; }

/// The value with bits `high`..`low` set, written as manuals do: `bits(11, 8)` is 0xF00.
constexpr u64 bits(unsigned high, unsigned low) { return low_bits(high + 1) & ~low_bits(low); }

/// The field `high`..`low` of `value`, shifted down.
constexpr u64 field(u64 value, unsigned high, unsigned low) { return (value & bits(high, low)) >> low; }

/// `value` shifted up into the field `high`..`low`; bits that do not fit are dropped.
constexpr u64 to_field(u64 value, unsigned high, unsigned low) { return (value << low) & bits(high, low); }

/// Copies bit `sign` (0..63) into every bit above it.
constexpr u64 sign_extend(u64 value, unsigned sign) {
  const unsigned shift = 63 - sign;
  return static_cast<u64>(static_cast<i64>(value << shift) >> shift);
}

/// True when an address is canonical for `address_bits` (48 or 57) wide linear addresses.
constexpr bool is_canonical(u64 address, unsigned address_bits = 48) {
  return sign_extend(address, address_bits - 1) == address;
}

/// Iterates over the set bits of a mask, lowest first: `for (unsigned n : set_bits(mask))`.
class set_bits {
 public:
  explicit constexpr set_bits(u64 mask) : mask_(mask) {}
  class iterator {
   public:
    explicit constexpr iterator(u64 rest) : rest_(rest) {}
    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(rest_)); }
    constexpr iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    constexpr bool operator!=(const iterator& other) const { return rest_ != other.rest_; }

   private:
    u64 rest_;
  };
  constexpr iterator begin() const { return iterator(mask_); }
  constexpr iterator end() const { return iterator(0); }

 private:
  u64 mask_;
};

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

/// A number that stands for a state: equal states have equal numbers, on every machine, and different ones
/// differ but for one pair in 2^64. Add the values that make up the state, always in the same order:
///
///     StateHash hash;
///     hash.add(driver.active, driver.periods);  // integers, enums, ranges, what has add_to(StateHash&)
///     hash.value();
///
/// Where the number of values varies (a list, a buffer), their count is part of the state: `add` of a range
/// adds it.
class StateHash {
 public:
  template <class... Values>
  void add(const Values&... values) {
    (add_one(values), ...);
  }
  /// Memory, eight bytes at a time.
  void add_bytes(std::span<const std::byte> bytes);

  u64 value() const { return value_; }

 private:
  /// A bijection of the sum of the state and the word (MurmurHash3's finalizer).
  void add_word(u64 word) {
    u64 mixed = std::rotl(value_, 5) + word + 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 33) * 0xFF51AFD7ED558CCD;
    mixed = (mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53;
    value_ = mixed ^ mixed >> 33;
  }
  template <class T>
  void add_one(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      add_word(static_cast<u64>(value));
    } else if constexpr (requires { std::size(value); }) {
      add_word(std::size(value));
      for (const auto& element : value) add_one(element);
    } else {
      value.add_to(*this);
    }
  }

  u64 value_ = 0;
};

}  // namespace pmusim

#endif
