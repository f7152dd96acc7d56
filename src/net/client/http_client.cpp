#include "net/client/http_client.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "net/client/content_decoder.hpp"
#include "net/client/request_writer.hpp"
#include "net/client/response_reader.hpp"
#include "net/url.hpp"

namespace errand::net {
namespace {

// A read starts with the smaller buffer, because a slow model sends little. A read that fills it
// gets the larger one.
constexpr std::size_t kFirstReadBytes = 512;
constexpr std::size_t kReadBytes = 16U * 1024;
constexpr std::size_t kShownHostBytesMax = 200;

SteadyTime now() {
  return std::chrono::steady_clock::now();
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Names the host, but not the rest of the location, which may hold secrets.
Error redirect_error(const Route& route, std::string_view location) {
  auto url = parse_url(location);
  std::string host = url ? url->endpoint() : route.endpoint();
  return Error(ErrorCode::unsupported,
               cat(route.endpoint(), " sends the request on to ",
                   utf8_prefix(host, kShownHostBytesMax), ", which is not followed"))
      .reason(HttpClient::kRedirect)
      .hint("use the URL that the server wants, if you trust it");
}

}  // namespace

struct HttpClient::Shared {
  explicit Shared(ClientOptions from) : options(std::move(from)), pool(options.pool) {}

  // Null for plain http; loaded by the first request that needs it.
  Result<std::shared_ptr<TlsContext>> tls_for(Scheme scheme) {
    if (scheme == Scheme::https && !tls) {
      ERRAND_TRY(tls, TlsContext::load(options.trust));
    }
    return scheme == Scheme::https ? tls : nullptr;
  }

  Task<Result<std::unique_ptr<ClientConnection>>> connect(Route route, TimeLimit limit,
                                                          Interrupt* interrupt) {
    ERRAND_CO_TRY(auto context, tls_for(route.scheme));
    const AddressRules* rules = options.addresses ? &*options.addresses : nullptr;
    auto connection = co_await dial(std::move(route), std::move(context), limit, rules, interrupt);
    co_return connection;
  }

  const ClientOptions options;
  ConnectionPool pool;
  std::shared_ptr<TlsContext> tls;
};

namespace {

using Pooled = std::function<void(const Route&, std::unique_ptr<ClientConnection>)>;

// One request on one connection, and its answer.
class Exchange final : public ClientStream {
 public:
  Exchange(Route route, std::unique_ptr<ClientConnection> connection, Pooled give_back,
           const ClientRequest& request, TimeLimit total)
      : route_(std::move(route)),
        connection_(std::move(connection)),
        give_back_(std::move(give_back)),
        timeouts_(request.timeouts),
        redirects_(request.redirects),
        total_(total),
        reader_(request.method),
        memory_(std::make_unique_for_overwrite<char[]>(kFirstReadBytes)),
        waiting_(request.interrupt, [this] {
          if (connection_) connection_->close();
        }) {}

  int status() const override { return reader_.status(); }
  const std::vector<Header>& headers() const override { return reader_.headers(); }
  bool has_begun() const { return reader_.has_begun(); }

  // Sends the request and reads the head of the answer.
  Task<Result<void>> begin(const WrittenRequest* request) {
    TimeLimit first_byte = TimeLimit::from_now("first_byte", timeouts_.first_byte);
    connection_->set_limit(earlier(first_byte, total_));
    auto sent = co_await connection_->write(&request->front, &request->body);
    bool is_broken = !sent && sent.error().code() == ErrorCode::unavailable;
    if (!sent && !is_broken) co_return fail(sent.error());
    // A server may refuse early and stop reading, and its answer can be read nevertheless.
    has_sent_all_ = sent.has_value();
    while (!reader_.has_head()) {
      if (reader_.has_begun()) limit_idle();
      auto more = co_await read_more();
      if (!more) co_return fail(more.error());
    }
    co_return accept();
  }

  Task<Result<std::string>> read() override {
    if (failure_) co_return *failure_;
    for (;;) {
      auto ready = take_ready();
      if (!ready) co_return fail(ready.error());
      if (!ready->empty() || reader_.done()) {
        // A few encoded bytes may decode to very many.
        if (breath_.is_due(ready->size())) co_await let_others_run();
        co_return ready;
      }
      limit_idle();
      auto more = co_await read_more();
      if (!more) co_return fail(more.error());
    }
  }

 private:
  void limit_idle() {
    connection_->set_limit(earlier(TimeLimit::from_now("idle", timeouts_.idle), total_));
  }

  Task<Result<void>> read_more() {
    auto count = co_await connection_->read_some(memory_.get(), memory_bytes_);
    if (!count) co_return std::move(count).error();
    auto taken = *count > 0 ? reader_.feed({memory_.get(), *count}) : reader_.finish();
    if (!taken) co_return cut(taken.error());
    fit_memory(*count);
    if (reader_.done()) {
      release();
    } else {
      connection_->set_limit(total_);  // the caller's time until its next read does not count
    }
    co_return taken;
  }

  void fit_memory(std::size_t taken) {
    const std::size_t bytes = taken >= kFirstReadBytes ? kReadBytes : kFirstReadBytes;
    if (bytes == memory_bytes_) return;
    memory_ = std::make_unique_for_overwrite<char[]>(bytes);
    memory_bytes_ = bytes;
  }

  Error cut(const Error& error) const {
    return Error(error.code(), cat(route_.endpoint(), ": ", error.message())).reason("bad_answer");
  }

  // Takes the head. Refuses answers whose body could not be read.
  Result<void> accept() {
    if (is_redirect(status()) && redirects_ == Redirects::refused) {
      return fail(redirect_error(route_, find_header(headers(), "Location")));
    }
    auto decoder = ContentDecoder::make(find_header(headers(), "Content-Encoding"));
    if (!decoder) return fail(cut(decoder.error()));
    decoder_ = std::move(*decoder);
    return {};
  }

