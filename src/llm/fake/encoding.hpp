#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "llm/fake/fake_format.hpp"

namespace errand::llm {

// What the formats have in common.

// "data: ..." and "event: ...\ndata: ..." frames.
std::string data_frame(const json::Object& data);
std::string named_frame(const json::Object& data);  // named by its "type"

// Writes one answer piece by piece. Each call returns the frames of that piece.
class PieceEncoder {
 public:
  virtual ~PieceEncoder() = default;
  virtual std::string open() = 0;
  virtual std::string think(std::string_view piece) = 0;
  virtual std::string say(std::string_view piece) = 0;
  virtual std::string call(const ScriptedCall& call, std::size_t index) = 0;
  virtual std::string close() = 0;
};
FakeStream encode(PieceEncoder& encoder, const ScriptedTurn& turn);

// The text of a call's arguments in the fragments in which a model would stream it: none if it is
// empty, at most kFragmentsMax otherwise.
constexpr std::size_t kFragmentBytesMin = 16;
constexpr std::size_t kFragmentsMax = 64;
std::vector<std::string_view> fragments_of(std::string_view arguments);

std::string joined(const std::vector<std::string>& pieces);

// Why the turn ends, in the script's words.
std::string_view reason_of(const ScriptedTurn& turn);
// The word of a vendor for one of the script's. One that is not in the table stays as it is, so
// that a script may say what only one vendor says.
using Words = std::initializer_list<std::pair<std::string_view, std::string_view>>;
std::string translate(std::string_view word, Words words);

// Reads of requests. The messages are those of the OpenAI family; other vendors' say the same.
Error missing(std::string_view field);
Error wrong_type(std::string_view field, std::string_view expected);
Result<std::string> read_model(const json::Object& body);
Result<const json::Array*> read_conversation(const json::Object& body, std::string_view field);

// The calls that a conversation leaves without a result, which no vendor takes. What it is told of
// outlives it.
class OpenCalls final {
 public:
  void call(std::string_view id) { ids_.insert(id); }
  void answer(std::string_view id) { ids_.erase(id); }
  // invalid_argument: names one.
  Result<void> check() const;

 private:
  std::set<std::string_view> ids_;
};

// The error body of the OpenAI family.
std::string openai_error(const FakeError& error);

}  // namespace errand::llm
