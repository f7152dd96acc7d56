#include "run/tools/http_words.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace errand {

bool is_http_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

bool is_header_name(std::string_view text) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace errand
