#include "load/rooms/room_load.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/home.hpp"
#include "async/interrupt.hpp"
#include "async/task_group.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "room/client/socket_connection.hpp"

namespace errand::load {
namespace {

using room::Connection;
using room::Message;
using ConnectionPtr = std::shared_ptr<Connection>;
using Clock = std::chrono::steady_clock;

double millis_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

std::string toolkit_name(std::size_t number) {
  return cat("kit", number);
}

std::string registration(const std::string& toolkit) {
  return cat(R"({"name":")", toolkit,
             R"(","title":"","description":"","public":true,"tools":{"run":{"title":"run",)"
             R"("description":"","input_spec":{"types":["json"],"stream":false}}}})");
}

// Everybody of one scenario, on one thread.
class RoomLoad final {
 public:
  RoomLoad(const RoomOptions& options, std::istream& in, std::ostream& out)
      : options_(options),
        in_(in),
        out_(out),
        home_(io_),
        all_heard_(home_.executor()),
        finished_(home_.executor()),
        members_(home_.executor(), report),
        main_(home_.executor(), report) {}

  bool play() {
    main_.spawn("load", run());
    io_.run();
    return !failure_;
  }

 private:
  static void report(const char* task, const std::string& what) {
    std::cerr << "errand_room_load: a bug in " << task << ": " << what << "\n";
  }

  Task<void> run() {
    auto played = co_await scenario();
    if (!played) {
      failure_ = played.error();
      std::cerr << "errand_room_load: " << failure_->describe() << "\n";
    }
    // Whoever still reads is told by the end of its connection.
    for (const ConnectionPtr& member : joined_) member->close();
    co_await members_.stop(CancelReason::shutdown);
  }

  Task<Result<void>> scenario() {
    for (const std::string& token : options_.tokens) {
      ERRAND_CO_TRY(auto connector,
                    room::make_socket_connector({.url = options_.url, .token = token}));
      connectors_.push_back(std::move(connector));
    }
    switch (options_.scenario) {
      case RoomScenario::idle: co_return co_await idle();
      case RoomScenario::calls: co_return co_await calls();
      case RoomScenario::broadcast: co_return co_await broadcast();
    }
    co_return Result<void>();
  }

  // Somebody who has been told that the room is ready.
  Task<Result<ConnectionPtr>> join() {
    const std::shared_ptr<room::Connector> next = connectors_[joined_.size() % connectors_.size()];
    ERRAND_CO_TRY(auto joined, co_await next->connect(&never_));
    for (;;) {
      ERRAND_CO_TRY(Message message, co_await joined->read());
      if (message.type != "room_ready") continue;
      joined_.push_back(joined);
      co_return joined;
    }
  }

  // The answer to a request; nothing else may be expected meanwhile.
  static Task<Result<Message>> ask(ConnectionPtr from, std::uint64_t id, std::string type,
                                   std::string header) {
    from->send({.id = id, .type = std::move(type), .header = std::move(header)});
    for (;;) {
      ERRAND_CO_TRY(Message message, co_await from->read());
      if (message.type != "__response__" || message.id != id) continue;
      if (message.header.find(R"("type":"error")") == std::string::npos) co_return message;
      co_return Error(ErrorCode::conflict, message.header);
    }
  }

  Task<void> stay(ConnectionPtr member) {
    while (co_await member->read()) {
    }
  }

  Task<Result<void>> idle() {
    for (std::size_t i = 0; i < options_.participants; ++i) {
      ERRAND_CO_TRY(auto member, co_await join());
      members_.spawn("idle", stay(std::move(member)));
    }
    out_ << json::write(json::Object{{"participants", options_.participants}}) << std::endl;
    std::string line;
    std::getline(in_, line);  // nobody is spoken to meanwhile
    co_return Result<void>();
  }

  // ---- calls ------------------------------------------------------------------------------------

  Task<void> host(ConnectionPtr member) {
    for (;;) {
      auto message = co_await member->read();
      if (!message) co_return;
      if (!message->type.starts_with("room.tool_call.")) continue;
      member->send({.id = message->id,
                    .type = "room.tool_call_response",
                    .header = R"({"type":"json","json":{"done":true}})"});
    }
  }

