#include "llm/http/http_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "async/bell.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "llm/failure.hpp"
#include "net/sse_reader.hpp"

namespace errand::llm {
namespace {

constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{8000};
constexpr std::size_t kErrorBodyBytesMax = 64U * 1024;

using Events = std::vector<TurnEvent>;

bool is_last(const TurnEvent& event) {
  return std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
}

ApiFailure transport_failure(const Error& error) {
  bool is_timeout = error.code() == ErrorCode::timeout;
  return {.failure = make_failure(is_timeout ? error_class::kTimeout : error_class::kServer,
                                  error.message())};
}

HeaderList to_list(const std::vector<net::Header>& headers) {
  HeaderList list;
  for (const net::Header& header : headers) {
    list.emplace_back(to_lower(header.name), header.value);
  }
  return list;
}

}  // namespace

// The answer to one question.
class HttpTurn final : public TurnStream {
 public:
  HttpTurn(HttpModel::Deps deps, const Provider& provider, const HttpModelOptions& options,
           TurnRequest request)
      : deps_(std::move(deps)),
        provider_(provider),
        options_(options),
        request_(std::move(request)),
        decoder_(provider.make_decoder(request_)),
        aborted_(deps_.home) {}

  Task<Events> next() override {
    Events events;
    while (events.empty()) {
      if (is_over_) {
        events.emplace_back(broken_stream("the stream of the model was closed"));
        break;
      }
      auto more = co_await unless_rung(&aborted_, advance());
      if (more) {
        events = std::move(*more);
      } else {
        events.emplace_back(Failed{transport_failure(more.error()).failure});
      }
      is_over_ = is_over_ || (!events.empty() && is_last(events.back()));
    }
    if (is_over_) stream_.reset();
    co_return events;
  }

  void abort() override {
    is_over_ = true;
    aborted_.notify();
  }

 private:
  Task<Result<Events>> advance() {
    if (!stream_) co_return co_await open();
    ERRAND_CO_TRY(std::string bytes, co_await stream_->read());
    if (bytes.empty()) co_return decoder_->finish();
    ERRAND_CO_TRY(auto parts, reader_.feed(bytes));
    Events events;
    for (const net::SseEvent& part : parts) {
      Events more = decoder_->feed(part.type, part.data);
      std::move(more.begin(), more.end(), std::back_inserter(events));
      if (!events.empty() && is_last(events.back())) break;
    }
    co_return events;
  }

  // Opens the stream; what it brings comes later. Failed once asking again no longer helps.
  Task<Result<Events>> open() {
    for (int attempt = 0;; ++attempt) {
      auto failure = co_await try_open();
      if (!failure) co_return Events();
      milliseconds pause = failure->retry_after.value_or(own_pause(attempt));
      bool may_retry =
          failure->failure.retryable && attempt < options_.retries && pause <= HttpModel::kPauseMax;
      if (!may_retry) {
        Events events;
        events.emplace_back(Failed{std::move(failure->failure)});
        co_return events;
      }
      co_await deps_.timers.sleep_until(deps_.timers.now() + pause);
    }
  }

  // Nothing if the stream is open.
  Task<std::optional<ApiFailure>> try_open() {
    ProviderRequest built = provider_.build(request_);
    net::ClientRequest request{.method = net::Method::post,
                               .url = cat(options_.base_url, built.path),
                               .body = std::move(built.body),
                               .timeouts = options_.timeouts};
    for (auto& [name, value] : built.headers) request.headers.push_back({name, value});
    auto opened = co_await deps_.client.open(std::move(request));
    if (!opened) co_return transport_failure(opened.error());
    if ((*opened)->status() == 200) {
      stream_ = std::move(*opened);
      request_.files.reset();  // it is not asked again
      co_return std::nullopt;
    }
    std::string body;
    while (body.size() < kErrorBodyBytesMax) {
      auto more = co_await (*opened)->read();
      if (!more || more->empty()) break;
      body += *more;
    }
    co_return provider_.classify({.status = (*opened)->status(),
                                  .headers = to_list((*opened)->headers()),
                                  .body = body,
                                  .now = deps_.clock.now()});
  }

  // Doubles each time, less up to a quarter, so that many do not come back at once.
  milliseconds own_pause(int attempt) {
    milliseconds whole = std::min(kFirstPause * (1 << std::min(attempt, 10)), kLongestPause);
    auto off = static_cast<std::int64_t>(deps_.random() % 250);
    return whole - whole * off / 1000;
  }

  HttpModel::Deps deps_;
  const Provider& provider_;
  const HttpModelOptions& options_;
  TurnRequest request_;
  const std::unique_ptr<StreamDecoder> decoder_;
  net::SseReader reader_;
  std::unique_ptr<net::ClientStream> stream_;
  bool is_over_ = false;
  Wakeup aborted_;
};

HttpModel::HttpModel(Deps deps, std::unique_ptr<Provider> provider, HttpModelOptions options)
    : deps_(std::move(deps)), provider_(std::move(provider)), options_(std::move(options)) {}

std::unique_ptr<TurnStream> HttpModel::ask(TurnRequest request) {
  return std::make_unique<HttpTurn>(deps_, *provider_, options_, std::move(request));
}

}  // namespace errand::llm
