#include "json/schema/pattern.hpp"

#include <re2/re2.h>

#include "base/text.hpp"
#include "json/schema.hpp"

namespace errand::json::schema {
namespace {

// RE2 follows every state at once when its cache of combined states is too small; a step pays for
// this many instructions looked at, so that the worst pattern costs about what it is charged.
constexpr std::size_t kInstructionsPerStep = 16;

re2::RE2::Options options() {
  re2::RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(kPatternMemoryMax);
  return out;
}

}  // namespace

Result<std::unique_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  if (text.size() > kPatternBytesMax) {
    return Error(ErrorCode::too_large,
                 cat("the pattern is longer than ", kPatternBytesMax, " bytes"))
        .limit("patternBytes", static_cast<std::int64_t>(kPatternBytesMax));
  }
  ERRAND_TRY(std::string translated, to_re2_syntax(text));
  auto compiled = std::make_unique<const re2::RE2>(translated, options());
  if (compiled->error_code() == re2::RE2::ErrorPatternTooLarge) {
    return Error(ErrorCode::too_large, "the pattern takes too much memory: repeat less in it")
        .limit("patternMemory", kPatternMemoryMax);
  }
  if (!compiled->ok()) {
    return Error(ErrorCode::invalid_argument,
                 cat("not a pattern that RE2 can match: ", compiled->error()));
  }
  return std::unique_ptr<const Pattern>(new Pattern(text, std::move(compiled)));
}

Pattern::Pattern(std::string_view text, std::unique_ptr<const re2::RE2> compiled)
    : text_(text),
      compiled_(std::move(compiled)),
      instructions_(static_cast<std::size_t>(compiled_->ProgramSize())) {}

Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text, Budget& budget) const {
  if (!budget.spend(1 + (text.size() * instructions_) / kInstructionsPerStep)) return false;
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace errand::json::schema