  Task<void> call(ConnectionPtr member, std::string toolkit) {
    const std::string header =
        cat(R"({"toolkit":")", toolkit,
            R"(","tool":"run","arguments":{"type":"json","json":{"city":"Paris","days":3}}})");
    for (std::size_t i = 1; i <= options_.rounds; ++i) {
      const auto begun = Clock::now();
      auto answer = co_await ask(member, i, "room.invoke_tool", header);
      if (!answer) {
        failure_ = answer.error();
        break;
      }
      millis_.push_back(millis_since(begun));
    }
    if (--callers_ == 0) finished_.notify();
  }

  Task<Result<void>> calls() {
    std::vector<ConnectionPtr> callers;
    for (std::size_t i = 0; i < options_.participants; ++i) {
      ERRAND_CO_TRY(auto member, co_await join());
      ERRAND_CO_CHECK(
          co_await ask(member, 1, "room.register_toolkit", registration(toolkit_name(i))));
      members_.spawn("host", host(std::move(member)));
      ERRAND_CO_TRY(auto caller, co_await join());
      callers.push_back(std::move(caller));
    }
    const auto begun = Clock::now();
    callers_ = callers.size();
    for (std::size_t i = 0; i < callers.size(); ++i) {
      members_.spawn("call", call(callers[i], toolkit_name(i)));
    }
    while (callers_ > 0) co_await finished_.wait();
    const double seconds = millis_since(begun) / 1000;
    if (failure_) co_return *failure_;
    write({{"callsPerSecond", static_cast<double>(millis_.size()) / seconds}});
    co_return Result<void>();
  }

  // ---- broadcast --------------------------------------------------------------------------------

  Task<void> listen(ConnectionPtr member) {
    for (;;) {
      auto message = co_await member->read();
      if (!message) co_return;
      if (message->type == "messaging.send" && ++heard_ == options_.participants) {
        all_heard_.notify();
      }
    }
  }

  Task<Result<void>> broadcast() {
    constexpr std::string_view kEnable = R"({"toolkit":"messaging","tool":"enable"})";
    constexpr std::string_view kSay =
        R"({"toolkit":"messaging","tool":"broadcast","arguments":{"type":"json","json":)"
        R"({"type":"note","message_json":"{\"text\":\"hello to all of you\"}"}}})";
    for (std::size_t i = 0; i < options_.participants; ++i) {
      ERRAND_CO_TRY(auto member, co_await join());
      ERRAND_CO_CHECK(co_await ask(member, 1, "room.invoke_tool", std::string(kEnable)));
      // What comes with it: who else is there.
      for (bool is_told = false; !is_told;) {
        ERRAND_CO_TRY(Message message, co_await member->read());
        is_told = message.type == "messaging.send";
      }
      members_.spawn("listen", listen(std::move(member)));
    }
    ERRAND_CO_TRY(auto speaker, co_await join());
    for (std::size_t i = 1; i <= options_.rounds; ++i) {
      heard_ = 0;
      const auto begun = Clock::now();
      ERRAND_CO_CHECK(co_await ask(speaker, i, "room.invoke_tool", std::string(kSay)));
      while (heard_ < options_.participants) co_await all_heard_.wait();
      millis_.push_back(millis_since(begun));
    }
    write({});
    co_return Result<void>();
  }

  void write(json::Object figures) {
    figures["p50Ms"] = quantile(millis_, 0.5);
    figures["p99Ms"] = quantile(millis_, 0.99);
    figures["maxMs"] = quantile(millis_, 1);
    out_ << json::write(figures) << std::endl;
  }

  const RoomOptions& options_;
  std::istream& in_;
  std::ostream& out_;
  asio::io_context io_{1};
  Home home_;
  Interrupt never_;
  std::vector<std::shared_ptr<room::Connector>> connectors_;  // one for each token
  std::vector<ConnectionPtr> joined_;
  std::optional<Error> failure_;
  std::vector<double> millis_;
  std::size_t callers_ = 0;  // that are not done
  std::size_t heard_ = 0;    // who have the message
  Wakeup all_heard_;
  Wakeup finished_;
  TaskGroup members_;
  TaskGroup main_;
};

}  // namespace

bool play_room(const RoomOptions& options, std::istream& in, std::ostream& out) {
  return RoomLoad(options, in, out).play();
}

}  // namespace errand::load
