#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "command.h"
#include "pmusim/base/suggest.h"

namespace {

/// CLI11 alone would only say that a subcommand is required.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string_view> names;
  for (const CLI::App* const command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  throw pmusim::tools::CommandError(
      fmt::format("no command '{}'{}", argv[1], pmusim::did_you_mean(argv[1], names)));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "pmusim - a cycle-level x86 PMU in user space: record a program, replay it on the CPU of your choice");
  app.require_subcommand(1);
  app.set_version_flag("--version", PMUSIM_VERSION);
  pmusim::tools::add_trace(app);
  pmusim::tools::add_stat(app);
  pmusim::tools::add_record(app, {argv, argv + argc});
  pmusim::tools::add_script(app);
  pmusim::tools::add_report(app);
  pmusim::tools::add_annotate(app);
  pmusim::tools::add_models(app);
  pmusim::tools::add_msr(app);
  pmusim::tools::add_events(app);
  pmusim::tools::add_policies(app);
  pmusim::tools::add_pebs(app);
  pmusim::tools::add_experiment(app);
  pmusim::tools::add_scenario(app);
  // Set last: subcommands begin with the footer that their parent has when they are added.
  app.footer(
      "A first profile, on any x86-64 Linux machine, with or without a PMU of its own:\n\n"
      "  pmusim trace record -o ls.pmutrace ls -l        every instruction of a run\n"
      "  pmusim stat ls.pmutrace                         what an Ice Lake would have counted\n"
      "  pmusim record -e cycles:upp -c 1009 -b ls.pmutrace && perf report\n\n"
      "'pmusim COMMAND --help' explains a command. Bad input ends with a sentence and exit code 2.");
  try {
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  } catch (const pmusim::tools::CommandError& error) {
    fmt::print(stderr, "pmusim: {}\n", error.what());
    return 2;
  }
  return 0;
}
