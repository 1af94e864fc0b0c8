// SPDX-License-Identifier: MIT
// The page of annotate and report as a browser shows it: what stands in its DOM is what --json says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"
#include "tests/support/page_widths.h"

namespace pmusim::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A profile of `branches` with branch stacks, its JSON, and its page as Chromium has laid it out after
/// `script` ran in it.
class Page {
 public:
  explicit Page(const std::string& script = "") {
    const std::string data = directory_.file("perf.data"), html = directory_.file("page.html");
    EXPECT_EQ(run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "211", "-b", "-o", data,
                   recorded("branches", {"400"})})
                  .status,
              0);
    report = parse_json(run({pmusim(), "annotate", "-i", data, "--json"}).out);
    EXPECT_EQ(run({pmusim(), "annotate", "-i", data, "--html", html}).status, 0);
    std::ofstream(html, std::ios::app) << "<script>" << script << "</script>";
    dom = run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--user-data-dir=" + directory_.file("browser"), "--virtual-time-budget=5000", "--dump-dom",
               "file://" + html})
              .out;
  }

  /// The row of the instruction at an address.
  std::string row(u64 address) const {
    const std::size_t at = dom.find(fmt::format("<tr data-address=\"{:x}\"", address));
    return at == std::string::npos ? "" : dom.substr(at, dom.find("</tr>", at) - at);
  }
  std::size_t count(const std::string& text) const {
    std::size_t found = 0;
    for (std::size_t at = dom.find(text); at != std::string::npos; at = dom.find(text, at + 1)) ++found;
    return found;
  }

  /// Everything but the data and scripts.
  std::string body() const { return dom.substr(0, dom.find("<script type=")); }

  json report;
  std::string dom;

 private:
  ScratchDirectory directory_;
};

/// A browser rounds what lies in the middle up, as here 78.125.
std::string percent(double value) { return fmt::format("{:.2f}%", std::floor(value * 100 + 0.5) / 100); }

TEST(AnnotatedPage, SaysInTheBrowserWhatTheJsonSays) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const Page page;
  ASSERT_FALSE(page.dom.empty());
  const json& hottest = page.report["symbols"][0];
  const json& function = page.report["functions"][hottest["function"].get<std::size_t>()];
  const double total = page.report["events"][0]["period"];

  // The ranking, and the code of its first function.
  EXPECT_THAT(page.dom, HasSubstr(percent(100 * hottest["weights"][0]["period"].get<double>() / total)));
  EXPECT_EQ(page.count("<tr data-address="), function["instructions"].size());
  EXPECT_THAT(page.dom, HasSubstr("<svg"));  // the arrows of its jumps

  double whole = 0;
  for (const json& instruction : function["instructions"])
    whole += instruction["weights"][0]["period"].get<double>();
  for (const json& instruction : function["instructions"]) {
    const std::string row = page.row(instruction["address"]);
    const double share = 100 * instruction["weights"][0]["period"].get<double>() / whole;
    if (share > 0) {
      EXPECT_THAT(row, HasSubstr(percent(share)));
    }
    if (instruction.contains("leave") && instruction["leave"]["percent"] > 0.1) {
      EXPECT_THAT(row, HasSubstr(fmt::format("-{} (p:{})", percent(instruction["leave"]["percent"]),
                                             percent(instruction["leave"]["predicted_percent"]))));
    }
    if (instruction.contains("join") && instruction["join"]["percent"] > 0.1) {
      EXPECT_THAT(row, HasSubstr(fmt::format("+{}", percent(instruction["join"]["percent"]))));
    }
  }
}

TEST(AnnotatedPage, IsPrintedOnOneSheet) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to print the page";
  const ScratchDirectory directory;
  const std::string html = directory.file("page.html"), pdf = directory.file("page.pdf");
  ASSERT_EQ(run({pmusim(), "why", "-q", "--html", html, recorded("branches", {"400"})}).status, 0);
  run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
       "--user-data-dir=" + directory.file("browser"), "--virtual-time-budget=5000", "--no-pdf-header-footer",
       "--print-to-pdf=" + pdf, "file://" + html});
  const std::string printed = read_file(pdf);
  const std::regex sheet("/Type */Page[^s]");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(printed.begin(), printed.end(), sheet), std::sregex_iterator()), 1);
  // Fonts of what is on it: a sheet without text has none.
  EXPECT_THAT(printed, HasSubstr("/Type /Font"));
}

/// The start tags of elements of this name.
std::vector<std::string> tags(const std::string& html, const std::string& name) {
  std::vector<std::string> found;
  for (std::size_t at = html.find("<" + name + " "); at != std::string::npos;
       at = html.find("<" + name + " ", at + 1))
    found.push_back(html.substr(at, html.find('>', at) + 1 - at));
  return found;
}
std::ptrdiff_t count_with(const std::vector<std::string>& tags, const std::string& text) {
  return std::ranges::count_if(tags,
                               [&](const std::string& tag) { return tag.find(text) != std::string::npos; });
}

