#pragma once

#include <functional>
#include <memory>
#include <string>

#include "async/timers.hpp"
#include "llm/provider.hpp"
#include "net/client/http_client.hpp"

namespace errand::llm {

struct HttpModelOptions {
  std::string base_url;  // what the provider's paths are added to, such as "https://host/v1"
  // `total` bounds all attempts at a question and the pauses between them together.
  net::ClientTimeouts timeouts;
  int retries = 2;  // of a question of whose answer nothing came
};

// A model behind HTTP: sends what its provider builds, and reads the stream of the answer.
//
// A question is asked again, after a pause with jitter or the one that the vendor names, only as
// long as nothing of an answer has come; when that no longer helps, the failure is settled. A
// stream that breaks later is the agent's to judge.
class HttpModel final : public Model {
 public:
  struct Deps {
    net::HttpClient& client;
    Timers& timers;
    const Clock& clock;
    std::function<std::uint64_t()> random;
  };

  // A vendor that wants a longer pause than this is not waited for.
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
  const std::unique_ptr<Provider> provider_;
  const HttpModelOptions options_;
};

}  // namespace errand::llm
