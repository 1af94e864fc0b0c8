#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "model_option.h"
#include "pmusim/base/suggest.h"
#include "pmusim/pmu/pmu.h"
#include "text.h"

namespace pmusim::tools {

namespace {

using Json = nlohmann::ordered_json;
using Entry = RegisterMap::Entry;
using Entries = std::vector<const Entry*>;

struct MsrCommand {
  std::string wanted;
  bool json = false;
  ModelOption model;
};

std::string_view access(const Entry& entry) { return entry.write != nullptr ? "read/write" : "read-only"; }

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
  for (const CpuModel& model : cpu_models())
    if (Pmu(model).registers().find(address) != nullptr) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

Entries find_address(const RegisterMap& map, const CpuModel& model, u32 address) {
  if (const Entry* entry = map.find(address)) return {entry};
  const std::string others = models_with(address);
  throw CommandError(fmt::format("MSR {:#x} does not exist on {}: RDMSR and WRMSR fault; {}", address,
                                 model.title,
                                 others.empty() ? "no modelled CPU has it" : "it exists on " + others));
}

/// "PMC3" is IA32_PMC3 too.
bool is_named(const Entry& entry, const std::string& wanted) {
  const std::string name = register_name(entry);
  for (const std::string_view prefix : {"", "IA32_", "MSR_"})
    if (matches_glob(std::string(prefix) + wanted, name)) return true;
  return false;
}

Entries find_name(const RegisterMap& map, const CpuModel& model, const std::string& wanted) {
  Entries found;
  for (const Entry& entry : map.entries())
    if (is_named(entry, wanted)) found.push_back(&entry);
  if (!found.empty()) return found;

  std::vector<std::string> names;
  for (const Entry& entry : map.entries()) {
    const std::string name = register_name(entry);
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
void print_list(const RegisterMap& map, const Entries& entries) {
  constexpr auto line = "{:<16} {:<28} {:<11} {:<12} {}\n";
  fmt::print(line, "ADDRESS", "NAME", "ACCESS", "RESET", "WRITABLE BITS");
  std::vector<bool> printed(map.entries().size());
  for (const Entry* first : entries) {
    const auto index = [&](const Entry* e) { return static_cast<std::size_t>(e - map.entries().data()); };
    if (printed[index(first)]) continue;
    const Entry* last = first;
    for (const Entry* e : entries) {
      const bool same_row =
          e->spec == first->spec && e->writable == first->writable && e->reset == first->reset;
      if (!same_row || printed[index(e)] || e->number != last->number + (e == first ? 0 : 1)) continue;
      printed[index(e)] = true;
      last = e;
    }
    std::string name = register_name(*first), addresses = fmt::format("{:x}", first->address);
    if (last != first) {
      name = fmt::format(fmt::runtime(first->spec->name), fmt::format("{}..{}", first->number, last->number));
      addresses += fmt::format("..{:x}", last->address);
      if (first->spec->stride != 1) addresses += fmt::format(" by {}", first->spec->stride);
    }
    fmt::print(line, addresses, name, access(*first), hex(first->reset),
               first->write != nullptr ? bit_ranges(first->writable) : "-");
  }
}

/// Other addresses of the same storage.
Entries aliases(const RegisterMap& map, const Entry& entry) {
  Entries others;
  for (const Entry& e : map.entries())
    if (&e != &entry && e.owner == entry.owner && e.read == entry.read && e.number == entry.number &&
        e.write != nullptr && e.spec->count > 1)
      others.push_back(&e);
  return others;
}

/// Whether the model has any of the bits that a line of `RegisterSpec::bits` begins with ("11:8 format").
/// Lines that begin with a formula are not looked into.
bool is_defined(const Entry& entry, std::string_view bits) {
  const auto number = [](std::string_view digits) -> std::optional<unsigned> {
    unsigned n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return error == std::errc{} && end == digits.data() + digits.size() && n < 64 ? std::optional(n)
                                                                                  : std::nullopt;
  };
  const std::size_t colon = bits.find(':');
  const auto high = number(bits.substr(0, colon));
  const auto low = colon == std::string_view::npos ? high : number(bits.substr(colon + 1));
  return !high || !low || (entry.defined & pmusim::bits(*high, *low)) != 0;
}

/// One line for each field; on this model reserved ones are marked.
void print_bits(const Entry& entry) {
  std::string_view rest = entry.spec->bits;
  for (std::string_view label = "bits"; !rest.empty(); label = "") {
    const std::size_t comma = rest.find(", ");
    const std::string_view field = rest.substr(0, comma);
    const std::size_t space = field.find(' ');
    const bool reserved = !is_defined(entry, field.substr(0, space));
    if (space == std::string_view::npos)
      fmt::print("  {:<10} {}\n", label, field);
    else
      fmt::print("  {:<10} {:<6} {}{}\n", label, field.substr(0, space), field.substr(space + 1),
                 reserved ? "  (reserved here)" : "");
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
  }
}

void print_one(const RegisterMap& map, const CpuModel& model, const Entry& entry) {
  constexpr auto line = "  {:<10} {}\n";
  fmt::print("{} ({:#x}) on {}\n", register_name(entry), entry.address, model.title);
  fmt::print(line, "access", access(entry));
  fmt::print(line, "reset", hex(entry.reset));
  if (entry.write != nullptr) {
    fmt::print(line, "writable",
               fmt::format("{:#018x}  bits {}", entry.writable, bit_ranges(entry.writable)));
    fmt::print(line, "reserved",
               entry.writable == ~u64{0} ? "-" : fmt::format("{:#018x}  #GP if set", ~entry.writable));
  }
  for (const Entry* other : aliases(map, entry))
    fmt::print(line, "also at", fmt::format("{:#x} {}", other->address, register_name(*other)));
  print_bits(entry);
}

Json entry_json(const Entry& entry) {
  return {{"address", hex(entry.address)},
          {"name", register_name(entry)},
          {"access", access(entry)},
          {"reset", hex(entry.reset)},
          {"writable", hex(entry.write != nullptr ? entry.writable : 0)},
          {"bits", entry.spec->bits}};
}

void run(const MsrCommand& command) {
  const CpuModel model = command.model.model();
  const Pmu pmu(model);
  const RegisterMap& map = pmu.registers();
  Entries found;
  if (command.wanted.empty()) {
    for (const Entry& entry : map.entries()) found.push_back(&entry);
  } else if (const auto address = parse_address(command.wanted)) {
    found = find_address(map, model, *address);
  } else {
    found = find_name(map, model, command.wanted);
  }

  if (command.json) {
    Json all = Json::array();
    for (const Entry* entry : found) all.push_back(entry_json(*entry));
    fmt::print("{}\n", all.dump(2));
  } else if (found.size() == 1) {
    print_one(map, model, *found.front());
  } else {
    print_list(map, found);
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
  msr->callback([command] { run(*command); });
}

}  // namespace pmusim::tools
