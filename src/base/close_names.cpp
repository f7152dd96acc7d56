#include "base/close_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace errand {
namespace {

constexpr std::size_t kPrefixBytesMin = 3;  // a shorter prefix says nothing
constexpr std::size_t kBytesOfATypo = 3;

// The number of characters to insert, remove, change, or swap with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  using Line = std::array<std::size_t, kComparedBytesMax + 1>;
  Line before_last{};
  Line last{};
  Line line{};
  for (std::size_t j = 0; j <= b.size(); ++j) line[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, line);
    line[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      line[j] = std::min({changed, last[j] + 1, line[j - 1] + 1});
      bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) line[j] = std::min(line[j], before_last[j - 2] + 1);
    }
  }
  return line[b.size()];
}

// How far `name` is from the name that was asked for; empty if it is too far to be meant.
std::optional<std::size_t> rank(const std::string& asked, std::string_view name) {
  if (name.empty() || name.size() > kComparedBytesMax) return {};
  std::string lower = to_lower(name);
  std::size_t typos = distance(asked, lower);
  if (typos <= std::max(asked.size(), lower.size()) / kBytesOfATypo) return typos;
  bool is_prefix = std::min(asked.size(), lower.size()) >= kPrefixBytesMin &&
                   (lower.starts_with(asked) || asked.starts_with(lower));
  if (is_prefix) return typos;
  return {};
}

}  // namespace

std::vector<std::string_view> close_names(std::string_view asked,
                                          const std::vector<std::string_view>& known) {
  if (asked.empty() || asked.size() > kComparedBytesMax) return {};
  std::string lower = to_lower(asked);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, and index in `known`
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (auto far = rank(lower, known[i])) ranked.emplace_back(*far, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string_view> out;
  for (const auto& [far, index] : ranked) {
    // If one name is right except for its case, the other names were not meant.
    if (out.size() == kProposedMax || (!out.empty() && ranked.front().first == 0)) break;
    out.push_back(known[index]);
  }
  return out;
}

std::string did_you_mean(std::string_view asked, const std::vector<std::string_view>& known) {
  std::string out;
  std::vector<std::string_view> close = close_names(asked, known);
  for (std::size_t i = 0; i < close.size(); ++i) {
    std::string_view before = i == 0 ? "did you mean " : i + 1 == close.size() ? " or " : ", ";
    append(out, before, close[i]);
  }
  return out.empty() ? out : out + "?";
}

std::string did_you_mean(std::string_view asked, const std::vector<std::string>& known) {
  return did_you_mean(asked, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace errand
