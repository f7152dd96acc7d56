#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <errand/content.hpp>
#include <errand/detail/handler.hpp>
#include <errand/json.hpp>
#include <errand/schema.hpp>
#include <errand/tool_context.hpp>

namespace errand::sdk {
class ToolAccess;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// Thrown by a handler to end the whole run: the call cannot succeed, and trying again is no use.
class FatalToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~FatalToolError() override;
};

struct ToolOptions {
  std::string title = {};               // for people; the name if empty
  std::vector<std::string> rules = {};  // guidance that is added to the system prompt
  std::string thumbnail_url = {};
  bool read_only = false;    // changes nothing
  bool idempotent = false;   // a second call with the same arguments changes nothing more
  bool destructive = false;  // may remove or overwrite
  bool long_running = false;
  bool parallel_safe = true;  // false: waits for earlier calls, and later calls wait for it
  bool cancel_siblings_on_failure = false;
  bool coerce = false;                     // "3" for 3, JSON in a string; never with a loss
  std::chrono::milliseconds timeout{0};    // 0: the runtime's
  std::optional<Json> output_schema = {};  // of a handler that returns Json or ToolResult
};

// A function that a model may call. Cheap to copy; immutable; safe to call from any thread if its
// handler is. The handler lives as long as the last copy.
class Tool final {
 public:
  const std::string& name() const;
  const std::string& title() const;
  const std::string& description() const;
  const ToolOptions& options() const;
  const Json& input_schema() const;
  // Null if the results are not described.
  const Json* output_schema() const;

  // Checks the arguments, calls the handler, and checks the result. Never throws: wrong arguments
  // and exceptions become failed results, FatalToolError becomes a fatal one. The message of an
  // errand::Error, a plain std::runtime_error or an exception class of the program's own reaches
  // the model, cut to kMessageBytesMax. Other exceptions, such as std::out_of_range and
  // std::filesystem::filesystem_error, tell of the insides of the program: their messages go to the
  // log, and the model learns only that the tool failed.
  ToolResult call(ToolContext& context, const Json& arguments) const;
  ToolResult call(const Json& arguments) const;
  // The same without waiting for a handler of <errand/asio.hpp>, which needs no thread while it
  // waits; any other handler runs before this returns. `done` is called once, from any thread.
  void start(const std::shared_ptr<ToolContext>& context, const Json& arguments,
             std::function<void(ToolResult result)> done) const;

  static constexpr std::size_t kMessageBytesMax = 2'000;

  // A copy whose schemas may refer to "#/$defs/NAME". The schemas' own definitions win.
  Tool with_definitions(const JsonObject& definitions) const;

 private:
  friend class Toolkit;
  friend class sdk::ToolAccess;
  friend Tool detail::make_tool(detail::ToolParts parts);
  explicit Tool(std::shared_ptr<const detail::ToolState> state) : state_(std::move(state)) {}
  ToolResult call(ToolContext& context, Json arguments, detail::ArgumentRules rules) const;
  void start(const std::shared_ptr<ToolContext>& context, Json arguments,
             detail::ArgumentRules rules, std::function<void(ToolResult)> done) const;
  std::optional<ToolResult> prepare(Json& arguments, detail::ArgumentRules rules) const;

  std::shared_ptr<const detail::ToolState> state_;
};

// ---- Making tools -------------------------------------------------------------------------------
//
// A handler takes a struct with the arguments (by value or const reference), or nothing; it may
// take a ToolContext& as well, before or after them. It returns nothing, a text, a struct or any
// other type of <errand/schema.hpp>, a Content, a std::vector<Content>, a ToolResult, or a Result
// of these. A Json that looks like a content block, or a list of such blocks, becomes content.
// A handler may also return a std::future of these, or another type with wait() and get(): its
// thread waits, and what get() throws is treated as if the handler had thrown it. For a coroutine
// of Boost.Asio, which needs no thread while it waits, see async_tool in <errand/asio.hpp>.
//
// All functions throw an Error (invalid_argument) if the name is not 1 to 64 of the characters
// a-z A-Z 0-9 and _, or if a schema is wrong.

// A function, a lambda, or an object with operator().
template <class Handler>
  requires(!std::is_member_function_pointer_v<Handler>)
Tool tool(std::string name, std::string description, Handler handler, ToolOptions options = {});

// A member function. `object` is a std::shared_ptr, or a reference or pointer to an object that
// outlives the tool.
template <class Method, class Object>
  requires std::is_member_function_pointer_v<Method>
Tool tool(std::string name, std::string description, Method method, Object&& object,
          ToolOptions options = {});

// A hand-written schema. The handler takes a Json or a JsonObject.
template <class Handler>
Tool tool(std::string name, std::string description, Json input_schema, Handler handler,
          ToolOptions options = {});

// ---- Implementation -----------------------------------------------------------------------------

template <class Handler>
  requires(!std::is_member_function_pointer_v<Handler>)
Tool tool(std::string name, std::string description, Handler handler, ToolOptions options) {
  return detail::make_tool(detail::tool_parts(std::move(name), std::move(description),
                                              std::move(handler), std::nullopt, options));
}

template <class Method, class Object>
  requires std::is_member_function_pointer_v<Method>
Tool tool(std::string name, std::string description, Method method, Object&& object,
          ToolOptions options) {
  return detail::make_tool(detail::tool_parts(
      std::move(name), std::move(description),
      detail::bind_method(method, std::forward<Object>(object)), std::nullopt, options));
}

template <class Handler>
Tool tool(std::string name, std::string description, Json input_schema, Handler handler,
          ToolOptions options) {
  return detail::make_tool(
      detail::tool_parts(std::move(name), std::move(description), std::move(handler),
                         std::optional<Json>(std::move(input_schema)), options));
}

}  // namespace errand::ERRAND_V1
