#include "cli/show/wait_line.hpp"

#include <array>

#include "base/terminal_text.hpp"
#include "base/text.hpp"

namespace errand::cli {
namespace {

constexpr std::array<std::string_view, 10> kFrames = {"⠋", "⠙", "⠹", "⠸", "⠼",
                                                      "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr std::int64_t kTicksOfSecond = seconds(1) / WaitLine::kTick;
constexpr std::int64_t kToldSeconds = 2;  // a shorter wait is shown without its length
constexpr std::size_t kReasonChars = 200;

}  // namespace

void WaitLine::reset() {
  ticks_ = 0;
  retry_ticks_ = 0;
}

void WaitLine::retry(std::string_view why, milliseconds pause) {
  why_ = clean_line(why, kReasonChars);
  retry_ticks_ = (pause + kTick - milliseconds(1)) / kTick;
}

std::string WaitLine::tick() {
  ++ticks_;
  std::string_view frame = kFrames[static_cast<std::size_t>(ticks_) % kFrames.size()];
  if (retry_ticks_ > 0) {
    std::int64_t left = (retry_ticks_-- + kTicksOfSecond - 1) / kTicksOfSecond;
    return cat(frame, " retrying in ", left, " s: ", why_);
  }
  if (ticks_ * kTick < kPatience) return "";
  std::int64_t waited = ticks_ / kTicksOfSecond;
  std::string out = cat(frame, " waiting for the model");
  if (waited >= kToldSeconds) append(out, ", ", waited, " s");
  return out;
}

}  // namespace errand::cli
