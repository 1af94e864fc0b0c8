// SPDX-License-Identifier: MIT
// The page of pmusim why as a browser shows it: what --json says, and nothing wider than the window.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"
#include "tests/support/page_widths.h"

namespace pmusim::test::why_page_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// The page of a planted program. `name` is the program's file.
struct Made {
  explicit Made(const std::string& name) {
    const std::string program = directory.file(name), page = directory.file("why.html");
    std::filesystem::copy_file(TEST_PLANTED, program);
    EXPECT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", program, "cache_misses"}).status, 0);
    report = parse_json(run({pmusim(), "why", "-q", "--json", trace}).out);
    const Output output = run({pmusim(), "why", "-q", "--html", page, trace});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_EQ(output.out, "");
    html = read_file(page);
  }

  ScratchDirectory directory;
  std::string trace = directory.file("T");
  json report;
  std::string html;
};

class WhyPage : public testing::Test {
 protected:
  void SetUp() override {
    if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  }
  void make(const std::string& name = "planted") {
    static std::map<std::string, Made> all;  // tests of a process share them
    const Made& page = all.try_emplace(name, name).first->second;
    ASSERT_FALSE(page.html.empty());
    report = page.report;
    trace_ = page.trace;
    std::ofstream(html_) << page.html;
  }
  /// What the browser makes of it after `script`; `log(text)` writes into it.
  std::string shown(const std::string& script) {
    std::ofstream(html_, std::ios::app) << R"(<script>
      const written = document.createElement('pre');
      written.id = 'log';
      document.body.append(written);
      const log = (text) => { written.textContent += `${text}\n`; };
      const view = (name) => document.querySelector(`[data-view=${name}]`).click();
      )" << script << "</script>";
    // On a busy machine the browser's virtual time may end before the script has run.
    std::string dom = browse(html_);
    for (unsigned again = 0; again < 3 && log_in(dom) == "<pre id=\"log\">"; ++again) dom = browse(html_);
    return dom;
  }
  std::string browse(const std::string& file) {
    return run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--user-data-dir=" + directory_.file("browser"), "--virtual-time-budget=5000",
                "--window-size=2000,1000", "--dump-dom", "file://" + file})
        .out;
  }
  static std::string log_in(const std::string& dom) {
    const std::size_t at = dom.find("<pre id=\"log\">");
    return at == dom.npos ? "" : dom.substr(at, dom.find("</pre>", at) - at);
  }

  ScratchDirectory directory_;
  std::string html_ = directory_.file("why.html");
  std::string trace_;
  json report;
};

