// A long plan without the lines that its text does not show is folded as all of it is.

#include "frontend/report/plan/brief.h"

#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "frontend/driver/devices/check_device.h"
#include "frontend/elaborate.h"
#include "frontend/parse/parse.h"
#include "frontend/report/plan/step_text.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

struct Planned {
  SourceMap sources;
  std::optional<SpmdProgram> program;
};

Planned plan_under(const std::string& text, std::size_t layout) {
  Planned planned;
  DiagSink diags;
  const FileId file = planned.sources.add({.name = "case.mtf", .path = "", .text = text});
  std::optional<ast::File> tree = parse(file, planned.sources, diags);
  CheckDevice device(Lowered::kNot);
  Session session({.ops = op_table()}, planned.sources, device, diags);
  session.run(*std::move(tree));
  const Unit* unit = diags.ok() ? session.build("train") : nullptr;
  INFO(text << (diags.ok() ? "" : diags.diags().front().text));
  REQUIRE(unit != nullptr);
  planned.program = lower_simplified(unit->program, session.layouts()[layout], op_table(), diags);
  return planned;
}

// A net of so many layers; of some parts there are several in each, some are in every second.
std::string network(std::mt19937& random, int layers) {
  std::string body;
  const int parts = std::uniform_int_distribution(1, 4)(random);
  for (int i = 0; i < parts; ++i) {
    const std::string at = "l_{i}_" + std::to_string(i);
    switch (std::uniform_int_distribution(0, 4)(random)) {
      case 0:
        body += "    h = h * (1.0 + i)\n";
        break;
      case 1:
        body += "    h = h - mean(h, over = io)\n";
        break;
      case 2:
        body += "    let s" + std::to_string(i) + " = h + old\n    old = h\n    h = s" +
                std::to_string(i) + "\n";
        break;
      case 3:
        body += "    if i % 2 == 0 { h = tanh(h + cast(range(io), f32)) }\n";
        break;
      default:
        body += "    let d" + std::to_string(i) + " = dense(h) as \"" + at + "\"\n    h = h + d" +
                std::to_string(i) + "\n";
    }
  }
  return "dim batch = 8, io = 4, hidden = 8\nmesh g = [r: 2, s: 2]\n"
         "layout a on g { batch -> r; hidden -> s }\n"
         "layout b on g { batch -> (r, s); hidden -> *; io -> * }\n"
         "layout c on g infer { hidden -> s }\n"
         "fn descend(p, g, rate) { p <- p - rate * g }\n"
         "fn dense(x) {\n  param w : f32[io, hidden] = zeros\n  param v : f32[hidden, io] = zeros\n"
         "  return einsum(relu(einsum(x, w -> [batch, hidden])), v -> [batch, io])\n}\n"
         "model net(x: f32[batch, io]) {\n  var h = x\n  var old = x\n  for i in 0.." +
         std::to_string(layers) + " {\n    let first = dense(h) as \"first_{i}\"\n    h = first\n" +
         body +
         "  }\n  return h\n}\nfn train(x: f32[batch, io]) {\n"
         "  let loss = mean(square(net(x)))\n  minimize loss with descend(rate = 0.1)\n"
         "  return loss\n}\n";
}

std::vector<PlanLine> shown(std::vector<PlanLine> lines) {
  std::erase_if(lines, [](const PlanLine& line) { return line.aside; });
  return lines;
}

void describe(const std::vector<PlanLine>& lines, const std::vector<PlanPart>& parts,
              std::string& text) {
  for (const PlanPart& part : parts) {
    if (part.times > 1) {
      text += std::to_string(part.times) + " times: " + part.names + " (\n";
      describe(lines, part.parts, text);
      text += ")\n";
    } else {
      const PlanLine& line = lines[part.begin];
      text += line.name + " " + line.type + " = " + line.op + " " + line.amount + line.why + "\n";
    }
  }
}

TEST_CASE("a plan with nothing but the ends of its repetitions is folded as the whole plan") {
  std::mt19937 random(11);
  int cut_out = 0;
  for (int turn = 0; turn < 8; ++turn) {
    const std::string text = network(random, 24 + 40 * (turn % 4));
    for (std::size_t layout = 0; layout < 3; ++layout) {
      const Planned planned = plan_under(text, layout);
      REQUIRE(planned.program);
      const std::vector<PlanLine> all = plan_lines(*planned.program, planned.sources, 0);
      const std::vector<PlanLine> whole = shown(all);
      const BriefPlan brief = brief_plan(*planned.program, planned.sources, 0, /*least=*/0);
      const std::vector<PlanLine> kept = shown(brief.lines);
      std::vector<PlanName> names = names_in(brief.lines);
      std::size_t missing = 0;
      for (const BriefPlan::Read& read : brief.read) {
        names.push_back({.text = read.name, .is_input = read.is_input});
      }
      for (const PlanCut& cut : brief.cuts) {
        missing += cut.lines;
      }
      CHECK(kept.size() + missing == whole.size());
      std::vector<PlanPart> parts = folded(kept, names, brief.cuts);
      if (!add_cuts(brief.cuts, parts)) {
        continue;
      }
      cut_out += brief.cuts.empty() ? 0 : 1;
      std::string short_text;
      describe(kept, parts, short_text);
      std::string whole_text;
      describe(whole, folded(whole, names_in(all)), whole_text);
      INFO(text << " under layout " << layout);
      CHECK(short_text == whole_text);
    }
  }
  CHECK(cut_out == 24);
}

TEST_CASE("how calls nest does not depend on how large the numbers of their values are") {
  CHECK(width_but_for_numbers("%9 + layer_1/w.2") ==
        width_but_for_numbers("%100000 + layer_23/w.456"));
  CHECK(width_but_for_numbers("größe") == 5);
  CHECK(width_but_for_numbers("") == 0);
}

TEST_CASE("a plan of a few steps has all its lines") {
  std::mt19937 random(3);
  const Planned planned = plan_under(network(random, 30), 0);
  REQUIRE(planned.program);
  const BriefPlan brief = brief_plan(*planned.program, planned.sources, 0);
  CHECK(brief.cuts.empty());
  CHECK(brief.lines.size() == plan_lines(*planned.program, planned.sources, 0).size());
}

}  // namespace
}  // namespace mtf
