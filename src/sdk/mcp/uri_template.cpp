#include "sdk/mcp/uri_template.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::sdk {
namespace {

bool is_name(std::string_view text) {
  auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

}  // namespace

Result<UriTemplate> UriTemplate::parse(std::string_view text) {
  UriTemplate made;
  Piece piece;
  while (!text.empty()) {
    std::size_t open = std::min(text.find('{'), text.size());
    piece.text = text.substr(0, open);
    if (open == text.size()) break;
    std::size_t close = text.find('}', open);
    std::string_view name;
    if (close != std::string_view::npos) name = text.substr(open + 1, close - open - 1);
    piece.takes_slashes = name.starts_with('+');
    if (piece.takes_slashes) name.remove_prefix(1);
    const bool is_known = std::any_of(made.pieces_.begin(), made.pieces_.end(),
                                      [name](const Piece& one) { return one.variable == name; });
    // With two variables in a row, a text could match in many ways.
    const bool is_apart = made.pieces_.empty() || !piece.text.empty();
    if (!is_name(name) || is_known || !is_apart) {
      return Error(ErrorCode::invalid_argument,
                   "a template has variables {name} and {+name}, each once and with text between");
    }
    piece.variable = name;
    made.pieces_.push_back(std::exchange(piece, {}));
    text.remove_prefix(close + 1);
  }
  made.pieces_.push_back(std::move(piece));
  return made;
}

// A variable ends where the text that follows it is first found; the last variable takes the rest.
std::optional<std::map<std::string, std::string>> UriTemplate::match(std::string_view uri) const {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (!uri.starts_with(piece.text)) return {};
    uri.remove_prefix(piece.text.size());
    if (piece.variable.empty()) return uri.empty() ? std::optional(std::move(out)) : std::nullopt;
    const bool is_last = i + 2 >= pieces_.size();
    const std::string next = i + 1 < pieces_.size() ? pieces_[i + 1].text : std::string();
    std::size_t end = uri.size();
    if (is_last && uri.ends_with(next)) {
      end = uri.size() - next.size();
    } else {
      end = uri.find(next, 1);
      if (end == std::string_view::npos) return {};
    }
    std::string_view value = uri.substr(0, end);
    const bool has_slash = value.find('/') != std::string_view::npos;
    auto decoded = percent_decode(value);
    if (value.empty() || !decoded || (has_slash && !piece.takes_slashes)) return {};
    out[piece.variable] = std::move(*decoded);
    uri.remove_prefix(end);
  }
  return uri.empty() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace errand::sdk
