// Reads its input as JSON-RPC: as one message that must survive being written and read again, and
// as lines that a peer with a call under way receives. Built with -DERRAND_FUZZ=ON.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/assert.hpp"
#include "rpc/memory_connection.hpp"
#include "rpc/peer.hpp"

namespace errand::rpc {
namespace {

class EchoHandler final : public Handler {
 public:
  Task<Answer> handle(Request request, ServedRequest* served) override {
    served->report({.progress = 1});
    co_return Answer(json::Value(std::move(request.params)));
  }
};

template <class Message>
void check_round_trip(const Message& message) {
  auto again = read_messages(write(message), Batches::refused).value();
  ERRAND_ASSERT(again.size() == 1 && again.front() == Incoming(message));
}

void check_messages(std::string_view text) {
  auto messages = read_messages(text, Batches::accepted);
  if (!messages) return;  // too many values
  for (const Incoming& message : *messages) {
    if (const auto* request = std::get_if<Request>(&message)) check_round_trip(*request);
    if (const auto* response = std::get_if<Response>(&message)) check_round_trip(*response);
    if (const auto* malformed = std::get_if<Malformed>(&message)) {
      ERRAND_ASSERT(!malformed->error.message.empty());
    }
  }
  (void)find_response_id(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
}

Task<void> call(Peer* peer) {
  CallOptions options{.silence_max = CallOptions::kNone, .on_progress = [](const Progress&) {}};
  auto outcome = co_await peer->call("m", {}, std::move(options));
  ERRAND_ASSERT(outcome || !outcome.error().message().empty());
}

Task<void> stop(Peer* peer) {
  co_await peer->stop();
}

void check_peer(std::string_view text) {
  asio::io_context io(1);
  auto [ours, theirs] = make_connection_pair(io.get_executor());
  EchoHandler handler;
  Peer peer(io.get_executor(), *ours, handler,
            [](const char*, const std::string&) { std::abort(); },
            {.batches = Batches::accepted, .noise = PeerOptions::Noise::answered});
  peer.start();
  asio::co_spawn(io, call(&peer), asio::detached);
  io.poll();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!theirs->send({.text = std::string(line)})) break;
  }
  io.poll();
  asio::co_spawn(io, stop(&peer), asio::detached);
  io.restart();
  io.run();
  ERRAND_ASSERT(peer.calls() == 0);
}

}  // namespace
}  // namespace errand::rpc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  errand::rpc::check_messages(input);
  errand::rpc::check_peer(input);
  return 0;
}
