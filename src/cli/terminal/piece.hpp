#pragma once

#include <string>
#include <vector>

namespace errand::cli {

// Something to write, and where.
struct Piece {
  enum class To { out, err };
  To to = To::out;
  std::string text;

  friend bool operator==(const Piece&, const Piece&) = default;
};
using Pieces = std::vector<Piece>;

}  // namespace errand::cli
