// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_REGISTER_OPTIONS_H
#define PMUSIM_TOOLS_REGISTER_OPTIONS_H

#include <optional>
#include <string>

#include "kernel_option.h"
#include "model_option.h"
#include "pmusim/session/record.h"

namespace pmusim::tools {

/// --intr-simd, --user-simd, --simd-abi: registers that only SIMD sampling has.
class RegisterOptions {
 public:
  /// After the options of `model` and `kernel` are added: the list that '?' asks for is of that CPU.
  void add_to(CLI::App& command, const ModelOption& model, const KernelOption& kernel);
  void apply_to(RecordOptions& options) const;
  /// `kernel`, or the one that --simd-abi stands for: where neither is given and such registers are sampled,
  /// the one with series v7, as the default has no SIMD sampling.
  perf::Kernel kernel(const KernelOption& kernel) const;

 private:
  perf::Kernel kernel_with_simd(const KernelOption& kernel) const;

  std::string interrupt_, user_;
  std::optional<perf::SimdAbi> abi_;
};

}  // namespace pmusim::tools

#endif
