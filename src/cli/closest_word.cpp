#include "cli/closest_word.hpp"

#include <algorithm>
#include <numeric>

namespace errand::cli {
namespace {

constexpr std::size_t kWordBytesMax = 100;  // longer ones are not compared: the work grows by n²

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> closest_word(std::string_view word,
                                        const std::vector<std::string>& known) {
  if (word.size() > kWordBytesMax) return {};
  std::size_t best = (word.size() + 2) / 3 + 1;
  std::optional<std::string> found;
  for (const std::string& one : known) {
    if (one.size() > kWordBytesMax) continue;
    std::size_t far = distance(word, one);
    if (far >= best) continue;
    best = far;
    found = one;
  }
  return found;
}

}  // namespace errand::cli
