#include "base/size_text.hpp"

#include <string_view>

#include "base/text.hpp"

namespace errand {
namespace {

constexpr std::string_view kUnits[] = {" KB", " MB", " GB", " TB", " PB", " EB"};

}  // namespace

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kStep = 1024;
  if (bytes < kStep) return cat(bytes, " bytes");
  std::int64_t whole = bytes / kStep;
  std::int64_t rest = bytes % kStep;
  const std::string_view* unit = kUnits;
  for (; whole >= kStep; ++unit) {
    rest = whole % kStep;
    whole /= kStep;
  }
  std::string out = cat(whole);
  const std::int64_t tenths = rest * 10 / kStep;
  if (whole < 10 && tenths > 0) append(out, ".", tenths);
  return out + std::string(*unit);
}

}  // namespace errand
