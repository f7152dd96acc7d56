#include "sdk/bridge/builtin_toolkits.hpp"

#include <unistd.h>

#include <utility>

#include "async/blocking_pool.hpp"
#include "base/text.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/called_here.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/web_access.hpp"
#include "tool/builtin/calculator_tool.hpp"
#include "tool/builtin/current_time_tool.hpp"
#include "tool/builtin/shell_tool.hpp"
#include "tool/files/files_tool.hpp"
#include "tool/files/memory_files.hpp"

namespace errand::v1::toolkits {
namespace {

Toolkit kit(std::string name, std::string description, Tool tool) {
  return Toolkit(
      {.name = std::move(name), .description = std::move(description), .tools = {std::move(tool)}});
}

Toolkit kit_of_files(std::shared_ptr<const FileTree> tree, Access access) {
  FileAccess inner = access == Access::write ? FileAccess::write : FileAccess::read;
  auto shared = std::make_shared<const FilesTool>(std::move(tree), inner);
  ToolkitOptions options{.name = "files", .description = "Files of the user."};
  for (const ToolDecl& decl : FilesTool::declarations(inner)) {
    auto call = [shared, name = decl.name](const Json& arguments) {
      ToolAnswer answer = shared->call(name, detail::to_value(arguments));
      if (!answer.ok) return ToolResult::failed(std::move(answer.text));
      ToolResult result;
      result.content.emplace_back(TextContent{std::move(answer.text)});
      return result;
    };
    options.tools.push_back(tool(decl.name, decl.description,
                                 detail::from_value(json::Value(*decl.input_schema)), call,
                                 sdk::options_of(decl)));
  }
  return Toolkit(std::move(options));
}

// Asks the program's function, on the thread of the call.
class ProgramApprover final : public Approver {
 public:
  explicit ProgramApprover(std::function<bool(const std::string&)> ask) : ask_(std::move(ask)) {}
  Task<bool> approve(ApprovalRequest request) override { co_return ask_(request.command); }

 private:
  const std::function<bool(const std::string&)> ask_;
};

errand::ShellOptions shell_in(const std::string& directory) {
  errand::ShellOptions options{.directory = directory};
  for (char** variable = environ; *variable; ++variable)
    options.environment.emplace_back(*variable);
  return options;
}

Toolkit kit_of_shell(Tool tool) {
  return kit("shell", "Commands of the shell.", std::move(tool));
}

}  // namespace

// ---- Files --------------------------------------------------------------------------------------

MemoryFiles::MemoryFiles(const std::map<std::string, std::string>& files)
    : files_(std::make_shared<errand::MemoryFiles>()) {
  auto added = files_->add(files);
  if (!added) throw sdk::public_error(added.error());
}
MemoryFiles::~MemoryFiles() = default;
MemoryFiles::MemoryFiles(const MemoryFiles&) = default;
MemoryFiles& MemoryFiles::operator=(const MemoryFiles&) = default;

std::map<std::string, std::string> MemoryFiles::all() const {
  return files_->all();
}

Toolkit files(const std::filesystem::path& directory, Access access) {
  auto made = sdk::files_toolkit(directory, access);
  if (!made) throw sdk::public_error(made.error());
  return *std::move(made);
}

Toolkit files(const MemoryFiles& memory, Access access) {
  return kit_of_files(memory.files_, access);
}

// ---- Commands -----------------------------------------------------------------------------------

Toolkit shell(ShellOptions options) {
  if (!options.approve) {
    throw Error(ErrorCode::invalid_argument,
                "the shell needs `approve`, which is asked before each command");
  }
  auto approver = std::make_shared<ProgramApprover>(std::move(options.approve));
  errand::ShellOptions inner = shell_in(options.directory);
  ToolDecl decl = ShellTool(inner, *approver).decl();
  return kit_of_shell(sdk::call_here(
      decl, [inner, approver] { return std::make_shared<ShellTool>(inner, *approver); }));
}

// ---- The web ------------------------------------------------------------------------------------

Toolkit web_fetch(WebFetchOptions options) {
  sdk::WebAccess web;
  auto allowed = web.allow(options.allow_networks);
  if (!allowed) throw sdk::public_error(allowed.error());
  return sdk::web_fetch_toolkit(web);
}

Toolkit web_search(WebSearchOptions options) {
  sdk::WebAccess web = sdk::web_access_here();
  if (!options.provider.empty()) {
    auto provider = parse_search_provider(options.provider);
    if (!provider) {
      throw Error(ErrorCode::invalid_argument,
                  cat("\"", utf8_prefix(options.provider, 80),
                      "\" is no search service: exa, brave and tavily are"));
    }
    web.search = SearchService{
        .provider = *provider, .key = std::move(options.key), .base_url = options.base_url};
  }
  if (options.num_results < 1 || options.num_results > WebSearchTool::kResultsMax) {
    throw Error(ErrorCode::invalid_argument,
                cat("a search gives 1 to ", WebSearchTool::kResultsMax, " results"),
                "/num_results");
  }
  web.search_results = options.num_results;
  if (!web.search || web.search->key.empty()) {
    throw Error(ErrorCode::unauthorized,
                "no key of a search service is given or in the environment");
  }
  return sdk::web_search_toolkit(web);
}

// ---- Small ones ---------------------------------------------------------------------------------

namespace {

// The time of day as a call sees it.
class CallClock final : public Clock {
 public:
  explicit CallClock(std::chrono::system_clock::time_point now) : now_(now) {}
  WallTime now() const override { return std::chrono::floor<milliseconds>(now_); }
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }

