// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_EXECUTION_H
#define PMUSIM_FORMATS_EXECUTION_H

#include "formats/step.h"

namespace pmusim::formats {

/// A step with what followed it. The records of a REP instruction's iterations, which sources write one by
/// one, are one execution.
struct Execution {
  Step step;  ///< with the accesses of the first iteration
  u32 iterations = 0;
  bool repeated = false;  ///< had several records
  u64 next_ip = 0;        ///< of what was executed then; 0: nothing
};

class ExecutionReader {
 public:
  explicit ExecutionReader(StepReader& steps) : steps_(steps) {}

  /// The next execution, nothing at the end. Errors: the source's.
  Result<std::optional<Execution>, Error> next() {
    if (!begun_) {
      if (auto read = read_ahead(); !read.ok()) return Failure(read.error());
      begun_ = true;
    }
    if (!ahead_) return std::optional<Execution>();
    Execution execution{.step = *ahead_};
    execution.iterations = ahead_->accesses.empty() ? 0 : 1;
    for (;;) {
      if (auto read = read_ahead(); !read.ok()) return Failure(read.error());
      if (!ahead_ || !goes_on(execution, *ahead_)) break;
      execution.repeated = true;
      if (!ahead_->accesses.empty()) ++execution.iterations;
    }
    execution.next_ip = ahead_ ? ahead_->ip : 0;
    return std::optional(std::move(execution));
  }

 private:
  Result<Done, Error> read_ahead() {
    auto step = steps_.next();
    if (!step.ok()) return Failure(step.error());
    ahead_ = std::move(*step);
    return Done{};
  }
  // Only string instructions follow themselves and access memory.
  static bool goes_on(const Execution& execution, const Step& next) {
    return next.ip == execution.step.ip && next.kind.value_or(BranchKind::none) == BranchKind::none &&
           !execution.step.accesses.empty();
  }

  StepReader& steps_;
  std::optional<Step> ahead_;
  bool begun_ = false;
};

}  // namespace pmusim::formats

#endif
