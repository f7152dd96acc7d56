#include "net/websocket_stream.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket.hpp>
#include <list>
#include <utility>

#include "async/wakeup.hpp"
#include "base/text.hpp"

namespace errand::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ws = boost::beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

// Messages below this size are not worth compressing.
constexpr std::size_t kCompressedBytesMin = 1024;

// A small first buffer, because many peers send nothing for a long time.
constexpr std::size_t kFirstReadBytes = 128;
constexpr std::size_t kReadBytes = 4096;

// What lies below the frames: a server's socket, or a client's connection. Beast is instantiated
// for this type alone, because each instance takes many seconds to compile. Not final, because Asio
// derives from it to find out whether it is an executor.
class AnyStream {
 public:
  using executor_type = Executor;

  explicit AnyStream(TcpSocket socket) : home_(socket.get_executor()), socket_(std::move(socket)) {}
  AnyStream(Executor home, std::unique_ptr<ByteStream> stream)
      : home_(std::move(home)), stream_(std::move(stream)) {}

  executor_type get_executor() const { return home_; }
  std::optional<TcpSocket>& socket() { return socket_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (socket_) return socket_->async_read_some(into, std::move(handler));
          asio::mutable_buffer first = first_of<asio::mutable_buffer>(into);
          stream_->start_read(static_cast<char*>(first.data()), first.size(),
                              to_done(std::move(handler)));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (socket_) return socket_->async_write_some(from, std::move(handler));
          asio::const_buffer first = first_of<asio::const_buffer>(from);
          stream_->start_write({static_cast<const char*>(first.data()), first.size()},
                               to_done(std::move(handler)));
        },
        token, buffers);
  }

  void close() {
    error_code ignored;
    if (socket_) socket_->close(ignored);
    if (stream_) stream_->close();
  }

 private:
  template <class Buffer, class Buffers>
  static Buffer first_of(const Buffers& buffers) {
    auto end = asio::buffer_sequence_end(buffers);
    for (auto one = asio::buffer_sequence_begin(buffers); one != end; ++one) {
      if (Buffer(*one).size() > 0) return *one;
    }
    return {};
  }
  // Handlers of Beast can only be moved, but a std::function holds only what can be copied.
  template <class Handler>
  static ByteStream::Done to_done(Handler handler) {
    return [kept = std::make_shared<Handler>(std::move(handler))](error_code error,
                                                                  std::size_t count) {
      Handler called = std::move(*kept);
      called(error, count);
    };
  }

  Executor home_;
  std::optional<TcpSocket> socket_;
  std::unique_ptr<ByteStream> stream_;
};

// Beast finds these functions by the stream's type.
void beast_close_socket(AnyStream& stream) {
  stream.close();
}

template <class Handler>
void async_teardown(beast::role_type role, AnyStream& stream, Handler&& handler) {
  if (stream.socket()) return ws::async_teardown(role, *stream.socket(), std::move(handler));
  stream.close();
  Executor home = stream.get_executor();
  asio::post(home, [handler = std::move(handler)]() mutable { handler(error_code()); });
}

ws::permessage_deflate deflate_options(Compression compression) {
  ws::permessage_deflate options;
  options.server_enable = compression == Compression::on;
  options.client_enable = options.server_enable;
  options.compLevel = 3;
  options.memLevel = 4;
  options.msg_size_threshold = kCompressedBytesMin;
  return options;
}

WebSocketEnd end_of(const error_code& error) {
  if (error == ws::error::closed) return WebSocketEnd::closed_by_peer;
  if (error == beast::error::timeout) return WebSocketEnd::silent;
  if (error == ws::error::message_too_big || error == ws::error::buffer_overflow) {
    return WebSocketEnd::too_large;
  }
  if (error == ws::condition::protocol_violation) return WebSocketEnd::malformed;
  return WebSocketEnd::broken;
}

Error refused_with(int status, std::string_view authority) {
  ErrorCode code = status == 403   ? ErrorCode::forbidden
                   : status == 404 ? ErrorCode::not_found
                                   : ErrorCode::unavailable;
  return Error(code, cat(authority, " refused the WebSocket with HTTP status ", status))
      .reason(cat("status_", status));
}

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    if (equals_ignoring_case(trim(one), token)) return true;
  }
  return false;
}

}  // namespace

