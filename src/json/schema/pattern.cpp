#include "json/schema/pattern.hpp"

#include <re2/re2.h>

#include "base/text.hpp"
#include "json/schema.hpp"

namespace errand::json::schema {
namespace {

// The work that one step stands for. RE2 builds an automaton while it matches, and then needs
// little time per byte. If a pattern needs too many states, RE2 drops them (a reset), and in the
// end follows every instruction at once, which takes longer in proportion to the size of the
// program.
constexpr std::size_t kBytesPerStep = 16;
constexpr std::size_t kInstructionsPerStep = 16;     // that one match may examine in the worst case
constexpr std::size_t kInstructionsPerSlowStep = 2;  // if RE2 has to follow them all
constexpr std::size_t kResetSteps = 10'000;

// The number of resets on this thread. RE2 reports them only by hooks of the whole process, in
// which nothing else uses RE2.
struct Trouble {
  std::size_t resets = 0;
  std::size_t failures = 0;
};
thread_local Trouble trouble;

void watch_for_trouble() {
  static const bool kWatching = [] {
    re2::hooks::SetDFAStateCacheResetHook(
        [](const re2::hooks::DFAStateCacheReset&) { ++trouble.resets; });
    re2::hooks::SetDFASearchFailureHook(
        [](const re2::hooks::DFASearchFailure&) { ++trouble.failures; });
    return true;
  }();
  static_cast<void>(kWatching);
}

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
        .reason("too_complex")
        .limit("patternBytes", static_cast<std::int64_t>(kPatternBytesMax));
  }
  ERRAND_TRY(std::string translated, to_re2_syntax(text));
  watch_for_trouble();
  auto compiled = std::make_unique<const re2::RE2>(translated, options());
  if (compiled->error_code() == re2::RE2::ErrorPatternTooLarge) {
    return Error(ErrorCode::too_large, "the pattern takes too much memory: repeat less in it")
        .reason("too_complex")
        .limit("patternMemory", kPatternMemoryMax);
  }
  const auto code = compiled->error_code();
  if (code == re2::RE2::ErrorBadPerlOp || code == re2::RE2::ErrorBadEscape ||
      code == re2::RE2::ErrorRepeatSize) {
    return Error(ErrorCode::unsupported,
                 cat("the pattern uses what RE2 lacks: ", compiled->error()));
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
  // A match cannot be stopped, so its worst case must be affordable.
  std::size_t work = text.size() * instructions_;
  if (!budget.affords(work / kInstructionsPerStep)) {
    budget.exhaust();
    return false;
  }
  trouble = {};
  bool found = compiled_->Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED,
                                nullptr, 0);
  budget.spend(1 + text.size() / kBytesPerStep + trouble.resets * kResetSteps);
  if (trouble.failures > 0) budget.spend(work / kInstructionsPerSlowStep);
  return found && !budget.spent();
}

}  // namespace errand::json::schema
