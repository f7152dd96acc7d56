#include "llm/http/http_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "async/read_aside.hpp"
#include "base/sparse.hpp"
#include "base/text.hpp"
#include "json/redact.hpp"
#include "llm/failure.hpp"
#include "llm/members.hpp"
#include "net/client/sse_reader.hpp"

namespace errand::llm {
namespace {

constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{8000};
constexpr std::size_t kErrorBodyBytesMax = 64U * 1024;
constexpr std::string_view kClosed = "the stream of the model was closed";

using Events = std::vector<TurnEvent>;

bool is_last(const TurnEvent& event) {
  return std::holds_alternative<Finished>(event) || std::holds_alternative<Failed>(event);
}

Events only(Failed failed) {
  Events events;
  events.emplace_back(std::move(failed));
  return events;
}

Events closed() {
  return only(broken_stream(kClosed));
}

// Removes secrets from a vendor's message.
void hide(const std::vector<std::string>& secrets, std::string& text) {
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    for (std::size_t at = text.find(secret); at != text.npos; at = text.find(secret, at)) {
      text.replace(at, secret.size(), json::kRedacted);
      at += json::kRedacted.size();
    }
  }
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

// Servers with tags take a name without a tag for ":latest".
std::string_view without_latest(std::string_view id) {
  constexpr std::string_view kLatest = ":latest";
  if (id.ends_with(kLatest)) id.remove_suffix(kLatest.size());
  return id;
}

// Whether the vendor's list of models has this model. If the answer is not a list, it proves only
// that the vendor is reachable.
Reachability judge_list(std::string_view body, const std::optional<std::string>& listed_id) {
  auto answer = parse_object(body);
  const json::Array* models = answer ? array_at(&*answer, "data") : nullptr;
  if (!listed_id || listed_id->empty() || !models) return {};
  bool is_listed = std::any_of(models->begin(), models->end(), [&](const json::Value& model) {
    return without_latest(text_at(model.if_object(), "id")) == without_latest(*listed_id);
  });
  if (is_listed) return {};
  return {.state = Reachability::State::no_such_model, .message = "the server does not list it"};
}

Reachability judge_missing(const std::optional<std::string>& listed_id) {
  if (!listed_id) {
    return {.state = Reachability::State::no_such_model,
            .message = "the vendor does not have this model"};
  }
  return {.state = Reachability::State::unreachable,
          .message = "there is no list of models; is the baseUrl right?"};
}

}  // namespace

// Streams the answer to one request.
class HttpTurn final : public TurnStream {
 public:
  HttpTurn(const HttpModel::Deps& deps, std::shared_ptr<const Provider> provider,
           const HttpModelOptions& options, TurnRequest request, bool& lacks_json_format)
      : deps_(deps),
        provider_(std::move(provider)),
        options_(options),
        lacks_json_format_(lacks_json_format),
        on_retry_(request.on_retry),
        request_(std::move(request)),
        deadline_(deps_.timers.now() + options.timeouts.total) {}

  Task<Events> next() override {
    if (is_over_) co_return closed();
    Events events = co_await advance();
    if (aborted_.is_raised()) events = closed();
    is_over_ = is_over_ || is_last(events.back());
    if (is_over_) stream_.reset();
    co_return events;
  }

  void abort() override {
    is_over_ = true;
    aborted_.raise();
  }

 private:
  // The next events. Until the answer begins, a failure is retried while that may help; then it is
  // marked as settled. After that, every failure is passed on.
  Task<Events> advance() {
    for (;; ++attempt_) {
      Part part = co_await read_on();
      auto* failed = std::get_if<Failed>(&part.events.front());
      if (failed) hide(options_.secrets, failed->failure.message);
      has_begun_ = has_begun_ || !failed;
      if (has_begun_) {
        request_.reset();
        lacks_json_format_ = lacks_json_format_ || is_without_format_;
        co_return std::move(part.events);
      }
      if (may_ask_without_format(failed->failure)) {
        is_without_format_ = true;
        stream_.reset();
        --attempt_;  // the request without the format is not a retry
        continue;
      }
      milliseconds pause = part.retry_after.value_or(own_pause());
      bool may_help = failed->failure.retryable && !breaks_over_format(failed->failure);
      bool may_retry = may_help && request_ && attempt_ < options_.retries &&
                       pause <= HttpModel::kPauseMax && pause < time_left() &&
                       !aborted_.is_raised();
      if (!may_retry) {
        request_.reset();
        failed->is_settled = true;
        co_return std::move(part.events);
      }
      stream_.reset();
      const SteadyTime until = deps_.timers.now() + pause;
      if (on_retry_) on_retry_({.why = failed->failure.message, .until = until});
      co_await deps_.timers.sleep_until(until, &aborted_);
    }
  }

