#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tool/tool.hpp"

namespace errand {

// Keeps what a call says to its span.
class KeptSpanNotes final : public SpanNotes {
 public:
  void note(std::string_view attribute, std::string_view value) override {
    notes[std::string(attribute)] = value;
  }
  void note(std::string_view attribute, std::int64_t value) override {
    notes[std::string(attribute)] = std::to_string(value);
  }

  std::map<std::string, std::string> notes;
};

}  // namespace errand
