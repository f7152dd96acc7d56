#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/log.hpp"
#include "net/server/body_budget.hpp"
#include "net/server/failure_log.hpp"
#include "net/server/http_server.hpp"
#include "net/server/outgoing.hpp"
#include "net/server/request_ids.hpp"
#include "net/server/request_reader.hpp"
#include "net/server/response_writer.hpp"
#include "net/server/unsent_bytes.hpp"
#include "net/tcp_socket.hpp"
#include "net/websocket_stream.hpp"

namespace errand::net {

class Connection;

// What the connections of one server share. Lives on the server's home and outlives them.
struct ConnectionsShared {
  ConnectionsShared(HttpServer::Options options, Log& server_log)
      : handler(std::move(options.handler)),
        render_error(std::move(options.render_error)),
        limits(options.limits),
        log(server_log),
        bodies(options.limits.bodies_bytes_max, options.limits.holder_bodies_bytes_max),
        unsent(options.limits.unsent_bytes_max),
        admit(std::move(options.admit)),
        behind_proxy(options.behind_proxy) {}

  const Handler handler;
  const ErrorRenderer render_error;
  const ServerLimits limits;
  Log& log;
  FailureLog failures{log};
  BodyBudget bodies;
  UnsentBytes unsent;
  const Admission admit;
  const bool behind_proxy;
  RequestIds ids;
  DateText date;

  std::list<Connection*> connections;
  std::function<void()> on_left;  // a connection has left the list
  std::size_t event_streams = 0;
  std::size_t web_sockets = 0;
  std::uint64_t requests = 0;
  DurationHistogram durations;  // from a whole request to its answer
  bool stopping = false;        // answers say `Connection: close`, and no event stream begins
};

// One accepted connection. It has no timer: it says until when its present phase may last, and the
// server's sweep calls expire() after that. Owned by its own run(), listed in `connections`.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = TcpSocket;

  // How long input is thrown away after the last answer, and how much, so that a client that still
  // sends gets to see that answer.
  static constexpr milliseconds kDrainTime{5000};
  static constexpr std::size_t kDrainBytesMax = 64U * 1024 * 1024;

  Connection(Socket socket, ConnectionsShared& shared);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Serves requests until the connection ends.
  static Task<void> run(std::shared_ptr<Connection> self);

  SteadyTime deadline() const { return deadline_; }
  // The deadline has passed: answers 408 to a slow sender, resets a slow reader, closes the rest.
  void expire();

  // The server stops: resets an event stream or an idle connection, drops a WebSocket; others may
  // finish.
  void stop();
  // Cuts the connection so that the client sees a failure, never a clean end.
  void reset();

 private:
  enum class Phase : std::uint8_t {
    idle,
    head,
    body,
    handling,
    writing,
    streaming,
    upgraded,
    draining
  };
  enum class Next : std::uint8_t { request, drain, close };

  // A whole answer with its head rendered, or what it turns into.
  struct Answer {
    std::string head;
    std::string body;
    std::unique_ptr<EventFeed> events;
    std::unique_ptr<Upgrade> upgrade;
  };

  // connection.cpp
  // False: there is none, and the connection is over.
  Task<bool> read_request();
  // Asks whether the present request may send its body, and whose memory it takes. What to answer
  // if it may not.
  std::optional<Response> admit();
  // What to answer to what has come so far instead of reading on; null: nothing.
  std::unique_ptr<Response> refusal_of(const Result<RequestReader::State>& state);
  Result<void> hold_body(BodyTerms terms);
  // Has the client send the body that it holds back.
  Task<void> go_on();
  Task<Answer> call_handler();
  void stop_watching();
  Task<Response> handle(Request request);
  std::string render(Response& response);
  Task<Next> give(Answer answer);
  Task<Next> send(std::string head, std::string body);
  Task<void> refuse(std::unique_ptr<Response> response);
  Task<void> drain();
  Next next_after_answer() const;
  void enter(Phase phase, SteadyTime deadline);
  void begin_wait(RequestReader::State state);
  SteadyTime slow_body_deadline() const;
  void close();
  void set_linger_zero();

  // Sends as much as fits at once and without waiting; false if the connection is broken.
  bool send_now(Outgoing& out);
  // Sends the rest.
  Task<bool> send_rest(Outgoing* out);

  // connection_stream.cpp
  Task<Next> stream(std::unique_ptr<EventFeed> feed, std::string head);
  void begin_stream(std::unique_ptr<EventFeed> feed);
  // Sends one turn of a stream, and moves the head out if it was not sent before. What does not fit
  // without waiting is left in `rest`. False: the connection is broken.
  bool send_frames(EventFeed::Chunk& chunk, std::string& head, std::unique_ptr<Outgoing>& rest);
  void watch_for_leaving();
  void on_readable();
  void on_left();

  // connection_upgrade.cpp
  Task<Next> serve_websocket(std::unique_ptr<Upgrade> upgrade);

  Socket socket_;
  ConnectionsShared& shared_;
  std::list<Connection*>::iterator listed_;
  std::unique_ptr<RequestReader> reader_;       // freed while events are streamed
  std::unique_ptr<EventFeed> feed_;             // only while events are streamed
  std::shared_ptr<WebSocketStream> websocket_;  // has taken the socket over
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime request_deadline_{};  // of the head or body being read
  SteadyTime body_begun_{};
  AnswerShape shape_;  // for the answer to the present request
  Phase phase_ = Phase::idle;
  bool expired_ = false;
  bool is_full_ = false;  // the socket took less than it was given last
  bool from_loopback_ = false;
  bool gone_ = false;                // the client of an event stream has left
  std::function<void()> when_left_;  // of a handler that waits for something
  std::uint8_t served_in_a_row_ = 0;
};

}  // namespace errand::net
