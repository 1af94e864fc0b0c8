// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "host/commands.h"

namespace pmusim::linux_driver {

std::vector<CpuModel> models_named(const std::vector<std::string>& names) {
  if (names.empty()) return {cpu_models().begin(), cpu_models().end()};
  std::vector<CpuModel> models;
  for (const std::string& name : names) models.push_back(value_or_fail(find_cpu_model(name)));
  return models;
}

}  // namespace pmusim::linux_driver

int main(int argc, char** argv) {
  using namespace pmusim::linux_driver;
  // What stands behind "--" is a program to watch.
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  const std::vector<std::string> program(dashes == end ? end : dashes + 1, end);
  CLI::App app("A Linux kernel's own PMU driver on the emulated PMU", "pmusim-linux");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every command");
  try {
    add_boot(app);
    add_stat(app, program);
    add_record(app, program);
    add_compare(app);
    add_drain(app);
    add_bench(app);
    add_planted(app);
    add_explore(app);
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "pmusim-linux: %s\n", error.what());
    return 2;
  } catch (const Findings&) {
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pmusim-linux: %s\n", error.what());
    return 2;
  }
  return 0;
}
