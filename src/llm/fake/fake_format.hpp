#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "llm/script.hpp"

namespace errand::llm {

// What a request wants, as far as a fake must know it.
struct FakeRequest {
  std::string model;
  std::size_t turn = 0;  // how many answers of the model the conversation holds
  bool streams = false;

  friend bool operator==(const FakeRequest&, const FakeRequest&) = default;
};

// One answer that is to be put into a vendor's words.
struct FakeAnswer {
  const ScriptedTurn& turn;
  std::size_t number = 0;  // of the turn
  std::string model;
  // Part of every id, [a-z0-9]: what differs between two conversations.
  std::string seed;
  std::int64_t created_at = 0;  // seconds since 1970
  const json::Object& request;
};

// A streamed answer in the steps in which it is sent. Each piece of the script, in order, is one
// step; joined they are the whole body. A step may be empty.
struct FakeStream {
  std::string opening;
  std::vector<std::string> pieces;
  std::string ending;
};

struct FakeError {
  int status = 0;
  std::string code;  // may be empty: what the vendor says with this status
  std::string message;
  std::string seed;  // part of the id of the request
};

// A vendor's wire format from the vendor's side, as pure functions over bytes. The counterpart of
// Provider.
class FakeFormat {
 public:
  virtual ~FakeFormat() = default;
  // invalid_argument: what the vendor would refuse as well; the message names the field.
  virtual Result<FakeRequest> read(const json::Object& body) const = 0;
  // Server-sent events. `cut_after` of the turn is not looked at.
  virtual FakeStream stream(const FakeAnswer& answer) const = 0;
  // The body of an answer that is not streamed.
  virtual std::string whole(const FakeAnswer& answer) const = 0;
  // The body of an answer with the error's status.
  virtual std::string error(const FakeError& error) const = 0;
};

std::unique_ptr<FakeFormat> make_fake_chat();
std::unique_ptr<FakeFormat> make_fake_responses();
std::unique_ptr<FakeFormat> make_fake_anthropic();
// Model and streaming are in the path, and so not in what read() returns.
std::unique_ptr<FakeFormat> make_fake_gemini();

}  // namespace errand::llm
