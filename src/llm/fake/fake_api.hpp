#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "llm/fake/fake_format.hpp"
#include "llm/fake/request_log.hpp"
#include "net/server/router.hpp"

namespace errand::llm {

// The routes of a server that speaks as the vendors of models do, and says what a script says. The
// turn is picked by what the request holds, never by a counter, so that any number of conversations
// go on side by side and a request that is sent again gets the same answer. Lives on one home.
class FakeApi final {
 public:
  // A reader that finds data and a broken connection at once may throw the data away: it gets this
  // long to read before an answer is cut.
  static constexpr milliseconds kCutPause{50};

  struct Options {
    Script script;
    std::string key;  // empty: any key will do, and none
  };
  FakeApi(Options options, const Clock& clock, Log& log, Executor home);

  void add_routes(net::Router& router);

  // For what is wrong before it is known which vendor is asked: a body with the members of all of
  // them. What is not found is answered with the paths that there are.
  static net::Response render_error(const Error& error);

 private:
  // One of the formats, and how its clients name themselves.
  struct Vendor {
    std::unique_ptr<FakeFormat> format;
    std::string_view key_header;  // besides "Authorization: Bearer"
    std::string_view id_header;   // for the id of the request; may be empty
  };
  // What is known of a request before its body is read.
  struct Asked {
    const Vendor& vendor;
    std::string seed{};  // of all ids
    // What Gemini's requests say in their path, and others in their body.
    std::string model{};
    bool streams = false;
    bool in_array = false;  // as one JSON array instead of server-sent events
  };
  struct Decision {
    net::Response response;
    milliseconds delay{0};  // before the response
  };

  Task<net::Response> answer(const Vendor* vendor, net::Request request);
  Task<net::Response> answer_gemini(net::Request request);
  Task<net::Response> answer_with(Asked asked, net::Request request);
  Task<net::Response> list_models(net::Request request);
  Task<net::Response> show_requests(net::Request request);
  Task<net::Response> forget_requests(net::Request request);

  Decision decide(const Asked& asked, const net::Request& request, RequestLog::Outcome& outcome);
  Decision play(const Asked& asked, const FakeRequest& wanted, const json::Object& body);
  bool has_key(const Vendor& vendor, const net::Request& request) const;

  const Options options_;
  const Clock& clock_;
  Log& log_;
  Executor home_;
  const Vendor chat_;
  const Vendor responses_;
  const Vendor anthropic_;
  const Vendor gemini_;
  RequestLog requests_;
};

}  // namespace errand::llm
