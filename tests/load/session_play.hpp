#pragma once

#include <boost/asio/io_context.hpp>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "load/connection.hpp"
#include "load/options.hpp"
#include "load/requests.hpp"
#include "load/tally.hpp"

namespace errand::load {

// The scenario `messages`: sessions that have so many turns get further messages, on one thread.
// Each worker has one session after another, and waits for each answer.
class SessionPlay final {
 public:
  explicit SessionPlay(const Options& options);

  void play(std::istream& in, std::ostream& out);
  bool is_good() const { return tally_.errors == 0 && tally_.ended == options_.runs; }

 private:
  void work(const char* name, Task<void> (SessionPlay::*worker)());
  Task<void> begin_worker();
  Task<void> message_worker();
  // A session with so many turns.
  Task<Result<std::string>> begin(Connection* connection);
  // Sends a message and reads the run to its end.
  Task<Result<void>> say(Connection* connection, std::string session);

  const Options& options_;
  Requests requests_;
  asio::ip::tcp::endpoint server_;
  asio::io_context io_{1};
  std::vector<std::string> sessions_;
  std::size_t begun_ = 0;
  std::size_t next_ = 0;  // the session that gets the next message
  double seconds_ = 0;
  Tally tally_;
};

}  // namespace errand::load
