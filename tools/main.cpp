#include <fmt/format.h>

#include <cstdio>

#include "command.h"

int main(int argc, char** argv) {
  CLI::App app(
      "pmusim - a cycle-level x86 PMU in user space: record a program, replay it on the CPU of your choice");
  app.require_subcommand(1);
  app.set_version_flag("--version", PMUSIM_VERSION);
  pmusim::tools::add_trace(app);
  pmusim::tools::add_stat(app);
  pmusim::tools::add_record(app, {argv, argv + argc});
  pmusim::tools::add_models(app);
  pmusim::tools::add_msr(app);
  pmusim::tools::add_events(app);
  pmusim::tools::add_pebs(app);
  pmusim::tools::add_experiment(app);
  try {
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
