#include "cli/run_command.hpp"

#include <unistd.h>

#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/embedded_api.hpp"
#include "cli/exit_code.hpp"
#include "cli/files_tool.hpp"
#include "cli/host.hpp"
#include "cli/http_api.hpp"
#include "cli/prompt_run.hpp"
#include "cli/run_body.hpp"
#include "cli/terminal_approver.hpp"
#include "cli/toolbox.hpp"
#include "net/address_rules.hpp"
#include "store/memory/memory_store.hpp"
#include "tool/builtin/shell_tool.hpp"
#include "tool/builtin/web_fetch_tool.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kToolThreads = 4;
constexpr std::size_t kToolQueueMax = 1000;
constexpr const char* kTerminal = "/dev/tty";

using Tools = std::vector<std::unique_ptr<Tool>>;

bool names_server(const ServerFlags& flags) {
  return !flags.server.empty() || !flags.key.empty() || !flags.workspace.empty();
}

Result<void> check_flags(const RunOptions& options) {
  if (options.yes && !options.shell) {
    return Error(ErrorCode::invalid_argument, "--yes answers the questions of --shell");
  }
  if (!options.allow_networks.empty() && !options.web_fetch) {
    return Error(ErrorCode::invalid_argument, "--allow-network is for --web-fetch");
  }
  bool is_embedded = options.embedded || !options.config.empty();
  if (!is_embedded || !names_server(options.server)) return {};
  return Error(ErrorCode::invalid_argument,
               cat(options.embedded ? "--embedded" : "--config",
                   " is for a run without a server; --server, --key and --workspace name one"));
}

// Whether this process drives the run itself.
bool is_embedded(const RunOptions& options) {
  if (options.embedded || !options.config.empty()) return true;
  if (names_server(options.server)) return false;
  auto known = read_credentials(credentials_file(data_directory(options.server)));
  return !known && known.error().code() == ErrorCode::not_found;
}

Result<void> add_files(Tools& tools, const RunOptions& options, BlockingPool& pool) {
  auto directory =
      SharedDirectory::open(options.files, credentials_file(data_directory(options.server)));
  if (!directory) {
    return Error(directory.error().code(), cat("--files: ", directory.error().message()));
  }
  Tools made = make_file_tools(std::move(*directory), pool);
  std::move(made.begin(), made.end(), std::back_inserter(tools));
  return {};
}

void add_shell(Tools& tools, const RunOptions& options, Approver& approver) {
  ShellOptions shell{.directory = options.files.empty() ? "." : options.files};
  for (char** variable = environ; *variable; ++variable) shell.environment.emplace_back(*variable);
  tools.push_back(std::make_unique<ShellTool>(std::move(shell), approver));
}

Result<void> add_web_fetch(Tools& tools, const RunOptions& options, BlockingPool& pool) {
  auto rules = net::AddressRules::parse(options.allow_networks);
  if (!rules) {
    return Error(rules.error().code(), cat("--allow-network: ", rules.error().message()));
  }
  net::ClientOptions client = client_options_here();
  client.addresses = std::move(*rules);
  tools.push_back(std::make_unique<WebFetchTool>(std::move(client), pool));
  return {};
}

// The tools that the flags lend to the run.
Result<Tools> make_tools(const RunOptions& options, Approver& approver, BlockingPool& pool) {
  Tools tools;
  if (!options.files.empty()) ERRAND_CHECK(add_files(tools, options, pool));
  if (options.shell) add_shell(tools, options, approver);
  if (options.web_fetch) ERRAND_CHECK(add_web_fetch(tools, options, pool));
  return tools;
}

// What both kinds of runs are made with.
struct Prepared {
  asio::io_context& io;
  Console& console;
  EventPrinter& printer;
  ToolRegistry& tools;
  std::string body;
};

int follow_prompt(ApiClient& api, Host* host, Prepared prepared) {
  asio::io_context& io = prepared.io;
  PromptRun run({.io = io,
                 .api = api,
                 .tools = prepared.tools,
                 .printer = prepared.printer,
                 .console = prepared.console,
                 .host = host},
                std::move(prepared.body));
  run.start();
  io.run();
  return run.exit_code();
}

int run_on_server(const RunOptions& options, Prepared prepared) {
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  HttpApi api(*server, client_options_here());
  return follow_prompt(api, nullptr, std::move(prepared));
}

// A store of its own is gone with the process; one in a directory is continued by the next process.
Result<std::unique_ptr<Store>> make_store(const RunOptions& options, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  if (!options.server.data) {
    return std::unique_ptr<Store>(std::make_unique<MemoryStore>(make_memory_store_data(), clock));
  }
  auto store = open_store({.data = *options.server.data, .store = {}}, clock, pool, log);
  if (store || store.error().code() != ErrorCode::conflict) return store;
  return Error(store.error())
      .hint("wait for it, be its client with --server URL --key KEY, or choose another --data DIR");
}

int run_embedded(const RunOptions& options, Prepared prepared) {
  SystemClock clock;
  Log log(clock, STDERR_FILENO, LogFormat::text, LogLevel::warning);
  BlockingPool pool(kBlockingThreads, kBlockingQueueMax);
  auto config = load_config(options.config);
  if (!config) return fail_usage(config.error());
  auto store = make_store(options, clock, pool, log);
  if (!store) {
    bool is_usage = store.error().code() == ErrorCode::invalid_argument;
    return is_usage ? fail_usage(store.error()) : fail(store.error());
  }
  Principal caller{.workspace = *WorkspaceSlug::parse("default"), .key = {}};
  Host host({.io = prepared.io, .clock = clock, .log = log}, std::move(*config), std::move(*store),
            {.caller = caller});
  EmbeddedApi api(host.router(), caller.workspace);
  return follow_prompt(api, &host, std::move(prepared));
}

}  // namespace

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  if (auto right = check_flags(options); !right) return fail_usage(right.error());
  asio::io_context io(1);  // outlives the tools, which keep connections for the next request
  auto printer = make_printer(options.form, look_here());
  Console console;
  BlockingPool pool(kToolThreads, kToolQueueMax);
  using Consent = TerminalApprover::Consent;
  TerminalApprover approver(console, *printer, kTerminal,
                            options.yes ? Consent::given : Consent::asked_for);
  auto tools = make_tools(options, approver, pool);
  if (!tools) return fail_usage(tools.error());
  Toolbox toolbox(std::move(*tools));
  auto body = make_run_body(options, toolbox.declarations());
  if (!body) return fail_usage(body.error());
  Prepared prepared{.io = io,
                    .console = console,
                    .printer = *printer,
                    .tools = toolbox,
                    .body = std::move(*body)};
  if (is_embedded(options)) return run_embedded(options, std::move(prepared));
  return run_on_server(options, std::move(prepared));
}

}  // namespace errand::cli
