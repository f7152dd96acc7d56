#include "cli/doctor/doctor.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/dates/http_date.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/doctor/findings.hpp"
#include "cli/doctor/machine_checks.hpp"
#include "cli/doctor/port_owner.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/listen_address.hpp"
#include "cli/terminal/report.hpp"
#include "host/environment.hpp"
#include "json/parse.hpp"
#include "net/url.hpp"
#include "sdk/embedded/own_host.hpp"
#include "sdk/http/http_answers.hpp"

namespace errand::cli {
namespace {

using Level = Finding::Level;
using State = llm::Reachability::State;

constexpr const char* kDefaultUrl = "http://127.0.0.1:7300";
constexpr seconds kAnswerMax{5};
constexpr seconds kModelChecksMax{60};
constexpr std::int64_t kClockMillisMax = 5'000;

Result<net::ClientResponse> fetch(const std::string& url) {
  asio::io_context io(1);
  net::HttpClient client(host::client_options_here());
  net::ClientRequest request{.url = url};
  request.timeouts.first_byte = kAnswerMax;
  request.timeouts.total = kAnswerMax;
  return sdk::wait_for(io, client.send(std::move(request)));
}

// What a server tells without a key.
struct ServerState {
  std::string url;
  bool is_ours = false;  // an Errand server answers there
  std::string version = {};
  std::optional<WallTime> time = {};
  std::string problem = {};  // why the state is unknown, or why the server is not ready
};

ServerState look_at_server(const std::string& url) {
  ServerState out{.url = url};
  auto health = fetch(url + "/healthz");
  if (!health) {
    out.problem = health.error().message();
    return out;
  }
  auto body = json::parse(health->body);
  out.is_ours = health->status == 200 && body && text_of(*body, "status") == "ok";
  if (!out.is_ours) {
    out.problem = cat("what answers at ", url, " is not an Errand server");
    return out;
  }
  out.version = text_of(*body, "version");
  out.time = parse_http_date(net::find_header(health->headers, "Date"));
  auto ready = fetch(url + "/readyz");
  if (!ready) out.problem = ready.error().message();
  if (ready && ready->status != 200)
    out.problem = sdk::error_of_answer(ready->status, ready->body).message();
  return out;
}

Finding check_server(const ServerState& server, const DoctorOptions& options) {
  Finding out{.subject = "server"};
  out.message = cat(server.url, " answers, version ",
                    server.version.empty() ? std::string("unknown") : server.version);
  if (!server.is_ours) {
    out.level = options.server.server.empty() ? Level::warning : Level::wrong;
    out.message = server.problem;
    out.next =
        cat("Start one with 'errand serve --data ", sdk::data_directory(options.server).string(),
            "', or name another with --server URL.");
  } else if (!server.problem.empty()) {
    out.level = Level::warning;
    out.message = cat(server.url, " is not ready: ", server.problem);
    out.next = "Look again in a moment; the log of the server says more.";
  } else if (server.version != version()) {
    out.level = Level::warning;
    out.next = cat("This program has version ", version(), ": use the same for both.");
  }
  return out;
}

bool is_taken(const net::Url& url) {
  asio::io_context io(1);
  boost::system::error_code error;
  auto address = asio::ip::make_address(url.host == "localhost" ? "127.0.0.1" : url.host, error);
  if (error) return false;
  asio::ip::tcp::socket socket(io);
  socket.connect({address, url.port}, error);
  return !error;
}

// Only for this machine can the owner of a port be found.
Findings check_port(const ServerState& server) {
  auto url = net::parse_url(server.url);
  if (!url || !is_loopback(url->host)) return {};
  std::string place = cat(url->host, ":", url->port);
  if (server.is_ours) return {{.subject = "port", .message = cat(place, " is the server's")}};
  if (!is_taken(*url)) return {{.subject = "port", .message = cat(place, " is free")}};
  std::string owner = port_owner(url->port);
  return {{.level = Level::wrong,
           .subject = "port",
           .message = cat(owner.empty() ? "another program" : owner, " listens on ", place,
                          " and is not an Errand server"),
           .next = "End it, or serve elsewhere: errand serve --listen 127.0.0.1:0"}};
}

Finding check_key(const Result<sdk::Credentials>& server) {
  Finding out{.subject = "key"};
  if (!server) {
    // Another program may listen at the server's address.
    bool is_missing = server.error().code() == ErrorCode::not_found;
    out.level = is_missing ? Level::warning : Level::wrong;
    out.message = server.error().message();
    out.next = server.error().hint();
    return out;
  }
  auto client = sdk::make_client(*server);
  auto answer = client->wait(client->runs().list({.limit = 1, .timeout = kAnswerMax}));
  out.message = cat("accepted for the workspace ", server->workspace);
  if (answer) return out;
  out.level = Level::wrong;
  out.message = answer.error().message();
  out.next = answer.error().hint();
  return out;
}

// A server on this machine has the same clock.
Findings check_skew(const ServerState& server, const Clock& clock) {
  if (!server.time) return {};
  std::int64_t skew = (clock.now() - *server.time).count();
  if (std::abs(skew) <= kClockMillisMax) return {};
  return {{.level = Level::warning,
           .subject = "clock",
           .message = cat("the server's clock is ", std::abs(skew) / 1000, " s ",
                          skew > 0 ? "behind" : "ahead of", " this one"),
           .next = "Set both by NTP."}};
}

// The models that a server with this configuration would offer, and whether they can be reached.
Result<engine::ModelList> models_here(const std::string& file) {
  ERRAND_TRY(host::Config config, host::load_config(file));
  asio::io_context io(1);
  ERRAND_TRY(auto host, sdk::OwnHost::open({.io = io, .config = std::move(config)}));
  return sdk::wait_for(io, host->api().models({.check = engine::ModelCheck::made}));
}

Result<engine::ModelList> models_there(const sdk::Credentials& server) {
  auto client = sdk::make_client(server);
  return client->wait(
      client->runs().models({.check = engine::ModelCheck::made, .timeout = kModelChecksMax}));
}

std::string_view next_for_model(State state) {
  switch (state) {
    case State::reachable: return "";
    case State::wrong_key: return "Put a valid key into its apiKey, or into the environment.";
    case State::no_such_model: return "Put a name that the vendor knows into its vendorModelId.";
    case State::unreachable: break;
  }
  return "Check its baseUrl, and whether the network lets you through.";
}

Finding check_model(const engine::ListedModel& model) {
  llm::Reachability found = model.reachability.value_or(llm::Reachability{State::unreachable, {}});
  Finding out{.level = found.state == State::reachable ? Level::well : Level::wrong,
              .subject = cat("model ", model.info.id),
              .message = std::string(engine::to_string(found.state)),
              .next = std::string(next_for_model(found.state))};
  if (out.level == Level::wrong && !found.message.empty()) append(out.message, ": ", found.message);
  return out;
}

Findings check_models(const Result<engine::ModelList>& list) {
  if (!list) {
    return {{.level = Level::wrong,
             .subject = "models",
             .message = list.error().describe(),
             .next = list.error().hint()}};
  }
  Findings out;
  for (const engine::ListedModel& model : list->models) out.push_back(check_model(model));
  return out;
}

void add(Findings& findings, Findings more) {
  std::move(more.begin(), more.end(), std::back_inserter(findings));
}

}  // namespace

int doctor(const DoctorOptions& options) {
  ignore_broken_pipes();
  SystemClock clock;
  std::filesystem::path data = sdk::data_directory(options.server);
  Findings findings;
  if (options.server.server.empty() || options.server.data) {
    findings.push_back(check_data_directory(data));
    findings.push_back(check_store(data));
    add(findings, check_credentials(data));
  }
  auto credentials = sdk::find_server_here(options.server);
  std::string named = options.server.server.empty() ? kDefaultUrl : options.server.server;
  ServerState server = look_at_server(
      credentials ? credentials->url : std::string(net::without_trailing_slashes(named)));
  add(findings, check_port(server));
  findings.push_back(check_server(server, options));
  findings.push_back(check_clock(clock));
  add(findings, check_skew(server, clock));
  bool has_key = false;
  if (server.is_ours) {
    findings.push_back(check_key(credentials));
    has_key = findings.back().level == Level::well;
  }
  bool asks_server = has_key && options.config.empty();
  add(findings,
      check_models(asks_server ? models_there(*credentials) : models_here(options.config)));
  findings.push_back(check_descriptors());
  findings.push_back(check_certificates());
  int printed = print(render(findings, options.form));
  return is_all_well(findings) ? printed : kExitFailed;
}

}  // namespace errand::cli
