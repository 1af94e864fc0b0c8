// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CORE_PARAMETERS_H
#define PMUSIM_CPU_CORE_PARAMETERS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"

/// The parameters of the timing model by name: what there is, what a core has, and how to choose otherwise.
/// @code
/// CpuModel model = *find_cpu_model("skylake");
/// const auto chosen = set_core_parameters(model.core, "L2=2MiB,rob=512");
/// if (!chosen) std::cerr << chosen.error().message << "\n";
/// @endcode
namespace pmusim {

/// What a number of a core counts. Sizes in bytes may be given as 48K, 2MiB; frequencies as 100M, 3G.
enum class ParameterUnit : u8 { plain, uops, entries, cycles, bytes, lines, hertz, named, rule };
/// "uops", "cycles"; empty for plain counts, names and rules.
std::string_view name_of(ParameterUnit unit);

/// Which numbers of its range a parameter can be.
enum class ParameterShape : u8 { any, power_of_two, multiple_of_4 };  ///< or 0, where the range has it

inline constexpr unsigned most_uop_cache_window_lines = 8;

/// One parameter of a core, as a number; of names, the number is the place among `names`.
struct CoreParameter {
  std::string_view name;        ///< as CoreParameters has it: "reorder_buffer_uops"
  std::string_view short_name;  ///< "rob"; may be empty
  ParameterUnit unit = ParameterUnit::plain;
  u64 least = 0, most = 0;
  ParameterShape shape = ParameterShape::any;
  std::span<const std::string_view> names{};  ///< of a parameter that has names for values
  std::string_view meaning;
  std::string_view listed_as;  ///< how the cores' files call it: "l2" of all of "l2_bytes", "l2_ways" ...
  FactSource unlisted = FactSource::inferred;  ///< how it is known where a core's file does not list it
  u64 (*get)(const CoreParameters&) = nullptr;
  void (*set)(CoreParameters&, u64) = nullptr;
};

/// All that can be chosen, in the order in which it is shown.
std::span<const CoreParameter> core_parameters();

/// By name or short name, in letters of either case. Errors: no such parameter, with near matches.
[[nodiscard]] Result<const CoreParameter*, Error> find_core_parameter(std::string_view name);

/// As the value is given: "512", "2MiB", "tage".
std::string value_text(const CoreParameter& parameter, u64 value);
/// "1 to 16 uops", "0 to 1048576 entries, a power of two", "bimodal, gshare or tage".
std::string range_text(const CoreParameter& parameter);

/// How the model's value is known.
FactSource source_of(const CpuModel& model, const CoreParameter& parameter);

/// All numbers that the file of a model's core lists with their sources, rules included, with the product's
/// own in their places.
std::vector<CoreNumber> core_numbers(const CpuModel& model);

/// Sets what a list of NAME=VALUE with commas between says, and looks whether a machine comes out.
/// Errors: no such parameter, a value that is none or out of range, parameters that do not go together; the
/// core is then as it was.
[[nodiscard]] Result<Done, Error> set_core_parameters(CoreParameters& core, std::string_view list);

/// What is different from the preset of this name, as a list for set_core_parameters(): "l2_bytes=2MiB".
/// Empty where there is no preset.
std::string chosen_core_parameters(const CpuModel& model);

/// Whether the parameters make a machine. Errors: the first that does not, with its range.
[[nodiscard]] Result<Done, Error> check_core_parameters(const CoreParameters& core);

}  // namespace pmusim

#endif
