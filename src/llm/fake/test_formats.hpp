#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "json/parse.hpp"
#include "json/value.hpp"
#include "llm/fake/fake_format.hpp"

namespace errand::llm {

inline json::Object object_of(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value && value->is_object()) << text;
  return value && value->is_object() ? value->as_object() : json::Object();
}

// The one turn of a script.
inline ScriptedTurn turn_of_script(std::string_view turn) {
  auto script = parse_script(std::string("{\"turns\":[").append(turn).append("]}"));
  EXPECT_TRUE(script) << turn;
  return script ? script->front() : ScriptedTurn();
}

// An answer whose ids have the seed "s0".
class Answered final {
 public:
  explicit Answered(std::string_view turn, std::string_view request = "{}")
      : turn_(turn_of_script(turn)), request_(object_of(request)) {}

  FakeAnswer answer() const {
    return {.turn = turn_,
            .number = 2,
            .model = "m",
            .seed = "s0",
            .created_at = 1700000000,
            .request = request_};
  }
  // The whole body of the stream.
  std::string streamed(const FakeFormat& format) const {
    FakeStream stream = format.stream(answer());
    std::string out = std::move(stream.opening);
    for (const std::string& piece : stream.pieces) out += piece;
    return out + stream.ending;
  }
  std::string whole(const FakeFormat& format) const { return format.whole(answer()); }

 private:
  const ScriptedTurn turn_;
  const json::Object request_;
};

}  // namespace errand::llm
