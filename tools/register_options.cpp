// SPDX-License-Identifier: MIT
#include "register_options.h"

#include <fmt/format.h>

#include "session/register_support.h"

namespace pmusim::tools {

namespace {

/// As the perf tool says what -I? can name.
void list_registers(const CpuModel& model, perf::Kernel kernel) {
  fmt::print("On {}, samples can hold beside general registers:\n", model.title);
  for (const RegisterSupport& row : probe_registers(model, kernel)) {
    const bool any = row.refusal.empty(), precise = row.precise_refusal.empty();
    fmt::print("  {:<8}{:<22}{}\n", row.registers.name, row.registers.text,
               any && precise ? "of every event"
               : any          ? "of events that are not precise"
               : precise      ? "of precise events"
                              : "no: " + row.refusal);
  }
}

}  // namespace

void RegisterOptions::add_to(CLI::App& command, const ModelOption& model, const KernelOption& kernel) {
  command.option_defaults()->group("What each sample holds");
  const std::map<std::string, perf::SimdAbi> abis{{"series", perf::SimdAbi::series_v7},
                                                  {"merged", perf::SimdAbi::merged}};
  command
      .add_option(
          "--simd-abi", abi_,
          "Form of SIMD sampling: series (revision 7 of the patches, the default where such registers "
          "are sampled) or merged; instead of --kernel")
      ->transform(CLI::CheckedTransformer(abis).description(""))
      ->option_text("FORM")
      ->excludes(command.get_option("--kernel"));
  const auto list_if_asked = [this, &model, &kernel](const std::string& list) {
    if (list != "?") return;
    list_registers(model.model(), kernel_with_simd(kernel));
    throw CLI::Success();
  };
  command
      .add_option("--intr-simd", interrupt_,
                  "Sample these registers at the sampled instruction, each with :MASK or whole: "
                  "xmm,ymm,zmm,opmask,egpr,ssp ('?' lists what the CPU has)")
      ->each(list_if_asked);
  command.add_option("--user-simd", user_, "The same of the interrupted program")->each(list_if_asked);
}

void RegisterOptions::apply_to(RecordOptions& options) const {
  if (!interrupt_.empty()) options.interrupt_simd = value_or_fail(events::parse_simd_registers(interrupt_));
  if (!user_.empty()) options.user_simd = value_or_fail(events::parse_simd_registers(user_));
}

perf::Kernel RegisterOptions::kernel(const KernelOption& kernel) const {
  const bool asks_for_simd = !interrupt_.empty() || !user_.empty();
  return abi_ || asks_for_simd ? kernel_with_simd(kernel) : kernel.kernel();
}

perf::Kernel RegisterOptions::kernel_with_simd(const KernelOption& kernel) const {
  if (abi_) return perf::kernel_with(*abi_);
  return kernel.given() ? kernel.kernel() : perf::kernel_with(perf::SimdAbi::series_v7);
}

}  // namespace pmusim::tools
