#include "pmusim/cpu/model_names.h"

#include <algorithm>

namespace pmusim {

namespace {

constexpr ModelAlias aliases[] = {
    {"kabylake", "skylake", ""},
    {"coffeelake", "skylake", ""},
    {"cometlake", "skylake", ""},
    {"whiskeylake", "skylake", ""},
    {"cooperlake", "cascadelake", ""},
    {"lakefield", "icelake", "tremont"},
    {"alderlake", "goldencove", "gracemont"},
    {"raptorlake", "goldencove", "gracemont"},
    {"meteorlake", "redwoodcove", "crestmont"},
    {"arrowlake", "lioncove", "skymont"},
    {"arrowlake-s", "lioncove", "skymont"},
    {"lunarlake", "lioncove", "skymont"},
    {"pantherlake", "cougarcove", "darkmont"},
    {"novalake", "coyotecove", "arcticwolf"},
    {"airmont", "silvermont", ""},
    {"grandridge", "sierraforest", ""},
};

char folded(char c) { return c == '_' ? '-' : c; }

}  // namespace

std::span<const ModelAlias> model_aliases() { return aliases; }

const ModelAlias* find_model_alias(std::string_view name) {
  const auto* const found = std::ranges::find_if(aliases, [&](const ModelAlias& alias) {
    return std::ranges::equal(alias.name, name, {}, folded, folded);
  });
  return found == std::end(aliases) ? nullptr : found;
}

}  // namespace pmusim
