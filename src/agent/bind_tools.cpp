// The tools of servers that have to be asked which tools they offer.
#include <algorithm>
#include <set>
#include <utility>

#include "agent/agent_run.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "run/tools/tool_stub.hpp"
#include "tool/no_tools.hpp"

namespace errand::agent {
namespace {

constexpr std::string_view kUnreachable = "this server cannot reach it";

// Numbers the names that another tool of the run already has, so that no tool is lost.
void make_unique(std::vector<ToolDecl>& tools, const std::vector<ToolDecl>& known) {
  std::set<std::string> names;
  for (const ToolDecl& tool : known) names.insert(tool.name);
  for (ToolDecl& tool : tools) {
    std::string name = tool.name;
    for (int n = 2; !names.insert(name).second; ++n) {
      std::string suffix = cat("_", n);
      name = cat(std::string_view(tool.name).substr(0, kToolNameCharsMax - suffix.size()), suffix);
    }
    if (name != tool.name && tool.origin.upstream.empty()) tool.origin.upstream = tool.name;
    tool.name = std::move(name);
  }
}

TerminalEntry without_tools(const std::string& why) {
  return {.status = RunStatus::failed,
          .message = why.empty() ? "the run's required toolkits could not be reached in time" : why,
          .error_class = "required_toolkit_missing"};
}

}  // namespace

Task<void> AgentRun::bind_ref(std::size_t ref, Bound* out, std::size_t* left) {
  auto tools = co_await around_.tools.ask(state_->created().spec.tools->refs[ref], principal());
  if (tools) {
    out->tools = std::move(*tools);
  } else {
    const bool is_empty = tools.error().reason() == kNoTools;
    out->why_not = tools.error().message();
    around_.log.warning(is_empty
                            ? "a server has no tools for a run"
                            : "the tools of a run are unavailable: their server does not answer",
                        {{"run", key_.run.str()}, {"error", tools.error().describe()}});
    if (is_empty) {
      out->tools = stubs_of(state_->created().spec.tools->refs[ref], tools.error().message());
    }
  }
  if (--*left == 0 && pausing_) pausing_->notify();
}

// A run may wait longer for toolkits that it requires.
milliseconds AgentRun::bind_time() const {
  milliseconds longest = kBindMax;
  for (std::size_t index : state_->created().unbound) {
    const auto* room = std::get_if<RoomRef>(&state_->created().spec.tools->refs[index]);
    if (!room) continue;
    for (const RequiredToolkit& one : room->required) {
      longest = std::max(longest, kBindMax + one.timeout.value_or(kToolkitWait));
    }
  }
  return longest;
}

Task<bool> AgentRun::bind_tools() {
  const std::vector<std::size_t>& refs = state_->created().unbound;
  std::vector<Bound> found(refs.size());
  std::size_t left = refs.size();
  {
    TaskGroup asking(around_.home.executor(), on_bug());
    WakeupAt over(around_.home.executor(), pausing_);
    bool is_late = false;
    TimerGuard timer(around_.timers, around_.timers.now() + bind_time(), [this, &is_late] {
      is_late = true;
      pausing_->notify();
    });
    for (std::size_t i = 0; i < refs.size(); ++i) {
      asking.spawn("run.bind", bind_ref(refs[i], &found[i], &left));
    }
    while (left > 0 && !is_late && !has_news()) co_await over.wait();
    // The tasks write to `found`, so they must end before it is read or destroyed.
    co_await asking.stop(CancelReason::deadline);
    if (has_news()) co_return false;
  }
  std::vector<ToolDecl> tools;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const ToolRef& ref = state_->created().spec.tools->refs[refs[i]];
    if (found[i].tools.empty() && is_required(ref)) {
      co_await finish(without_tools(found[i].why_not));
      co_return false;
    }
    if (found[i].tools.empty()) found[i].tools = stubs_of(ref, kUnreachable);
    for (ToolDecl& tool : found[i].tools) {
      tool.origin.ref = refs[i];
      tools.push_back(std::move(tool));
    }
  }
  // Names are unique over all tools of the run, including those that were bound when it was
  // created.
  make_unique(tools, *state_->created().tools);
  ToolsEntry entry{.tools = share_decls(std::move(tools))};
  std::string text = bindings_of(*entry.tools, BoundTools::all);
  if (text.size() >= kToolsBesideBytesMin) {
    entry.hash = crypto::to_hex(crypto::sha256(text));
    std::vector<RunBlob> blobs(1);
    blobs.front() = {.hash = entry.hash,
                     .bytes = std::make_shared<const std::string>(std::move(text))};
    log_->keep_blobs(std::move(blobs));
  }
  // Committed together with the first turn: after a restart in between, the servers are only asked
  // again.
  record(std::move(entry), RunLog::kEchoWait);
  co_return true;
}

}  // namespace errand::agent
