#include "mcp/server/relay.hpp"

#include <utility>

#include "mcp/server_codec.hpp"

namespace errand::mcp {
namespace {

// Whether the method concerns the connection of the client, and not the server behind it.
bool is_of_connection(std::string_view method) {
  return method == "initialize" || method == "ping" || method == "server/discover" ||
         method == "subscriptions/listen" || method == "resources/subscribe" ||
         method == "resources/unsubscribe" || method == "logging/setLevel";
}

}  // namespace

Task<rpc::Answer> Relay::handle(rpc::Request request, rpc::ServedRequest* served) {
  bool is_ready = session_.is_initialized() || modern_version_of(request.params).has_value();
  if (!is_ready || is_of_connection(request.method)) {
    auto answer = co_await session_.handle(std::move(request), served);
    co_return answer;
  }
  // The client's data about itself is dropped: the request is sent as one of this program.
  request.params.erase("_meta");
  CallToolOptions options{
      .silence_max = rpc::CallOptions::kNone,
      .total_max = rpc::CallOptions::kNone,
      .on_progress = [served](const rpc::Progress& progress) { served->report(progress); },
      .interrupt = &served->interrupt()};
  auto answer = co_await client_.request(std::move(request.method), std::move(request.params),
                                         std::move(options));
  if (!answer) {
    co_return rpc::RpcError{.code = rpc::code::kInternalError,
                            .message = answer.error().describe()};
  }
  co_return std::move(*answer);
}

}  // namespace errand::mcp
