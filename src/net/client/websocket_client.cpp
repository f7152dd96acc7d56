#include "net/client/websocket_client.hpp"

#include <utility>

#include "base/text.hpp"
#include "net/client/client_connection.hpp"
#include "net/url.hpp"
#include "net/websocket_stream.hpp"

namespace errand::net {
namespace {

// parse_url knows only http and https.
Result<Url> parse_websocket_url(std::string_view text) {
  if (text.starts_with("ws://")) return parse_url(cat("http://", text.substr(5)));
  if (text.starts_with("wss://")) return parse_url(cat("https://", text.substr(6)));
  return parse_url(text);
}

}  // namespace

Task<Result<std::shared_ptr<WebSocket>>> open_websocket(WebSocketRequest request) {
  ERRAND_CO_TRY(Url url, parse_websocket_url(request.url));
  const bool may_have_proxy = url.scheme == Scheme::https;
  Route route = route_to(url, may_have_proxy ? request.proxy : std::nullopt, request.rules);
  TimeLimit limit = TimeLimit::from_now("connect", request.connect_timeout);
  auto dialled =
      co_await dial(std::move(route), request.tls, limit, request.rules, request.interrupt);
  if (!dialled) co_return std::move(dialled).error();
  std::unique_ptr<ClientConnection> connection = std::move(*dialled);
  connection->clear_limit();
  Executor home = co_await asio::this_coro::executor;
  auto socket = std::make_shared<WebSocketStream>(home, std::move(connection), request.limits,
                                                  request.compression);
  Interrupt::Scope opening(request.interrupt, [&socket] { socket->drop(); });
  auto opened = co_await socket->open(url.authority, url.target, std::move(request.headers));
  if (!opened) co_return std::move(opened).error();
  std::shared_ptr<WebSocket> result = std::move(socket);
  co_return result;
}

}  // namespace errand::net
