// Layouts, imports and entries: what a file is to the rest of the world.

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/elaborate/harness.h"

namespace mtf::elaborate_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayouts = R"(dim batch = 4, io = 2
mesh grid = [rows: 2, cols: 2]
layout both on grid { batch -> rows, io -> cols }
layout all_batch on grid { batch -> all }
)";

TEST_CASE("which layout is in force") {
  const auto layout_of = [](const std::string& text, ElaborateOptions options = {}) {
    Bench bench(std::move(options));
    bench.run(text);
    CHECK(bench.errors().empty());
    CHECK(bench.device.uses == 1);
    return bench.device.layout;
  };
  const std::string file = kLayouts;
  CHECK(layout_of("let a = 1") == "one rank");
  CHECK(layout_of(file) == "one rank");
  CHECK(layout_of(file + "use layout both") == "both");
  CHECK(layout_of(file + "use layout both", {.layout = "all_batch"}) == "all_batch");
  CHECK(layout_of("mesh m = [x: 2]\nlayout a on m { batch -> x }") == "a");
  CHECK(layout_of(file, {.rules = "batch:rows;io:cols"}) == "rules");
  CHECK(layout_of("let a = 1", {.mesh = "x=2", .rules = "batch:x"}) == "rules");
}

TEST_CASE("the command line resizes meshes") {
  Bench bench({.mesh = "rows=8"});
  bench.run(kLayouts);
  CHECK(to_string(bench.session->meshes()[0]) == "grid[rows: 8, cols: 2]");
  CHECK(bench.session->layouts()[1].rules[0].axes == Axes{0, 1});
  Bench wrong({.mesh = "planes=8"});
  wrong.run(kLayouts);
  CHECK(wrong.errors() == Lines{"unknown-axis: `--mesh` gives the axis `planes` a size; the meshes "
                                "have `rows` and `cols`"});
}

TEST_CASE("layouts that do not fit their mesh") {
  const auto error_of = [](const std::string& rules) {
    return printed("mesh grid = [rows: 2, cols: 2]\nlayout l on grid { " + rules + " }")[0];
  };
  CHECK(error_of("batch -> row") ==
        "2:29 unknown-axis: the mesh grid[rows: 2, cols: 2] has no axis "
        "`row`; did you mean `rows`?");
  CHECK(error_of("batch -> (rows, rows)").starts_with("2:36 layout-conflict"));
  CHECK(error_of("batch -> rows, batch -> cols").starts_with("2:35 duplicate-name"));
  CHECK(error_of("batch -> (*, rows)") ==
        "2:30 layout-conflict: `*`, the axes that a tensor leaves unused, stands last: `batch -> "
        "(…, *)`");
  CHECK(error_of("gather = often").starts_with("2:29 bad-argument: `gather` is `keep`"));
  CHECK(error_of("gathr = again") ==
        "2:20 unknown-name: a layout has no option `gathr`; did you mean `gather`?");
  CHECK(printed("mesh m = [x: 2]\nlayout a on n { }")[0].starts_with("2:13 unknown-name"));
  CHECK(printed("mesh m = [x: 2]\nlayout data on m { }\nuse layout dota")[0] ==
        "3:12 unknown-layout: no layout `dota` is declared; did you mean `data`?");
}

TEST_CASE("save and restore say what is wrong with them") {
  const auto error_of = [](const std::string& statement) {
    return printed("state s : f32[] = zeros\n" + statement)[0];
  };
  CHECK(error_of("let k = 3; save k") ==
        "2:17 wrong-type: `save` takes the path of a file; this is an int");
  CHECK(error_of("save \"\"").starts_with("2:6 wrong-type: `save` takes the path"));
  CHECK(error_of("save \"a7\", kep = 3") ==
        "2:12 unknown-argument: `save` has no option `kep`; did you mean `keep`?");
  CHECK(error_of("save \"a7\", keep = 0") ==
        "2:19 bad-argument: `keep` takes a whole number of at least 1; this is 0");
  CHECK(error_of("save \"a7\", keep = 1, keep = 2").starts_with("2:22 bad-argument: `keep` is"));
  CHECK(error_of("save \"a\", keep = 2").starts_with("2:6 bad-argument: `keep` counts files"));
  CHECK(error_of("save \"a\" as \"b\"").starts_with("2:13 bad-argument: `save` writes every"));
  CHECK(error_of("restore \"a\" as 3").starts_with("2:16 wrong-type: `as` takes the paths"));
  CHECK(error_of("restore \"a\", cast = 1") ==
        "2:21 bad-argument: `cast` takes `true` or `false`; this is 1");
  CHECK(error_of("fn f(x: f32[]) { save \"a\" }\nf(ones([]))")
            .starts_with("2:18 bad-argument: `save` stands at top level"));
  CHECK(printed("save \"a\"")[0].starts_with("1:1 bad-argument: there is no variable to save"));
}

TEST_CASE("save and restore tell the device what they say") {
  Bench bench;
  bench.run(
      "state s : f32[] = zeros\nlet n = 7\nsave \"run/{n}\", keep = 2\nrestore \"run/{n}\"\n");
  CHECK(bench.device.saved == Lines{"run/7"});
  CHECK(bench.device.restored == Lines{"run/7"});
}

