// SPDX-License-Identifier: MIT
#include "pmusim/annotate/report.h"

#include <algorithm>

#include "resolver.h"

namespace pmusim::annotate {

namespace {

template <class Matches>
const AnnotatedFunction* find_where(const Report& report, Matches matches) {
  const auto found = std::ranges::find_if(report.functions, [&](const AnnotatedFunction& function) {
    return matches(report.symbols[function.symbol]);
  });
  return found == report.functions.end() ? nullptr : &*found;
}

}  // namespace

const AnnotatedFunction* find_function(const Report& report, u32 module, u64 address) {
  return find_where(report, [&](const Symbol& symbol) {
    return symbol.module == module && symbol.start <= address && address < symbol.end;
  });
}

const AnnotatedFunction* find_function(const Report& report, const std::string& name) {
  return find_where(report, [&](const Symbol& s) { return has_name(s.name, s.linkage_name, name); });
}

}  // namespace pmusim::annotate
