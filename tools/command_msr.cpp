// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/suggest.h"
#include "command.h"
#include "model_option.h"
#include "pmusim/pmu/pmu.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;
using RegisterRefs = std::vector<const Register*>;

struct MsrCommand {
  std::string wanted;
  bool json = false;
  ModelOption model;
};

std::string_view access(const Register& entry) {
  return entry.read_only ? "read-only" : entry.write_only ? "write-only" : "read/write";
}

// --- finding
// -------------------------------------------------------------------------------------------------

std::optional<u32> parse_address(std::string text) {
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  if (prefixed) text.erase(0, 2);
  const bool all_hex =
      !text.empty() && text.size() <= 8 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
  const bool looks_like_a_number =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  if (!all_hex || (!prefixed && !looks_like_a_number)) return std::nullopt;
  return static_cast<u32>(std::stoul(text, nullptr, 16));
}

std::string models_with(u32 address) {
  std::string names;
  for (const Vendor vendor : {Vendor::intel, Vendor::amd})
    for (const CpuModel& model : cpu_models(vendor))
      if (Pmu(model).registers().find(address) != nullptr) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

RegisterRefs find_address(const RegisterList& list, const CpuModel& model, u32 address) {
  if (const Register* entry = list.find(address)) return {entry};
  const std::string others = models_with(address);
  throw CommandError(fmt::format("MSR {:#x} does not exist on {}: RDMSR and WRMSR fault; {}", address,
                                 model.title,
                                 others.empty() ? "no modelled CPU has it" : "it exists on " + others));
}

/// "PMC3" is IA32_PMC3 too.
bool is_named(const Register& entry, const std::string& wanted) {
  const std::string name = entry.name();
  for (const std::string_view prefix : {"", "IA32_", "MSR_"})
    if (matches_glob(std::string(prefix) + wanted, name)) return true;
  return false;
}

RegisterRefs find_name(const RegisterList& list, const CpuModel& model, const std::string& wanted) {
  RegisterRefs found;
  for (const Register& entry : list.all())
    if (is_named(entry, wanted)) found.push_back(&entry);
  if (!found.empty()) return found;

  std::vector<std::string> names;
  for (const Register& entry : list.all()) {
    const std::string name = entry.name();
    names.push_back(name.substr(name.find('_') + 1));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::size_t prefix = wanted.find('_');
  const bool has_prefix =
      prefix != std::string::npos && (wanted.starts_with("IA32_") || wanted.starts_with("MSR_"));
  const std::string bare = has_prefix ? wanted.substr(prefix + 1) : wanted;
  throw CommandError(
      fmt::format("{} has no MSR named '{}'{}", model.title, wanted, did_you_mean(bare, views)));
}

// --- printing
// ------------------------------------------------------------------------------------------------

/// Registers of a row that follow each other make one line.
void print_register_list(const RegisterList& list, const RegisterRefs& entries) {
  constexpr auto line = "{:<16} {:<28} {:<11} {:<12} {}\n";
  fmt::print(line, "ADDRESS", "NAME", "ACCESS", "RESET", "WRITABLE BITS");
  std::vector<bool> printed(list.all().size());
  for (const Register* first : entries) {
    const auto index = [&](const Register* e) { return static_cast<std::size_t>(e - list.all().data()); };
    if (printed[index(first)]) continue;
    const Register* last = first;
    for (const Register* e : entries) {
      const bool same_row =
          e->row == first->row && e->writable == first->writable && e->reset == first->reset;
      if (!same_row || printed[index(e)] || e->number != last->number + (e == first ? 0 : 1)) continue;
      printed[index(e)] = true;
      last = e;
    }
    std::string name = first->name(), addresses = fmt::format("{:x}", first->address);
    if (last != first) {
      name = fmt::format(fmt::runtime(first->row), fmt::format("{}..{}", first->number, last->number));
      addresses += fmt::format("..{:x}", last->address);
      if (first->stride != 1) addresses += fmt::format(" by {}", first->stride);
    }
    fmt::print(line, addresses, name, access(*first), hex(first->reset),
               first->read_only ? "-" : bit_ranges(first->writable));
  }
}

/// Other addresses of the same storage.
RegisterRefs aliases(const RegisterList& list, const Register& entry) {
  RegisterRefs others;
  for (const Register& r : list.all())
    if (&r != &entry && r.storage == entry.storage) others.push_back(&r);
  return others;
}

/// One line for each field; those that the model lacks are marked.
void print_fields(const Register& entry, const CpuModel& model) {
  const auto bits_of = [&](const Field& field) {
    const u64 here = field.bits_on(model, entry.number);
    return bit_ranges(here != 0 ? here : field.mask);
  };
  std::size_t width = 6;
  for (const Field& field : entry.fields)
    if (field.bits_on(model, entry.number) != 0) width = std::max(width, bits_of(field).size());
  std::string_view label = "bits";
  for (const Field& field : entry.fields) {
    const bool reserved = field.bits_on(model, entry.number) == 0;
    fmt::print("  {:<10} {:<{}} {}{}\n", label, bits_of(field), width, field.name,
               reserved ? "  (reserved here)" : "");
    label = "";
  }
}

Json fields_json(const Register& entry, const CpuModel& model) {
  Json fields = Json::array();
  for (const Field& field : entry.fields)
    if (const u64 here = field.bits_on(model, entry.number); here != 0)
      fields.push_back({{"bits", bit_ranges(here)}, {"name", field.name}});
  return fields;
}

void print_one(const RegisterList& list, const CpuModel& model, const Register& entry) {
  constexpr auto line = "  {:<10} {}\n";
  fmt::print("{} ({:#x}) on {}\n", entry.name(), entry.address, model.title);
  fmt::print(line, "access", access(entry));
  fmt::print(line, "reset", hex(entry.reset));
  if (!entry.read_only) {
    fmt::print(line, "writable",
               fmt::format("{:#018x}  bits {}", entry.writable, bit_ranges(entry.writable)));
    const u64 dropped = entry.ignored & ~entry.writable, reserved = ~(entry.writable | entry.ignored);
    if (dropped != 0) fmt::print(line, "dropped", fmt::format("{:#018x}", dropped));
    fmt::print(line, "reserved", reserved == 0 ? "-" : fmt::format("{:#018x}  #GP if set", reserved));
  }
  for (const Register* other : aliases(list, entry))
    fmt::print(line, "also at", fmt::format("{:#x} {}", other->address, other->name()));
  print_fields(entry, model);
}

Json entry_json(const Register& entry, const CpuModel& model) {
  return {{"address", hex(entry.address)},   {"name", entry.name()},
          {"access", access(entry)},         {"reset", hex(entry.reset)},
          {"writable", hex(entry.writable)}, {"fields", fields_json(entry, model)}};
}

void run_msr(const MsrCommand& command) {
  const CpuModel model = command.model.model();
  const Pmu pmu(model);
  const RegisterList& list = pmu.registers();
  RegisterRefs found;
  if (command.wanted.empty()) {
    for (const Register& entry : list.all()) found.push_back(&entry);
  } else if (const auto address = parse_address(command.wanted)) {
    found = find_address(list, model, *address);
  } else {
    found = find_name(list, model, command.wanted);
  }

  if (command.json) {
    Json all = Json::array();
    for (const Register* entry : found) all.push_back(entry_json(*entry, model));
    fmt::print("{}\n", all.dump(2));
  } else if (found.size() == 1) {
    print_one(list, model, *found.front());
  } else {
    print_register_list(list, found);
  }
}

}  // namespace

void add_msr(CLI::App& app) {
  auto command = std::make_shared<MsrCommand>();
  CLI::App* const msr = app.add_subcommand("msr", "Show the model-specific registers of a CPU");
  msr->footer(
      "RDMSR and WRMSR behave as printed: a reserved bit or a register that the CPU lacks raises #GP.\n\n"
      "  pmusim msr --model skylake              every register, a line each\n"
      "  pmusim msr --model skylake 38f          one of them with its bits; names do as well\n"
      "  pmusim msr --model lioncove '*LBR*'     those that fit a pattern");
  msr->add_option("register", command->wanted, "address in hex, or name, which may have * and ?");
  msr->add_flag("--json", command->json, "as a JSON array");
  command->model.add_to(*msr);
  msr->callback([command] { run_msr(*command); });
}

}  // namespace pmusim::tools
