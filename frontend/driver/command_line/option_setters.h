// What the options make of the texts they are given: one function for each way, for the rows of
// option_table.cpp. False: the text is none that the option takes.

#pragma once

#include <string_view>

#include "frontend/driver/options.h"
#include "ir/support/text/parse_number.h"

namespace mtf {

template <auto member>
bool set_text(Options& options, std::string_view text) {
  options.*member = text;
  return !text.empty();
}

template <auto member>
bool set_search_text(Options& options, std::string_view text) {
  options.search.*member = text;
  return !text.empty();
}

template <auto member>
bool set_flag(Options& options, std::string_view /*none*/) {
  options.*member = true;
  return true;
}

template <auto member>
bool set_search_flag(Options& options, std::string_view /*none*/) {
  options.search.*member = true;
  return true;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = parse_number<Number>(text);
  number = read.value_or(number);
  return read && number >= 0;
}

template <auto member>
bool set_number(Options& options, std::string_view text) {
  return read_number(text, options.*member);
}

bool set_rules(Options& options, std::string_view text);
bool add_input(Options& options, std::string_view /*none*/);
bool add_setting(Options& options, std::string_view text);
bool set_precision(Options& options, std::string_view text);
bool set_rank(Options& options, std::string_view text);
bool set_depth(Options& options, std::string_view text);
bool set_width(Options& options, std::string_view text);
bool set_ranks(Options& options, std::string_view text);
bool set_max_memory(Options& options, std::string_view text);
bool set_searched_ranks(Options& options, std::string_view text);
bool set_axes(Options& options, std::string_view text);
bool set_memory(Options& options, std::string_view text);
bool set_explain(Options& options, std::string_view text);
bool set_sensitivity(Options& options, std::string_view text);
bool set_scale(Options& options, std::string_view text);
bool set_objective(Options& options, std::string_view text);
bool set_budget(Options& options, std::string_view text);
bool add_whole(Options& options, std::string_view text);
bool set_over(Options& options, std::string_view text);
bool set_timeout(Options& options, std::string_view text);
bool set_hang_timeout(Options& options, std::string_view text);
bool set_steps(Options& options, std::string_view text);
bool set_nan(Options& options, std::string_view text);
bool set_picture(Options& options, std::string_view text);
bool add_metrics(Options& options, std::string_view text);
bool set_emit(Options& options, std::string_view text);
bool set_color(Options& options, std::string_view text);
bool set_format(Options& options, std::string_view text);

}  // namespace mtf