// Lives for as long as any operation on it is under way.
class WebSocketStream::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AnyStream stream, WebSocketLimits limits, Compression compression, beast::role_type role)
      : limits_(limits), stream_(std::move(stream)), over_(stream_.get_executor()) {
    stream_.set_option(deflate_options(compression));
    stream_.set_option(ws::stream_base::timeout{.handshake_timeout = limits.handshake_timeout,
                                                .idle_timeout = limits.idle_timeout,
                                                .keep_alive_pings = true});
    stream_.read_message_max(limits.message_bytes_max);
    // Sends whole messages, so that a server needs no write buffer.
    if (role == beast::role_type::server) stream_.auto_fragment(false);
    stream_.binary(true);
  }

  Task<Result<void>> accept(std::vector<Header> headers, std::string protocol) {
    auto self = shared_from_this();
    http::request<http::empty_body> request(http::verb::get, "/", 11);
    for (const Header& header : headers) request.insert(header.name, header.value);
    stream_.set_option(ws::stream_base::decorator([protocol](ws::response_type& response) {
      response.set(http::field::server, "errand");
      if (!protocol.empty()) response.set(http::field::sec_websocket_protocol, protocol);
    }));
    auto [error] = co_await stream_.async_accept(request, as_result);
    if (!error) co_return Result<void>();
    fail(error);
    if (error == ws::condition::handshake_failed) {
      co_return Error(ErrorCode::invalid_argument, error.message());
    }
    co_return Error(ErrorCode::unavailable, error.message());
  }

  Task<Result<void>> open(std::string authority, std::string target, std::vector<Header> headers) {
    auto self = shared_from_this();
    stream_.set_option(ws::stream_base::decorator([headers](ws::request_type& request) {
      for (const Header& header : headers) request.set(header.name, header.value);
    }));
    ws::response_type response;
    auto [error] = co_await stream_.async_handshake(response, authority, target, as_result);
    if (!error) co_return Result<void>();
    fail(error);
    if (error == ws::error::upgrade_declined) {
      co_return refused_with(static_cast<int>(response.result_int()), authority);
    }
    co_return Error(ErrorCode::unavailable,
                    cat("the WebSocket to ", authority, " did not open: ", error.message()))
        .reason("handshake_failed");
  }

  Task<std::optional<WebSocketMessage>> read(Growing growing) {
    auto self = shared_from_this();
    if (is_over_) co_return std::nullopt;
    WebSocketMessage message;
    std::size_t room = kFirstReadBytes;
    do {
      const std::size_t begin = message.bytes.size();
      message.bytes.resize(begin + room);
      if (growing && begin > 0) growing(message.bytes.size());
      asio::mutable_buffer rest(message.bytes.data() + begin, room);
      auto [error, count] = co_await stream_.async_read_some(rest, as_result);
      message.bytes.resize(begin + count);
      if (error) {
        fail(error);
        co_return std::nullopt;
      }
      const std::size_t size = message.bytes.size();
      room = std::max(kReadBytes, std::min(size, limits_.message_bytes_max - size));
    } while (!stream_.is_message_done());
    message.is_text = stream_.got_text();
    co_return message;
  }

  void queue(Outgoing message) {
    if (is_over_ || closing_) return;
    queued_bytes_ += size_of(message);
    if (queued_bytes_ > limits_.queued_bytes_max) return finish_with(WebSocketEnd::slow_reader);
    queue_.push_back(std::move(message));
    write_next();
  }

  void close(CloseFrame frame) {
    if (is_over_ || closing_) return;
    closing_ = std::move(frame);
    if (end_ == WebSocketEnd::open) end_ = WebSocketEnd::closed_by_us;
    // The peer gets the time of one handshake to take what is queued and to send its own close
    // frame.
    auto timer = std::make_shared<SteadyTimer>(stream_.get_executor());
    timer->expires_after(limits_.handshake_timeout);
    timer->async_wait([timer, weak = weak_from_this()](error_code error) {
      std::shared_ptr<Impl> self = weak.lock();
      if (self && !error) self->finish_with(WebSocketEnd::closed_by_us);
    });
    closing_timer_ = std::move(timer);
    write_next();
  }

  void finish_with(WebSocketEnd end) {
    if (is_over_) return;
    is_over_ = true;
    if (end_ == WebSocketEnd::open) end_ = end;
    if (closing_timer_) closing_timer_->cancel();
    if (!writing_) queue_.clear();
    stream_.next_layer().close();
    over_.notify();
  }

  Task<void> finish() {
    auto self = shared_from_this();
    close({.code = 1000, .reason = ""});
    while (!is_over_) co_await over_.wait();
  }

  WebSocketEnd end() const { return end_; }
  std::size_t queued_bytes() const { return queued_bytes_; }
  CloseFrame peer_close() const {
    const ws::close_reason& said = stream_.reason();
    return {.code = said.code, .reason = std::string(said.reason.data(), said.reason.size())};
  }

 private:
  static std::size_t size_of(const Outgoing& message) {
    return message.bytes->size() + kQueuedMessageBytes;
  }

  void write_next() {
    if (writing_ || is_over_) return;
    if (queue_.empty()) {
      if (closing_ && !std::exchange(close_sent_, true)) send_close();
      return;
    }
    writing_ = true;
    const std::string& bytes = *queue_.front().bytes;
    asio::const_buffer buffer(bytes.data(), bytes.size());
    stream_.async_write(buffer, [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      const Outgoing sent = std::move(self->queue_.front());
      self->queued_bytes_ -= size_of(sent);
      self->queue_.pop_front();
      if (error) return self->fail(error);
      if (sent.written && !self->is_over_) sent.written();
      self->write_next();
    });
  }

  void send_close() {
    std::string_view reason = utf8_prefix(closing_->reason, ws::reason_string::static_capacity);
    ws::close_reason said(static_cast<ws::close_code>(closing_->code),
                          beast::string_view(reason.data(), reason.size()));
    stream_.async_close(said, [self = shared_from_this()](error_code) {
      self->finish_with(WebSocketEnd::closed_by_us);
    });
  }

  void fail(const error_code& error) {
    // If a read ends because of our own close, the close does the rest.
    if (error == ws::error::closed && closing_) return;
    finish_with(end_of(error));
  }

  const WebSocketLimits limits_;
  ws::stream<AnyStream> stream_;
  Wakeup over_;
  std::list<Outgoing> queue_;  // the first one is being written while `writing_`
  std::size_t queued_bytes_ = 0;
  std::optional<CloseFrame> closing_;
  std::shared_ptr<SteadyTimer> closing_timer_;
  WebSocketEnd end_ = WebSocketEnd::open;
  bool writing_ = false;
  bool close_sent_ = false;
  bool is_over_ = false;
};