 private:
  const std::chrono::system_clock::time_point now_;
};

// A tool, and the clock that it reads.
struct TimeOfCall {
  explicit TimeOfCall(std::chrono::system_clock::time_point now) : clock(now), tool(clock) {}
  const CallClock clock;
  CurrentTimeTool tool;
};

}  // namespace

Toolkit time(std::function<std::chrono::system_clock::time_point()> now) {
  const ToolDecl decl = TimeOfCall({}).tool.decl();
  return kit("time", "The current time.",
             sdk::call_here(decl, [now = std::move(now)](const ToolContext& context) {
               auto made = std::make_shared<TimeOfCall>(now ? now() : context.now());
               return std::shared_ptr<errand::Tool>(made, &made->tool);
             }));
}

Toolkit calculator() {
  return kit("calculator", "Arithmetic.", sdk::call_here(CalculatorTool().decl(), [] {
               return std::make_shared<CalculatorTool>();
             }));
}

}  // namespace errand::v1::toolkits

namespace errand::sdk {

namespace kits = v1::toolkits;

Result<v1::Toolkit> files_toolkit(const std::filesystem::path& directory, kits::Access access,
                                  const std::filesystem::path& withheld) {
  ERRAND_TRY(auto opened, SharedDirectory::open(directory, withheld));
  return kits::kit_of_files(std::make_shared<const SharedDirectory>(std::move(opened)), access);
}

v1::Toolkit shell_toolkit(const std::string& directory, Approver& approver) {
  ShellOptions options = kits::shell_in(directory);
  ToolDecl decl = ShellTool(options, approver).decl();
  return kits::kit_of_shell(engine_tool(
      decl, [options, &approver] { return std::make_shared<ShellTool>(options, approver); }));
}

v1::Toolkit web_fetch_toolkit(const WebAccess& web) {
  constexpr std::size_t kQueueMax = 64;
  auto pool = std::make_shared<BlockingPool>(2, kQueueMax);
  ToolDecl decl = make_web_fetch(web, *pool)->decl();
  return kits::kit("web_fetch", "Pages of the web.",
                   engine_tool(decl, [web, pool] { return make_web_fetch(web, *pool); }));
}

v1::Toolkit web_search_toolkit(const WebAccess& web) {
  ToolDecl decl = make_web_search(web)->decl();
  return kits::kit("web_search", "Searches of the web.",
                   engine_tool(decl, [web] { return make_web_search(web); }));
}

}  // namespace errand::sdk
