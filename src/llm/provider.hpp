#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// Names in lower case.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

// One HTTP POST that asks a vendor for a streamed answer. `path` is relative to the base URL.
struct ProviderRequest {
  std::string path;
  HeaderList headers;
  std::string body;
};

// An answer of a vendor that is not the stream that was asked for.
struct ApiAnswer {
  int status = 0;
  HeaderList headers;
  std::string_view body;
  WallTime now{};  // what a date in "retry-after" is measured from
};

// One HTTP GET that costs nothing and shows whether the key is good and the model is there.
struct ProviderProbe {
  std::string path;
  HeaderList headers;
  // Where the answer is a list of models: the id that has to be in it, or "" if any list will do.
  // Absent: 404 says that the model is not there.
  std::optional<std::string> listed_id = std::nullopt;
};

struct ApiFailure {
  ModelFailure failure;
  // How long the vendor asks to wait; absent if it does not say, or says something absurd.
  std::optional<milliseconds> retry_after;
};

// The server-sent events of one answer, made into what they mean. The events come out the same
// however the bytes were split. Exactly one Finished or Failed comes, as the last one; what is fed
// after it is ignored. Event names, fields and words that nobody knows are ignored too. The
// BlockClosed of a call's own block comes right before its CallClosed.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  // `name` is the event's type ("message" or empty where the vendor gives none).
  virtual std::vector<TurnEvent> feed(std::string_view name, std::string_view data) = 0;
  // The body is over. Without its terminal marker the answer has failed, whatever came of it.
  virtual std::vector<TurnEvent> finish() = 0;
  // How long the failure that came in the stream asks to wait.
  virtual std::optional<milliseconds> retry_after() const { return {}; }
};

// A vendor's wire format as pure functions over bytes; immutable, for one model and its options.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual ProviderRequest build(const TurnRequest& request) const = 0;
  // For the answer to this very request.
  virtual std::unique_ptr<StreamDecoder> make_decoder(const TurnRequest& request) const = 0;
  virtual ApiFailure classify(const ApiAnswer& answer) const = 0;
  // Of a request that has an output schema.
  virtual OutputMechanism output_mechanism(const TurnRequest& request) const = 0;
  virtual ProviderProbe probe() const = 0;
};

// All that one answer sends; more of it fails the turn.
constexpr std::size_t kAnswerBytesMax = 64U * 1024 * 1024;
constexpr std::size_t kAnswerCallsMax = 512;

}  // namespace errand::llm