WebSocketStream::WebSocketStream(TcpSocket socket, WebSocketLimits limits, Compression compression)
    : impl_(std::make_shared<Impl>(AnyStream(std::move(socket)), limits, compression,
                                   beast::role_type::server)) {}

WebSocketStream::WebSocketStream(const Executor& home, std::unique_ptr<ByteStream> stream,
                                 WebSocketLimits limits, Compression compression)
    : impl_(std::make_shared<Impl>(AnyStream(home, std::move(stream)), limits, compression,
                                   beast::role_type::client)) {}

WebSocketStream::~WebSocketStream() {
  impl_->finish_with(WebSocketEnd::dropped);
}

Task<Result<void>> WebSocketStream::accept(std::vector<Header> headers, std::string protocol) {
  return impl_->accept(std::move(headers), std::move(protocol));
}

Task<Result<void>> WebSocketStream::open(std::string authority, std::string target,
                                         std::vector<Header> headers) {
  return impl_->open(std::move(authority), std::move(target), std::move(headers));
}

Task<std::optional<WebSocketMessage>> WebSocketStream::read(Growing growing) {
  return impl_->read(std::move(growing));
}

void WebSocketStream::queue(Outgoing message) {
  impl_->queue(std::move(message));
}

void WebSocketStream::close(CloseFrame frame) {
  impl_->close(std::move(frame));
}

void WebSocketStream::drop() {
  impl_->finish_with(WebSocketEnd::dropped);
}

Task<void> WebSocketStream::finish() {
  return impl_->finish();
}

WebSocketEnd WebSocketStream::end() const {
  return impl_->end();
}

CloseFrame WebSocketStream::peer_close() const {
  return impl_->peer_close();
}

std::size_t WebSocketStream::queued_bytes() const {
  return impl_->queued_bytes();
}

bool asks_for_websocket(const Request& request) {
  return request.method == Method::get &&
         equals_ignoring_case(request.header("upgrade"), "websocket") &&
         has_token(request.header("connection"), "upgrade");
}

std::vector<std::string> offered_protocols(const Request& request) {
  std::vector<std::string> offered;
  std::string_view list = request.header("sec-websocket-protocol");
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    if (!trim(one).empty()) offered.emplace_back(trim(one));
  }
  return offered;
}

}  // namespace errand::net
