#include "tool/safe_invoke.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <utility>

namespace errand {

Task<ToolOutcome> invoke_safely(ToolPtr tool, ToolCall call, ToolContext context, Log* log) {
  std::string what;
  std::exception_ptr aborted;
  const std::string run = call.run.empty() ? "none" : call.run.str();
  const std::string name = tool->decl().name;
  CallSecrets* const secrets = context.secrets;
  try {
    ToolOutcome outcome = co_await tool->invoke(std::move(call), context);
    secrets->blot_out(outcome);
    co_return outcome;
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) aborted = std::current_exception();
    what = error.what();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an exception of an unknown type";
  }
  auto cancellation = co_await asio::this_coro::cancellation_state;
  const bool is_cancelled = cancellation.cancelled() != asio::cancellation_type::none;
  if (aborted && is_cancelled) std::rethrow_exception(aborted);
  what = secrets->blot_out(std::move(what));
  log->error("a tool threw an exception", {{"run", run}, {"tool", name}, {"what", what}});
  co_return failed_outcome(
      "The tool failed because of an internal error. It may or may not have taken effect.");
}

}  // namespace errand