TEST_CASE("standard modules are found by name") {
  Bench bench;
  bench.modules["nn"] = "fn twice(x) { return 2 * x }\nlet two = 2\n";
  bench.run("import nn\nimport nn as n\nprint nn.twice(3), n.two\n");
  CHECK(bench.device.lines == Lines{"6 2"});
  Bench wrong;
  wrong.modules["nn"] = "fn twice(x) { return 2 * x }\n";
  wrong.run("import optin\nimport nn\nprint nn.twise(1)\n");
  CHECK(wrong.errors() ==
        Lines{"1:8 bad-import: there is no standard module `optin`; did you mean `optim`?",
              "3:10 unknown-name: the module `nn` has no `twise`; did you mean `twice`?"});
}

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("mtf-elaborate-" + std::to_string(::getpid()))) {
    fs::create_directories(path / "inner");
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
  }
  [[nodiscard]] Lines run(const std::string& name, const std::string& text) const {
    Bench bench;
    bench.path = (path / name).string();
    bench.run(text);
    return bench.diags.ok() ? bench.device.lines : bench.errors();
  }

  fs::path path;
};

TEST_CASE("files are imported from the importing file's folder, once") {
  const Folder folder;
  folder.write("inner/a.mtf", "import \"b.mtf\" as b\nprint \"a\"\nlet x = b.x + 1\n");
  folder.write("inner/b.mtf", "print \"b\"\nlet x = 1\n");
  CHECK(folder.run("main.mtf",
                   "import \"inner/a.mtf\" as a\nimport \"inner/b.mtf\" as b\n"
                   "print a.x, b.x\n") == Lines{"b", "a", "2 1"});
}

TEST_CASE("imports stay inside, and do not go round in circles") {
  const Folder folder;
  folder.write("out.mtf", "let x = 1\n");
  fs::create_symlink(folder.path / "out.mtf", folder.path / "inner/link.mtf");
  CHECK(
      folder.run("inner/main.mtf", "import \"../out.mtf\" as o")[0].starts_with("1:8 bad-import"));
  CHECK(folder.run("inner/main.mtf", "import \"link.mtf\" as o")[0].starts_with("1:8 bad-import"));
  CHECK(folder.run("main.mtf", "import \"/etc/passwd\" as o")[0].starts_with("1:8 bad-import"));
  CHECK(folder.run("main.mtf", "import \"missing.mtf\" as o")[0].starts_with("1:8 file"));
  folder.write("a.mtf", "import \"b.mtf\" as b\n");
  folder.write("b.mtf", "import \"a.mtf\" as a\n");
  CHECK(folder.run("main.mtf", "import \"a.mtf\" as a") ==
        Lines{"1:8 import-cycle: this closes a cycle: a.mtf imports b.mtf imports a.mtf"});
}

TEST_CASE("functions with fully typed parameters are entries") {
  Bench bench({.check = true});
  bench.run(R"(dim batch = 2, io = 3
model net(x: f32[batch, io]) { return x }
fn step(x: f32[batch, io], lr: float = 0.1) { return lr * net(x) }
fn generic(x) { return x }
fn open(x: f32[batch, ..]) { return x }
)");
  const std::vector<Entry> entries = bench.session->entries();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].is_model);
  CHECK(entries[1].name == "step");
  CHECK(entries[1].calls == Lines{"net"});
  const Unit* unit = bench.session->build("step");
  REQUIRE(unit != nullptr);
  CHECK(unit->program.inputs.size() == 1);
  CHECK(bench.session->build("stap") == nullptr);
  CHECK(bench.errors() == Lines{"unknown-entry: no entry `stap`; did you mean `step`?"});
}

TEST_CASE("an entry calls those that its names stand for") {
  Bench bench({.check = true});
  bench.run(R"(dim n = 2
fn a(x: f32[n]) { return x }
fn größe(x: f32[n]) { return x }
fn local(x: f32[n]) { let a = x; return a }
fn later(x: f32[n]) { let y = a(x); let a = y; return a }
fn nested(x: f32[n]) { fn inner(a) { return größe(a) }; return inner(x) }
fn own(x: f32[n]) { fn a(y) { return y }; print "a"; return a(x) }
fn given(x: f32[n], f: fn = a) { return f(x) }
)");
  CHECK(bench.errors() == Lines{});
  const auto calls = [&](std::size_t entry) { return bench.session->entries()[entry].calls; };
  REQUIRE(bench.session->entries().size() == 7);
  CHECK(calls(2).empty());
  CHECK(calls(3) == Lines{"a"});
  CHECK(calls(4) == Lines{"größe"});
  CHECK(calls(5).empty());
  CHECK(calls(6) == Lines{"a"});
}

TEST_CASE("an entry that the program calls is what the program runs") {
  Bench bench({.check = true});
  bench.run(R"(dim n = 3
fn given(x: f32[n], rate: f32[] = 0.5, y: f32[n] = zeros([n])) { return x * rate + y }
fn left(x: f32[n], rate: f32[] = 0.5, y: f32[n] = zeros([n])) { return x * rate + y }
fn uncalled(x: f32[n], rate: f32[] = 0.5, y: f32[n] = zeros([n])) { return x * rate + y }
print given(ones([n]), 2, ones([n]))
print left(ones([n]))
)");
  REQUIRE(bench.errors().empty());
  CHECK(bench.session->build("given")->program.inputs.size() == 3);
  CHECK(bench.session->build("left")->program.inputs.size() == 1);
  CHECK(bench.session->build("uncalled")->program.inputs.size() == 2);
}

TEST_CASE("a check builds entries that the program does not call") {
  Bench bench({.check = true});
  bench.run("dim a = 2, b = 3\nfn f(x: f32[a], y: f32[a]) { return x[a: 2] }\n");
  CHECK(bench.errors().size() == 1);
}

TEST_CASE("a session goes on with more files, which may declare names anew") {
  Bench bench;
  bench.run("let a = 1\ndim d = 2")
      .run("let a = a + 1\ndim d = 3")
      .run("print a, d\nfn f() { return a }");
  bench.run("print f()");
  CHECK(bench.device.lines == Lines{"2 d 3", "2"});
}

}  // namespace
}  // namespace mtf::elaborate_test
