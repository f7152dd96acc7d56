#include "tool/builtin/kept_output.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tool/safe_text.hpp"

namespace errand {
namespace {

// Text in an old encoding has a few bytes that are not UTF-8; binary data has many.
constexpr std::size_t kInvalidShareMax = 10;  // one byte in this many

// The longest suffix of at most `bytes_max` bytes that does not begin inside a UTF-8 sequence.
std::string_view utf8_suffix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t begin = text.size() - bytes_max;
  std::size_t longest =
      std::min(begin + 3, text.size());  // a sequence has at most three more bytes
  while (begin < longest && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) ++begin;
  return text.substr(begin);
}

}  // namespace

void KeptOutput::add(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.find('\0') != std::string_view::npos) has_nul_ = true;
  std::size_t room = kFirstBytesMax - first_.size();
  first_.append(bytes.substr(0, room));
  bytes.remove_prefix(std::min(room, bytes.size()));
  last_.append(bytes);
  if (last_.size() > 2 * kLastBytesMax) last_.erase(0, last_.size() - kLastBytesMax);
}

bool KeptOutput::is_binary() const {
  if (has_nul_) return true;
  std::size_t invalid = count_invalid_utf8(first_) + count_invalid_utf8(last_);
  return invalid * kInvalidShareMax > first_.size() + last_.size();
}

std::string KeptOutput::text() const {
  if (is_binary()) return cat("[binary output, ", total_, " bytes]");
  if (total_ <= kFirstBytesMax + kLastBytesMax) return to_valid_utf8(first_ + last_);
  std::string_view first = utf8_prefix(first_, first_.size() - 1);
  std::string_view last = utf8_suffix(last_, kLastBytesMax);
  return cat(to_valid_utf8(first), "\n[", total_ - first.size() - last.size(), " of ", total_,
             " bytes are left out here]\n", to_valid_utf8(last));
}

}  // namespace errand
