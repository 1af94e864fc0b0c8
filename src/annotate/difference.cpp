// SPDX-License-Identifier: MIT
#include "annotate/difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "annotate/percent.h"

namespace pmusim::annotate {

namespace {

class EventComparison {
 public:
  EventComparison(const Event& before, const Event& after) {
    change_.event = before.name;
    change_.before = before.total;
    change_.after = after.total;
  }

  void add(const Report& report, std::size_t event, Weight SymbolChange::*side) {
    for (const Symbol& symbol : report.symbols) {
      const Weight& weight = symbol.weights[event];
      if (weight.samples == 0) continue;
      const std::string& path = report.modules[symbol.module].path;
      const std::string module = path.substr(path.rfind('/') + 1);
      SymbolChange& change = symbols_[{module, symbol.name}];
      change.module = module;
      change.symbol = symbol.name;
      (change.*side).samples += weight.samples;
      (change.*side).period += weight.period;
    }
  }

  EventChange take() {
    for (auto& [key, symbol] : symbols_) {
      if (symbol.before.samples != 0)
        symbol.before_percent = percent_of(symbol.before.period, change_.before.period);
      if (symbol.after.samples != 0)
        symbol.after_percent = percent_of(symbol.after.period, change_.after.period);
      change_.symbols.push_back(std::move(symbol));
    }
    std::ranges::stable_sort(change_.symbols, std::greater(), [](const SymbolChange& symbol) {
      return std::pair(std::abs(symbol.delta()), symbol.before_percent.value_or(0));
    });
    return std::move(change_);
  }

 private:
  EventChange change_;
  std::map<std::pair<std::string, std::string>, SymbolChange> symbols_;
};

}  // namespace

std::vector<EventChange> changes_between(const Report& before, const Report& after) {
  std::vector<EventChange> changes;
  for (std::size_t event = 0; event < before.events.size(); ++event) {
    const auto same = std::ranges::find(after.events, before.events[event].name, &Event::name);
    if (same == after.events.end()) continue;
    EventComparison comparison(before.events[event], *same);
    comparison.add(before, event, &SymbolChange::before);
    comparison.add(after, static_cast<std::size_t>(same - after.events.begin()), &SymbolChange::after);
    changes.push_back(comparison.take());
  }
  return changes;
}

}  // namespace pmusim::annotate