  bool may_ask_without_format(const ModelFailure& failure) const {
    return holds_to_json_ && request_ && !aborted_.is_raised() &&
           (is_refused_question(failure) || breaks_over_format(failure));
  }

  struct Part {
    Events events;                            // at least one
    std::optional<milliseconds> retry_after;  // the pause that the vendor asks for
  };

  // Reads the next part of the stream, which it opens first if necessary.
  Task<Part> read_on() {
    if (!stream_) {
      Part refusal = co_await begin();
      if (!stream_) co_return refusal;
    }
    Part part;
    // Pings and comments reset the idle timeout, because vendors send them while a model thinks. A
    // stream that sends nothing else ends at the total timeout.
    while (part.events.empty()) {
      auto bytes = co_await stream_->read();
      if (!bytes) co_return broken_off(bytes.error());
      bool is_end = bytes->empty();
      Result<Events> events = Events();
      if (is_end) {
        events = decoder_->finish();
      } else {
        events = co_await decode(std::move(*bytes));
      }
      if (!events) co_return broken_off(events.error());
      part.events = std::move(*events);
      if (is_end && part.events.empty()) part.events = closed();
    }
    part.retry_after = decoder_->retry_after();
    co_return part;
  }

  // Opens the stream, or tells why there is none.
  Task<Part> begin() {
    auto refusal = co_await open();
    if (refusal) co_return to_part(std::move(*refusal));
    co_return Part{};
  }

  static Part broken_off(const Error& error) { return to_part(transport_failure(error)); }

  static Part to_part(ApiFailure failure) {
    return {.events = only(Failed{std::move(failure.failure)}), .retry_after = failure.retry_after};
  }

  // A long event is decoded on the pool, and nothing else uses the decoder meanwhile.
  Task<Result<Events>> decode(std::string bytes) {
    ERRAND_CO_TRY(auto parts, co_await net::feed_aside(reader_, std::move(bytes), deps_.pool));
    Events events;
    for (net::SseEvent& part : parts) {
      Events more;
      if (part.data.size() <= kBytesInABreath) {
        more = decoder_->feed(part.type, part.data);
      } else {
        auto work = [decoder = decoder_, part = std::move(part)] {
          return Result<Events>(decoder->feed(part.type, part.data));
        };
        ERRAND_CO_TRY(more, co_await surely_aside(deps_.pool, std::move(work)));
      }
      std::move(more.begin(), more.end(), std::back_inserter(events));
      if (!events.empty() && is_last(events.back())) break;
    }
    co_return events;
  }

  // The pool frees the request's messages before the result is handed over, because their files are
  // large.
  Task<Result<ProviderRequest>> build(TurnRequest request) {
    BlockingPool* pool = rough_bytes(request) > kBytesInABreath ? deps_.pool : nullptr;
    auto work = [provider = provider_, request = std::move(request)]() mutable {
      const TurnRequest asked = std::move(request);
      return Result<ProviderRequest>(provider->build(asked));
    };
    auto built = co_await run_aside(pool, std::move(work));
    co_return built;
  }

