#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace errand::sdk {

// The pattern of URIs that RFC 6570 calls level 1 and 2: "{name}" stands for what has no '/', and
// "{+name}" for anything. Neither stands for nothing.
class UriTemplate final {
 public:
  // invalid_argument: it is not such a pattern.
  static Result<UriTemplate> parse(std::string_view text);

  // The variables of a URI that follows the pattern, decoded; nothing if it does not.
  std::optional<std::map<std::string, std::string>> match(std::string_view uri) const;

 private:
  // Text, and the variable behind it. The last one may have no variable.
  struct Piece {
    std::string text;
    std::string variable = {};
    bool takes_slashes = false;
  };

  std::vector<Piece> pieces_;
};

}  // namespace errand::sdk
