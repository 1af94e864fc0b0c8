// SPDX-License-Identifier: MIT
#include "cpu/model_names.h"

#include <algorithm>
#include <vector>

#include "cores/cores.h"

namespace pmusim {

namespace {

/// A hybrid product is named by both of its cores.
void add_name(std::vector<ModelAlias>& aliases, CoreType type, const ProductName& product) {
  const auto known = std::ranges::find(aliases, product.name, &ModelAlias::name);
  if (known == aliases.end())
    aliases.push_back({.name = product.name, .model = product.model, .e_core = {}});
  else
    (type == CoreType::atom ? known->e_core : known->model) = product.model;
}

char folded(char c) { return c == '_' ? '-' : c; }

}  // namespace

std::span<const ModelAlias> model_aliases() {
  static const std::vector<ModelAlias> aliases = [] {
    std::vector<ModelAlias> all;
    for (const CoreFacts* facts : cores::all())
      for (const ProductName& product : facts->names) add_name(all, facts->type, product);
    return all;
  }();
  return aliases;
}

const ModelAlias* find_model_alias(std::string_view name) {
  const auto aliases = model_aliases();
  const auto found = std::ranges::find_if(aliases, [&](const ModelAlias& alias) {
    return std::ranges::equal(alias.name, name, {}, folded, folded);
  });
  return found == aliases.end() ? nullptr : &*found;
}

}  // namespace pmusim
