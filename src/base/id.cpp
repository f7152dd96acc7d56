#include "base/id.hpp"

#include <algorithm>
#include <utility>

namespace errand {
namespace {

// Digits in the order of their character codes, so that text order is number order.
constexpr char kBase32Digits[] = "0123456789abcdefghijklmnopqrstuv";

void append_base32(std::string& out, std::uint64_t bits, int digits) {
  for (int shift = (digits - 1) * 5; shift >= 0; shift -= 5) {
    out.push_back(kBase32Digits[(bits >> static_cast<unsigned>(shift)) & 31U]);
  }
}

bool is_id_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

bool is_valid_id(std::string_view text) {
  return !text.empty() && text.size() <= kIdCharsMax &&
         std::all_of(text.begin(), text.end(), is_id_char);
}

IdSource::IdSource(const Clock& clock, std::function<std::uint64_t()> random)
    : clock_(clock), random_(std::move(random)) {}

std::string IdSource::next(std::string_view prefix) {
  std::int64_t millis = to_millis(clock_.now());
  if (millis > last_millis_) {
    last_millis_ = millis;
    sequence_ = 0;
  } else if (++sequence_ == 0) {
    ++last_millis_;  // 65,536 ids within a millisecond, or a clock set back: borrow from the next
  }
  std::string out(prefix);
  append_base32(out, static_cast<std::uint64_t>(last_millis_), 10);
  append_base32(out, sequence_, 4);
  append_base32(out, random_(), 12);
  return out;
}

}  // namespace errand