TEST_F(WhyPage, SaysWhatTheJsonSays) {
  make();
  const std::string log = log_in(shown(R"(
    view('why');
    log(document.querySelector('.findings li:first-child p:last-child').textContent);
    view('costs');
    log('cells ' + [...document.querySelectorAll('tbody tr:first-child td')].map((td) => td.textContent).join(' | '));
    log('rows ' + document.querySelectorAll('tbody tr').length);
    view('loops');
    log('loop ' + [...document.querySelectorAll('tbody tr:first-child td')].map((td) => td.textContent).join(' | '));
    view('flame');
    log(document.querySelector('.flame button').title);
    )"));
  EXPECT_THAT(log, HasSubstr(report["findings"][0]["sentence"].get<std::string>()));
  const json& line = report["functions"][0]["lines"][0];
  const std::string cells = log.substr(log.find("cells "), log.find("rows ") - log.find("cells "));
  EXPECT_THAT(cells, HasSubstr(fmt::format("planted.c:{} | cache_misses", line["line"].get<unsigned>())));
  EXPECT_THAT(cells, HasSubstr(fmt::format("{}", line["counts"]["cycles"].get<u64>() / 1000)));
  std::size_t all_lines = 0;
  for (const json& function : report["functions"]) all_lines += function["lines"].size();
  EXPECT_THAT(log, HasSubstr(fmt::format("rows {}\n", all_lines)));
  const json& loop = report["loops"][0];
  EXPECT_THAT(log, HasSubstr(fmt::format("loop {:.2f}%", 100 * loop["counts"]["cycles"].get<double>() /
                                                             report["total"]["cycles"].get<double>())));
  EXPECT_THAT(log, HasSubstr("all: 100.00%"));
}

TEST_F(WhyPage, ShowsTheTopDownTreeOfTheJson) {
  make();
  const std::string log = log_in(shown(R"(
    view('topdown');
    log(`heads ${[...document.querySelectorAll('thead th')].map((th) => th.textContent).join(' | ')}`);
    for (const tr of document.querySelectorAll('tbody tr'))
      log(`row ${tr.querySelector('summary').textContent} ${tr.cells[1].textContent} ${tr.cells[2].textContent}`);
    log(`event ${document.querySelector('tbody li').textContent}`);)"));
  const json& whole = report["topdown"]["whole"];
  const json& hottest = report["topdown"]["functions"][0];
  EXPECT_THAT(log, HasSubstr("heads Node | Whole program | " + hottest["function"].get<std::string>()));
  const auto share = [](const json& node) {
    return fmt::format("{:.2f}%{}", node["percent"].get<double>(),
                       node["above_threshold"] == true ? " *" : "");
  };
  for (std::size_t n = 0; n < whole["nodes"].size(); ++n)
    EXPECT_THAT(log, HasSubstr(fmt::format("row {} {} {}\n", whole["nodes"][n]["metric"].get<std::string>(),
                                           share(whole["nodes"][n]), share(hottest["nodes"][n]))));
  EXPECT_THAT(log, HasSubstr(fmt::format(
                       "event topdown-retiring: {}, {}, ",
                       fmt::group_digits(whole["nodes"][0]["events"]["topdown-retiring"].get<u64>()),
                       fmt::group_digits(hottest["nodes"][0]["events"]["topdown-retiring"].get<u64>()))));
}

TEST_F(WhyPage, OpensAtTheHottestInstruction) {
  make();
  const std::string log = log_in(shown(R"(
    setTimeout(() => log(`at ${document.querySelector('tr.lit').dataset.address} `
      + document.querySelector('[aria-selected=true]').dataset.view), 500);)"));
  u64 address = 0, most = 0;
  for (const json& line : report["functions"][0]["lines"])
    for (const json& instruction : line["instructions"])
      if (const u64 cycles = instruction["counts"]["cycles"]; cycles > most) {
        most = cycles;
        address = instruction["address"];
      }
  EXPECT_THAT(log, HasSubstr(fmt::format("at {:x} functions", address)));
}

TEST_F(WhyPage, SortsItsTablesByAnyColumn) {
  make();
  const std::string log = log_in(shown(R"(
    view('costs');
    const heading = (name) => [...document.querySelectorAll('.sort')].find((b) => b.textContent === name);
    const column = (name) => {
      const at = [...document.querySelectorAll('thead th')].findIndex((th) => th.textContent === name);
      return [...document.querySelectorAll('tbody tr')].map((tr) => Number(tr.cells[at].textContent.replaceAll(',', '')));
    };
    const ordered = (all) => all.every((value, n) => n === 0 || all[n - 1] >= value);
    heading('IPC').click();
    log(`down ${ordered(column('IPC'))} ${heading('IPC').closest('th').getAttribute('aria-sort')}`);
    heading('IPC').click();
    log(`up ${ordered(column('IPC').reverse())} ${heading('IPC').closest('th').getAttribute('aria-sort')}`);)"));
  EXPECT_THAT(log, HasSubstr("down true descending\nup true ascending"));
}

TEST_F(WhyPage, FlameGraphZoomsAndSearches) {
  make();
  const std::string log = log_in(shown(R"(
    view('flame');
    const frame = (name) => [...document.querySelectorAll('.flame button')].find((b) => b.title.startsWith(`${name}: `));
    log(`text ${frame('cache_misses').textContent}`);
    const search = document.getElementById('flame-search');
    search.value = 'cache_miss';
    search.dispatchEvent(new Event('input'));
    log(`found ${document.querySelectorAll('.flame .found').length} ${document.getElementById('flame-found').textContent}`);
    frame('cache_misses').click();
    log(`wide ${frame('cache_misses').style.width} ${document.getElementById('flame-all').disabled}`);
    document.getElementById('flame-all').click();
    log(`all ${document.querySelector('.flame button').style.width}`);)"));
  const std::string share =
      fmt::format("{:.1f}", 100 * report["functions"][0]["counts"]["cycles"].get<double>() /
                                report["total"]["cycles"].get<double>());
  EXPECT_THAT(log, HasSubstr("text cache_misses " + share.substr(0, share.find('.'))));
  EXPECT_THAT(log, HasSubstr("found 1 " + share.substr(0, share.find('.'))));
  EXPECT_THAT(log, HasSubstr("wide 100% false\nall 100%"));
}

TEST_F(WhyPage, IsNowhereWiderThanTheWindow) {
  make();
  std::ofstream(html_, std::ios::app) << measure_widths;
  const std::string frames = directory_.file("frames.html");
  std::ofstream(frames) << frames_of_widths(html_);
  const std::string log = log_in(browse(frames));
  for (const int width : page_widths)
    for (const char* const view :
         {"why", "topdown", "loops", "costs", "functions", "lines", "flame", "modules"})
      EXPECT_THAT(log, HasSubstr(fmt::format("{} {} 0 false\n", width, view)));
}

TEST_F(WhyPage, ShowsHostileNamesAsText) {
  make("<img src=x onerror=alert(1)>");
  const std::string dom =
      shown("view('modules'); log('names ' + document.querySelector('tbody').textContent);");
  EXPECT_THAT(dom.substr(0, dom.find("<script type=")), Not(HasSubstr("<img")));
  EXPECT_THAT(log_in(dom), HasSubstr("names "));
  EXPECT_THAT(log_in(dom), HasSubstr("&lt;img src=x onerror=alert(1)&gt;"));
}

TEST_F(WhyPage, NeedsNoNetwork) {
  make();
  const std::string page = read_file(html_);
  for (const char* const word : {"src=\"http", "href=\"http", "url(http", "fetch(", "import("})
    EXPECT_THAT(page, Not(HasSubstr(word)));
}

TEST_F(WhyPage, WithoutAFolderIsRefused) {
  make();
  const Output refused = run({pmusim(), "why", "-q", "--html", "/no/such/folder/x.html", trace_});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace pmusim::test::why_page_test