  // What can be returned without reading more; empty at the end of the body, too.
  Result<std::string> take_ready() {
    if (!decoder_) return reader_.take_body();
    std::string out;
    while (out.empty()) {
      if (encoded_at_ == encoded_.size() && !decoder_->has_more()) {
        encoded_ = reader_.take_body();
        encoded_at_ = 0;
        if (encoded_.empty()) break;
      }
      std::string_view rest = std::string_view(encoded_).substr(encoded_at_);
      auto decoded = decoder_->decode(rest);
      if (!decoded) return cut(decoded.error());
      encoded_at_ = encoded_.size() - rest.size();
      out = std::move(*decoded);
    }
    if (!out.empty() || !reader_.done()) return out;
    auto whole = decoder_->finish();
    if (!whole) return cut(whole.error());
    return out;
  }

  // Keeps the connection, because the answer was received whole.
  void release() {
    connection_->clear_limit();
    if (has_sent_all_ && reader_.can_go_on()) give_back_(route_, std::move(connection_));
    connection_.reset();
  }

  Error fail(Error error) {
    connection_.reset();
    failure_ = error;
    return error;
  }

  const Route route_;
  std::unique_ptr<ClientConnection> connection_;  // null once the answer is over
  Pooled give_back_;
  const ClientTimeouts timeouts_;
  const Redirects redirects_;
  const TimeLimit total_;
  ResponseReader reader_;
  std::unique_ptr<char[]> memory_;
  std::size_t memory_bytes_ = kFirstReadBytes;
  bool has_sent_all_ = false;
  std::unique_ptr<ContentDecoder> decoder_;  // null if the body is not encoded
  std::string encoded_;                      // of the body, not yet decoded
  std::size_t encoded_at_ = 0;
  Breath breath_{kBytesInABreath};
  std::optional<Error> failure_;
  Interrupt::Scope waiting_;
};

// A kept connection may have been closed by the peer meanwhile, which shows only now.
bool was_closed_unheard(const Exchange& exchange, const Error& error) {
  return !exchange.has_begun() && error.code() == ErrorCode::unavailable;
}

TakenFor purpose_of(const ClientRequest& request) {
  bool is_read = request.method == Method::get || request.method == Method::head;
  bool is_repeatable =
      request.resend == Resend::once || (request.resend == Resend::by_method && is_read);
  return is_repeatable ? TakenFor::repeatable : TakenFor::single_send;
}

}  // namespace

ClientOptions ClientOptions::from(const Environment& environment) {
  return {.proxies = ProxyRules::from(environment),
          .trust = {.file = environment("SSL_CERT_FILE").value_or(""),
                    .directory = environment("SSL_CERT_DIR").value_or("")},
          .pool = {}};
}

HttpClient::HttpClient(ClientOptions options)
    : shared_(std::make_shared<Shared>(std::move(options))) {}

HttpClient::~HttpClient() = default;

Task<Result<std::unique_ptr<ClientStream>>> HttpClient::open(ClientRequest request) {
  std::shared_ptr<Shared> shared = shared_;
  TimeLimit total = TimeLimit::from_now("total", request.timeouts.total);
  ERRAND_CO_TRY(Url url, parse_url(request.url));
  ERRAND_CO_TRY(auto proxy, shared->options.proxies.proxy_for(url));
  const std::optional<AddressRules>& addresses = shared->options.addresses;
  const Route route = route_to(url, std::move(proxy), addresses ? &*addresses : nullptr);
  ERRAND_CO_TRY(const WrittenRequest bytes, write_request(request, url, route));
  Pooled give_back = [weak = std::weak_ptr<Shared>(shared)](const Route& of, auto connection) {
    if (auto alive = weak.lock()) alive->pool.put(of, std::move(connection), now());
  };

  const TakenFor purpose = purpose_of(request);
  std::unique_ptr<ClientConnection> connection = shared->pool.take(route, purpose, now());
  for (;;) {
    if (request.interrupt && request.interrupt->is_raised()) {
      co_return Error(ErrorCode::cancelled,
                      cat("the request to ", route.endpoint(), " was cancelled"));
    }
    bool is_reused = connection != nullptr;
    if (!is_reused) {
      TimeLimit limit = TimeLimit::from_now("connect", request.timeouts.connect);
      auto dialled = co_await shared->connect(route, earlier(limit, total), request.interrupt);
      if (!dialled) co_return std::move(dialled).error();
      connection = std::move(*dialled);
    }
    auto exchange =
        std::make_unique<Exchange>(route, std::move(connection), give_back, request, total);
    auto begun = co_await exchange->begin(&bytes);
    if (begun) {
      std::unique_ptr<ClientStream> opened = std::move(exchange);
      co_return opened;
    }
    bool may_resend = is_reused && purpose == TakenFor::repeatable;
    if (!may_resend || !was_closed_unheard(*exchange, begun.error())) {
      co_return std::move(begun).error();
    }
    connection = nullptr;
  }
}

Task<Result<ClientResponse>> HttpClient::send(ClientRequest request) {
  auto stream = co_await open(std::move(request));
  if (!stream) co_return std::move(stream).error();
  ClientResponse response{
      .status = (*stream)->status(), .headers = (*stream)->headers(), .body = {}};
  for (;;) {
    Result<std::string> piece = co_await (*stream)->read();
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return response;
    response.body += *piece;
    if (response.body.size() > kBodyBytesMax) {
      co_return Error(ErrorCode::too_large, "the answer is too large")
          .limit("bodyBytes", kBodyBytesMax);
    }
  }
}

}  // namespace errand::net