// WAI-ARIA Authoring Practices: tabs; WCAG 2: names, roles, order of focus.
TEST(AnnotatedPage, HasRolesAndLabelsForScreenReaders) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const std::string body = Page().body();
  EXPECT_THAT(body, HasSubstr("<html lang=\"en\""));

  const std::vector<std::string> buttons = tags(body, "button");
  const auto is_tab = [](const std::string& tag) { return tag.find("role=\"tab\"") != std::string::npos; };
  std::vector<std::string> tabs, functions;
  std::ranges::copy_if(buttons, std::back_inserter(tabs), is_tab);
  for (const std::string& tag : buttons)
    if (tag.find("data-symbol=") != std::string::npos) functions.push_back(tag);
  EXPECT_EQ(tabs.size(), 6u);
  EXPECT_EQ(count_with(tabs, "aria-selected=\"true\""), 1);
  EXPECT_EQ(count_with(tabs, "tabindex=\"0\""), 1) << "one stop, arrow keys go on";
  EXPECT_EQ(count_with(tabs, "aria-controls=\"view\""), 6);
  EXPECT_THAT(body, HasSubstr("<div role=\"tabpanel\" id=\"view\" aria-labelledby=\"tab-functions\">"));
  ASSERT_GT(functions.size(), 2u);
  EXPECT_EQ(count_with(functions, "tabindex=\"0\""), 1);
  EXPECT_EQ(count_with(functions, "aria-current=\"true\""), 1);

  EXPECT_EQ(count_with(tags(body, "input"), "aria-label="), 1);
  EXPECT_EQ(count_with(tags(body, "svg"), "aria-hidden=\"true\""), 1) << "arrows repeat what the rows say";
  const std::vector<std::string> spans = tags(body, "span");
  EXPECT_GT(count_with(spans, "role=\"img\""), 5);
  EXPECT_EQ(count_with(spans, "role=\"img\""), count_with(spans, "role=\"img\" aria-label=\"taken "));
  EXPECT_THAT(body, HasSubstr("<caption class=\"unseen\">Code of "));
  EXPECT_GE(count_with(tags(body, "th"), "scope=\"col\""), 4);
  EXPECT_GT(count_with(tags(body, "th"), "scope=\"row\""), 20) << "a row is named by its address";

  // Focus goes from top to bottom, and nothing is out of turn.
  std::size_t before = 0;
  for (const char* const next :
       {"class=\"skip\"", "id=\"theme\"", "role=\"tablist\"", "id=\"search\"", "data-symbol="}) {
    const std::size_t at = body.find(next);
    ASSERT_NE(at, std::string::npos) << next;
    EXPECT_GT(at, before) << next;
    before = at;
  }
  EXPECT_FALSE(std::regex_search(body.substr(0, before), std::regex("tabindex=\"[1-9]")));
}

TEST(AnnotatedPage, IsOperatedByKeyboardAlone) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const std::string script = R"(
    const log = [], here = () => document.activeElement;
    const press = (key) => here().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const selected = () => document.querySelector('[role=tab][aria-selected=true]');
    press('3');
    log.push(`number:${selected().id}`);
    selected().focus();
    press('ArrowRight');
    log.push(`right:${here().id}`);
    press('End');
    log.push(`end:${here().id}`);
    press('ArrowRight');
    log.push(`around:${here().id}`);
    press('/');
    log.push(`slash:${here().id}`);
    here().value = 'lfs';
    here().dispatchEvent(new Event('input', { bubbles: true }));
    log.push(`found:${document.getElementById('found').textContent.split(' ')[0]}`);
    press('ArrowDown');
    log.push(`list:${here().title}`);
    here().click();
    log.push(`code:${document.querySelector('#code h2').textContent}`);
    document.getElementById('theme').click();
    log.push(`theme:${document.documentElement.dataset.theme}`);
    document.body.append(Object.assign(document.createElement('pre'), { id: 'log', textContent: log.join(' ') }));
  )";
  const std::string dom = Page(script).dom;
  EXPECT_THAT(
      dom,
      HasSubstr("<pre id=\"log\">number:tab-branches right:tab-paths end:tab-modules around:tab-functions "
                "slash:search found:1 list:lfsr code:lfsr theme:dark</pre>"));
}

/// What stands in <pre id="log"> of a page that a browser has shown.
std::string shown_log(const std::string& page, const ScratchDirectory& scratch) {
  const std::string dom =
      run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--user-data-dir=" + scratch.file("browser"), "--virtual-time-budget=5000",
           "--window-size=2000,1000", "--dump-dom", "file://" + page})
          .out;
  const std::size_t at = dom.find("<pre id=\"log\">");
  return at == dom.npos ? "" : dom.substr(at, dom.find("</pre>", at) - at);
}

TEST(Pages, OfProfilesAndComparisonsAreNowhereWiderThanTheWindow) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const ScratchDirectory scratch;
  const auto record_profile = [&](const char* name, const char* model) {
    const std::string file = scratch.file(name);
    EXPECT_EQ(run({pmusim(), "record", "-q", "-b", "-g", "-e", "cycles:upp,branches:u", "-c", "211",
                   "--model", model, "-o", file, recorded("branches", {"400"})})
                  .status,
              0);
    return file;
  };
  const std::string first = record_profile("a", "icelake"), second = record_profile("b", "skylake");
  const std::string profile = scratch.file("p.html"), difference = scratch.file("d.html");
  ASSERT_EQ(run({pmusim(), "report", "-i", first, "--html", profile}).status, 0);
  ASSERT_EQ(run({pmusim(), "diff", "--html", difference, first, second}).status, 0);
  const std::vector<std::pair<std::string, std::vector<const char*>>> pages{
      {profile, {"functions", "lines", "branches", "paths", "flame", "modules"}},
      {difference, {"changes", "linechanges", "events", "flame"}}};
  for (const auto& [page, views] : pages) {
    std::ofstream(page, std::ios::app) << measure_widths;
    const std::string frames = scratch.file("frames.html");
    std::ofstream(frames) << frames_of_widths(page);
    const std::string log = shown_log(frames, scratch);
    for (const int width : page_widths)
      for (const char* const view : views)
        EXPECT_THAT(log, HasSubstr(fmt::format("{} {} 0 false\n", width, view)));
  }
}

}  // namespace
}  // namespace pmusim::test
