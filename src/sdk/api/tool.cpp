#include <errand/tool.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "base/text.hpp"
#include "sdk/api/coerce.hpp"
#include "sdk/api/tool_state.hpp"

namespace errand::v1 {

FatalToolError::~FatalToolError() = default;

const std::string& Tool::name() const {
  return state_->name;
}
const std::string& Tool::title() const {
  return state_->options.title.empty() ? state_->name : state_->options.title;
}
const std::string& Tool::description() const {
  return state_->description;
}
const ToolOptions& Tool::options() const {
  return state_->options;
}
const Json& Tool::input_schema() const {
  return state_->input ? state_->input->json() : *state_->written_input;
}
const Json* Tool::output_schema() const {
  if (state_->output) return &state_->output->json();
  return state_->written_output ? &*state_->written_output : nullptr;
}

ToolResult Tool::call(ToolContext& context, const Json& arguments) const {
  return call(context, arguments, detail::ArgumentRules::strict);
}

ToolResult Tool::call(const Json& arguments) const {
  ToolContext context;
  return call(context, arguments);
}

namespace {

ToolResult bad_arguments(const std::string& name, std::string_view errors) {
  return ToolResult::failed(cat("The arguments of ", name,
                                " do not fit its schema. Correct them and call again.\n", errors));
}

// Whether the text of an exception was written for users of the tool. Texts of the standard
// library's own exceptions are about the insides of the program: "vector::_M_range_check: __n
// (which is 5)", or the path of a file. A plain runtime_error is what programs throw that have
// something to say.
bool is_for_callers(const std::exception& error) {
  if (typeid(error) == typeid(std::runtime_error)) return true;
  if (dynamic_cast<const std::system_error*>(&error)) return false;
  const std::string_view type = typeid(error).name();  // in the ABI of g++ and clang
  constexpr std::string_view kLibraries[] = {"St", "NSt", "N9__gnu_cxx", "N5boost"};
  return std::ranges::none_of(kLibraries,
                              [type](std::string_view one) { return type.starts_with(one); });
}

// An exception of a handler as a result.
ToolResult result_of(const std::exception_ptr& thrown, const std::string& tool,
                     ToolContext& context) {
  constexpr std::string_view kNoDetails = "The tool failed for an unknown reason.";
  try {
    std::rethrow_exception(thrown);
  } catch (const detail::BadArguments& bad) {
    return bad_arguments(tool, bad.error.describe());
  } catch (const FatalToolError& error) {
    return ToolResult::fatal(std::string(utf8_prefix(error.what(), Tool::kMessageBytesMax)));
  } catch (const std::bad_alloc&) {
    return ToolResult::failed("The tool ran out of memory.");
  } catch (const std::exception& error) {
    if (!is_for_callers(error)) {
      // A cancelled handler may fail with a message of its library, so the message is replaced.
      if (context.cancelled()) return ToolResult::failed("The call was cancelled.");
      context.log(LogLevel::error, cat("the tool ", tool, " failed: ", error.what()));
      return ToolResult::failed("The tool failed because of an error in its program.");
    }
    std::string_view message = utf8_prefix(error.what(), Tool::kMessageBytesMax);
    return ToolResult::failed(std::string(message.empty() ? kNoDetails : message));
  } catch (...) {
    return ToolResult::failed(std::string(kNoDetails));
  }
}

ToolResult checked(const detail::ToolState& state, ToolResult result) {
  if (!result.ok() || !state.output) return result;
  if (!result.structured) {
    return ToolResult::failed(cat("The result of ", state.name,
                                  " has no structured content, which its schema asks for."));
  }
  std::string errors = state.output->describe_errors(*result.structured);
  if (errors.empty()) return result;
  return ToolResult::failed(
      cat("The result of ", state.name, " does not fit its schema.\n", errors));
}

}  // namespace

// Checks and completes the arguments. Returns a result if they are refused.
std::optional<ToolResult> Tool::prepare(Json& arguments, detail::ArgumentRules rules) const {
  if (!state_->input || state_->written_output) {
    return ToolResult::failed(
        cat("The schema of ", name(), " refers to definitions that it lacks."));
  }
  bool is_lenient = rules == detail::ArgumentRules::lenient;
  if (state_->options.coerce || is_lenient) arguments = state_->input->coerce(std::move(arguments));
  if (is_lenient) {
    arguments = detail::without_unknown_members(state_->input->json(), std::move(arguments));
    return std::nullopt;
  }
  std::string errors = state_->input->describe_errors(arguments);
  if (errors.empty()) return std::nullopt;
  return bad_arguments(name(), errors);
}

ToolResult Tool::call(ToolContext& context, Json arguments, detail::ArgumentRules rules) const {
  if (auto refused = prepare(arguments, rules)) return *std::move(refused);
  ToolResult result;
  try {
    result = state_->handler->call(context, arguments);
  } catch (...) {
    result = result_of(std::current_exception(), name(), context);
  }
  return rules == detail::ArgumentRules::lenient ? result : checked(*state_, std::move(result));
}

void Tool::start(const std::shared_ptr<ToolContext>& context, Json arguments,
                 detail::ArgumentRules rules, std::function<void(ToolResult)> done) const {
  if (auto refused = prepare(arguments, rules)) return done(*std::move(refused));
  auto finish = [state = state_, context, rules, done = std::move(done)](
                    const std::exception_ptr& thrown, ToolResult result) {
    if (thrown) result = result_of(thrown, state->name, *context);
    bool is_lenient = rules == detail::ArgumentRules::lenient;
    done(is_lenient ? std::move(result) : checked(*state, std::move(result)));
  };
  std::exception_ptr thrown;
  try {
    state_->handler->start(context, arguments, finish);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) finish(thrown, {});
}

void Tool::start(const std::shared_ptr<ToolContext>& context, const Json& arguments,
                 std::function<void(ToolResult)> done) const {
  start(context, arguments, detail::ArgumentRules::strict, std::move(done));
}

Tool Tool::with_definitions(const JsonObject& definitions) const {
  auto state = std::make_shared<detail::ToolState>(*state_);
  detail::add_definitions(*state, definitions);
  return Tool(std::move(state));
}

}  // namespace errand::v1
