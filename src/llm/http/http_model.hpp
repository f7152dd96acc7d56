#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/timers.hpp"
#include "llm/provider.hpp"
#include "net/client/http_client.hpp"

namespace errand::llm {

struct HttpModelOptions {
  std::string base_url;  // the provider's paths are appended to it; such as "https://host/v1"
  // `total` bounds all attempts and the pauses between them together.
  net::ClientTimeouts timeouts;
  int retries = 2;  // while no part of an answer has arrived
  // The vendor's key, and whatever else it is sent in confidence. A server that repeats what it was
  // sent must not tell them to anybody else.
  std::vector<std::string> secrets = {};
};

// A model behind HTTP: sends what its provider builds, and reads the stream of the answer.
//
// A failed request is retried only until the first part of an answer arrives, after the pause that
// the vendor names or one with jitter. A server that lacks the format that holds an answer to JSON
// is asked once more without it, at once. When retrying no longer helps, the failure is settled.
// The agent decides about a stream that breaks off later. A long conversation is put into the
// vendor's words on the pool. The request, with the bytes of its files,
// is dropped once it cannot be sent again: on the last attempt, or when an answer has begun.
class HttpModel final : public Model {
 public:
  struct Deps {
    net::HttpClient& client;
    Timers& timers;
    const Clock& clock;
    std::function<std::uint64_t()> random;
    // Where long requests are built; outlives the turns. Null: at home.
    BlockingPool* pool = nullptr;
  };

  // A failure whose vendor asks for a longer pause is not retried.
  static constexpr milliseconds kPauseMax{60'000};
  // How long a check may take.
  static constexpr milliseconds kCheckTime{5'000};

  HttpModel(Deps deps, std::unique_ptr<Provider> provider, HttpModelOptions options);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest& request) const override {
    return provider_->output_mechanism(request);
  }
  Task<Reachability> check() override;

 private:
  Deps deps_;
  const std::shared_ptr<const Provider> provider_;  // shared with the pool
  const HttpModelOptions options_;
  bool lacks_json_format_ = false;  // the server has refused it, and is not asked for it again
};

}  // namespace errand::llm
