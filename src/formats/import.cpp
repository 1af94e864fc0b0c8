// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "formats/champsim.h"
#include "formats/insn_trace.h"
#include "formats/lackey.h"
#include "formats/pt_import.h"
#include "formats/step_import.h"

namespace pmusim::formats {
namespace {

using Source = Result<std::unique_ptr<StepReader>, Error>;

Source open_source(const ImportOptions& options) {
  auto stream = InputStream::open(options.input);
  if (!stream.ok()) return Failure(stream.error());
  if (options.format == Format::lackey)
    return std::unique_ptr<StepReader>(std::make_unique<LackeyReader>(*std::move(stream)));
  const auto branches =
      options.format == Format::champsim_old ? ChampSimBranches::before_2023 : ChampSimBranches::since_2023;
  return std::unique_ptr<StepReader>(std::make_unique<ChampSimReader>(*std::move(stream), branches));
}

std::vector<std::string> general_remarks(Format format) {
  std::vector<std::string> remarks{
      "the source has no code bytes, threads, modules and system calls: bytes stand for its instructions "
      "that "
      "branch, load and store as they did, and replays refuse events that need more"};
  if (format == Format::lackey)
    remarks.emplace_back(
        "kinds of branches are taken from where they went and from what they loaded and stored");
  else
    remarks.emplace_back(
        "sizes of accesses are not told and taken as 8 bytes; lengths are those to the next instruction, "
        "where "
        "it followed");
  return remarks;
}

}  // namespace

Result<Conversion, Error> import_trace(const ImportOptions& options) {
  if (options.format == Format::pt) return import_pt(options);
  if (options.format == Format::insn_trace) return import_insn_trace(options);
  auto conversion = import_steps(options, [&] { return open_source(options); });
  if (!conversion.ok()) return conversion;
  auto remarks = general_remarks(options.format);
  conversion->remarks.insert(conversion->remarks.begin(), remarks.begin(), remarks.end());
  return conversion;
}

}  // namespace pmusim::formats
