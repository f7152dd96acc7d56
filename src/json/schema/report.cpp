#include "json/schema/report.hpp"

#include <algorithm>
#include <compare>

#include "base/text.hpp"

namespace errand::json::schema {
namespace {

// At most this many alternatives are listed in one sentence.
constexpr std::size_t kAlternativesShownMax = 8;

}  // namespace

std::string Location::pointer() const {
  std::vector<const Location*> path;
  for (const Location* at = this; at->parent; at = at->parent) path.push_back(at);
  std::string out;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    out = (*at)->kind == Kind::item ? child_pointer(out, (*at)->index)
                                    : child_pointer(out, (*at)->key);
  }
  return out;
}

void Report::add(Failure failure) {
  if (full()) return;
  bool known = std::any_of(failures_.begin(), failures_.end(), [&](const Failure& other) {
    return other.error.pointer == failure.error.pointer &&
           other.error.message == failure.error.message;
  });
  if (!known) failures_.push_back(std::move(failure));
}

void Report::add_all(Report&& other) {
  for (Failure& failure : other.failures_) add(std::move(failure));
}

// How far a value is from an alternative. A wrong type of the value itself shows that another
// alternative was meant. So does a wrong constant, of the value or of a member, because constants
// tell alternatives apart.
struct Report::Rank {
  int distance = 0;
  std::size_t failures = 0;
  std::string_view pointer;  // of the error that determines the distance

  bool closer_than(const Rank& other) const {
    return distance != other.distance ? distance < other.distance : failures < other.failures;
  }
};

Report::Rank Report::rank(std::size_t depth) const {
  Rank out{.failures = failures_.size()};
  for (const Failure& failure : failures_) {
    int distance = 0;
    if (failure.depth == depth && failure.cause == Cause::type) distance = 3;
    if (failure.depth == depth && failure.cause == Cause::constant) distance = 2;
    if (failure.depth == depth + 1 && failure.cause == Cause::constant) distance = 1;
    if (distance <= out.distance) continue;
    out.distance = distance;
    out.pointer = failure.error.pointer;
  }
  return out;
}

const Failure* Report::decisive_at(std::string_view pointer) const {
  for (const Failure& failure : failures_) {
    if (failure.error.pointer == pointer && failure.cause != Cause::other) return &failure;
  }
  return nullptr;
}

void Report::add_closest(std::vector<Report> alternatives, std::string_view keyword,
                         std::size_t depth) {
  if (alternatives.empty()) return;
  auto closest = std::min_element(
      alternatives.begin(), alternatives.end(),
      [&](const Report& a, const Report& b) { return a.rank(depth).closer_than(b.rank(depth)); });
  Rank best = closest->rank(depth);
  if (best.distance == 0) return add_all(std::move(*closest));

  std::vector<std::string> choices;
  for (const Report& alternative : alternatives) {
    const Failure* decisive = alternative.decisive_at(best.pointer);
    if (!decisive) return add_all(std::move(*closest));
    if (std::ranges::find(choices, decisive->expected) == choices.end()) {
      choices.push_back(decisive->expected);
    }
  }
  Failure merged = *closest->decisive_at(best.pointer);
  merged.error.keyword = keyword;
  merged.expected.clear();
  for (std::size_t i = 0; i < std::min(choices.size(), kAlternativesShownMax); ++i) {
    append(merged.expected, i == 0 ? "" : " or ", choices[i]);
  }
  if (choices.size() > kAlternativesShownMax) merged.expected += " or others";
  merged.error.message = cat("expected ", merged.expected, ", got ", merged.got);
  add(std::move(merged));
}

std::vector<SchemaError> Report::take() && {
  std::vector<SchemaError> out;
  for (Failure& failure : failures_) out.push_back(std::move(failure.error));
  return out;
}

}  // namespace errand::json::schema
