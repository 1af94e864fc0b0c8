// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "arguments.h"
#include "base/suggest.h"
#include "command.h"
#include "confinement.h"
#include "help_formatter.h"
#include "output.h"
#include "pager.h"
#include "pmusim/version.h"

namespace pmusim::tools {
namespace {

/// CLI11 alone would only say that a subcommand is required.
void refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return;
  std::vector<std::string_view> names;
  for (const CLI::App* const command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return;
  throw CommandError(fmt::format("no command '{}'{}", arguments[0], did_you_mean(arguments[0], names)));
}

void add_commands(CLI::App& app, const CommandLine& line) {
  add_trace(app);
  add_stat(app, line);
  add_record(app, line);
  add_why(app, line);
  add_mem(app, line);
  add_c2c(app);
  add_run(app, line);
  add_script(app);
  add_report(app);
  add_diff(app);
  add_annotate(app);
  add_models(app);
  add_msr(app);
  add_events(app);
  add_list(app);
  add_policies(app);
  add_pebs(app);
  add_experiment(app);
  add_sweep(app);
  add_scenario(app);
  add_help(app);
}

#ifdef PMUSIM_UNCONFINED
constexpr bool is_confined = false;
#else
constexpr bool is_confined = true;
#endif

/// Those that print what a person reads.
bool is_paged(std::string_view name) {
  constexpr std::string_view paged[] = {" report", " c2c report", " annotate",   " script", " diff",
                                        " why",    " mem report", " trace dump", " list",   " events",
                                        " models", " policies",   " msr"};
  return std::ranges::find(paged, name) != std::end(paged);
}

/// Commands that start no program give up being able to, before they open the first file; but for a pager,
/// which begins before.
void prepare_readers(CLI::App& command, const CommandLine& line, const CLI::Option* no_pager,
                     const std::string& name) {
  const auto parts = command.get_subcommands({});
  for (CLI::App* const part : parts) prepare_readers(*part, line, no_pager, name + " " + part->get_name());
  const bool starts_program = name == " run" || name == " trace record" || !line.program.empty();
  if (!parts.empty() || starts_program) return;
  // Without a trace it makes one.
  const CLI::Option* const trace = name == " experiment acr" ? command.get_option("--trace") : nullptr;
  command.parse_complete_callback([trace, no_pager, paged = is_paged(name)] {
    if (paged && no_pager->count() == 0) start_pager();
    if (is_confined && (trace == nullptr || trace->count() != 0)) confine();
  });
}

int run_command(int argc, char** argv) {
  Arguments arguments = split_arguments({argv, argv + argc});
  CLI::App app(
      "pmusim - a cycle-level x86 PMU in user space: record a program, replay it on the CPU of your choice",
      "pmusim");
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", std::string(version));
  add_commands(app, arguments.line);
  const CLI::Option* const no_pager =
      app.add_flag("--no-pager")
          ->description(
              "On a terminal, print at once what otherwise goes through PMUSIM_PAGER, PAGER or less");
  prepare_readers(app, arguments.line, no_pager, "");
  // Set last: subcommands begin with the footer that their parent has when they are added.
  app.footer(
      "A first profile, on any x86-64 Linux machine, with or without a PMU of its own:\n\n"
      "  pmusim trace record -o ls.pmutrace ls -l        every instruction of a run\n"
      "  pmusim stat ls.pmutrace                         what an Ice Lake would have counted\n"
      "  pmusim record -b ls.pmutrace && pmusim report\n\n"
      "'pmusim COMMAND --help' explains a command; T in its examples is a trace.\n"
      "Bad input ends with a sentence and exit code 2.");
  try {
    refuse_unknown_command(app, arguments.parsed);
    std::reverse(arguments.parsed.begin(), arguments.parsed.end());  // as the parser wants a list
    app.parse(arguments.parsed);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw CommandError(sentence_of(error, app));
  }
  return 0;
}

}  // namespace
}  // namespace pmusim::tools

int main(int argc, char** argv) {
  pmusim::tools::claim_standard_streams();
  return pmusim::tools::run_guarded([&] { return pmusim::tools::run_command(argc, argv); });
}
