#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace errand {

// Ids are short text of [A-Za-z0-9_-], kept inline.
constexpr std::size_t kIdCharsMax = 39;

bool is_valid_id(std::string_view text);

// An id of one kind of thing. Different kinds are different types; none converts to another.
template <class Tag>
class Id {
 public:
  Id() = default;

  // Nothing if `text` cannot be an id at all, so that no peer's text gets any further.
  static std::optional<Id> parse(std::string_view text) {
    if (!is_valid_id(text)) return {};
    return Id(text);
  }

  std::string_view view() const { return {chars_.data(), size_}; }
  std::string str() const { return std::string(view()); }
  bool empty() const { return size_ == 0; }

  friend bool operator==(const Id& a, const Id& b) { return a.view() == b.view(); }
  friend auto operator<=>(const Id& a, const Id& b) { return a.view() <=> b.view(); }

 private:
  explicit Id(std::string_view text) : size_(static_cast<std::uint8_t>(text.size())) {
    std::memcpy(chars_.data(), text.data(), text.size());
  }

  std::array<char, kIdCharsMax> chars_{};
  std::uint8_t size_ = 0;
};

// Makes ids that sort by the time they were made, also within one millisecond:
// prefix, 48 bits of time, 16 bits of sequence, 60 random bits. Use from one thread only.
class IdSource {
 public:
  // `random` gives 64 unpredictable bits a call.
  IdSource(const Clock& clock, std::function<std::uint64_t()> random);

  template <class Tag>
  Id<Tag> make(std::string_view prefix) {
    return *Id<Tag>::parse(next(prefix));
  }

 private:
  std::string next(std::string_view prefix);

  const Clock& clock_;
  std::function<std::uint64_t()> random_;
  std::int64_t last_millis_ = 0;
  std::uint16_t sequence_ = 0;
};

}  // namespace errand

template <class Tag>
struct std::hash<errand::Id<Tag>> {
  std::size_t operator()(const errand::Id<Tag>& id) const noexcept {
    return std::hash<std::string_view>()(id.view());
  }
};