  // Sends the request. Returns nothing if the stream of the answer is open.
  Task<std::optional<ApiFailure>> open() {
    if (lacks_json_format_ || is_without_format_) request_->is_json = false;
    auto written = co_await build(*request_);
    if (!written) co_return transport_failure(written.error());
    ProviderRequest built = std::move(*written);
    holds_to_json_ = built.holds_to_json;
    decoder_ = provider_->make_decoder(*request_);
    reader_ = std::make_shared<net::SseReader>();
    bool is_last = attempt_ >= options_.retries && !holds_to_json_;
    if (is_last) request_.reset();
    net::ClientRequest request{.method = net::Method::post,
                               .url = cat(options_.base_url, built.path),
                               .body = std::move(built.body),
                               .timeouts = options_.timeouts,
                               .resend = net::Resend::once,  // a model's answer has no effects
                               .interrupt = &aborted_};
    request.timeouts.total = std::max(time_left(), milliseconds(1));
    for (auto& [name, value] : built.headers) request.headers.push_back({name, value});
    auto opened = co_await deps_.client.open(std::move(request));
    if (!opened) co_return transport_failure(opened.error());
    if ((*opened)->status() == 200) {
      stream_ = std::move(*opened);
      co_return std::nullopt;
    }
    std::string body;
    while (body.size() < kErrorBodyBytesMax) {
      auto more = co_await (*opened)->read();
      if (!more || more->empty()) break;
      body += *more;
    }
    co_return provider_->classify({.status = (*opened)->status(),
                                   .headers = to_list((*opened)->headers()),
                                   .body = body,
                                   .now = deps_.clock.now()});
  }

  // The time left for all further attempts and pauses.
  milliseconds time_left() const {
    return std::chrono::duration_cast<milliseconds>(deadline_ - deps_.timers.now());
  }

  // Doubles with each attempt, less a random part of up to a quarter: many runs that failed
  // together must not retry together.
  milliseconds own_pause() {
    milliseconds whole = std::min(kFirstPause * (1 << std::min(attempt_, 10)), kLongestPause);
    auto off = static_cast<std::int64_t>(deps_.random() % 250);
    return whole - whole * off / 1000;
  }

  const HttpModel::Deps& deps_;
  const std::shared_ptr<const Provider> provider_;
  const HttpModelOptions& options_;
  bool& lacks_json_format_;  // shared by all turns of the model
  const std::function<void(const ModelRetry&)> on_retry_;
  Sparse<TurnRequest> request_;  // reset when it cannot be sent again
  const SteadyTime deadline_;
  Interrupt aborted_;  // outlives the stream
  int attempt_ = 0;
  // Of the current attempt.
  std::unique_ptr<net::ClientStream> stream_;
  std::shared_ptr<StreamDecoder> decoder_;
  std::shared_ptr<net::SseReader> reader_;
  bool holds_to_json_ = false;
  bool is_without_format_ = false;  // the vendor rejected the format
  bool has_begun_ = false;          // some of the answer was passed on
  bool is_over_ = false;
};

HttpModel::HttpModel(Deps deps, std::unique_ptr<Provider> provider, HttpModelOptions options)
    : deps_(std::move(deps)), provider_(std::move(provider)), options_(std::move(options)) {}

std::unique_ptr<TurnStream> HttpModel::ask(TurnRequest request) {
  return std::make_unique<HttpTurn>(deps_, provider_, options_, std::move(request),
                                    lacks_json_format_);
}

Task<Reachability> HttpModel::check() {
  ProviderProbe probe = provider_->probe();
  net::ClientRequest request{.url = cat(options_.base_url, probe.path),
                             .timeouts = options_.timeouts};
  request.timeouts.total = std::min(request.timeouts.total, kCheckTime);
  for (auto& [name, value] : probe.headers) request.headers.push_back({name, value});
  auto answer = co_await deps_.client.send(std::move(request));
  if (!answer) {
    co_return Reachability{.state = Reachability::State::unreachable,
                           .message = answer.error().message()};
  }
  if (answer->status == 200) co_return judge_list(answer->body, probe.listed_id);
  if (answer->status == 404) co_return judge_missing(probe.listed_id);
  ApiFailure failure = provider_->classify({.status = answer->status,
                                            .headers = to_list(answer->headers),
                                            .body = answer->body,
                                            .now = deps_.clock.now()});
  hide(options_.secrets, failure.failure.message);
  bool is_key = failure.failure.error_class == error_class::kAuth;
  co_return Reachability{
      .state = is_key ? Reachability::State::wrong_key : Reachability::State::unreachable,
      .message = std::move(failure.failure.message)};
}

}  // namespace errand::llm
