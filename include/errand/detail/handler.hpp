#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <errand/content.hpp>
#include <errand/schema.hpp>
#include <errand/tool_context.hpp>

namespace errand::ERRAND_V1 {

class Tool;
struct ToolOptions;

}  // namespace errand::ERRAND_V1

namespace errand::ERRAND_V1::detail {

struct ToolState;

// strict: the arguments must fit the schema. lenient: they are coerced, and unknown members are
// left out.
enum class ArgumentRules : unsigned char { strict, lenient };

// Hears what a handler has thrown, or its result. Called once, from any thread.
using HandlerDone = std::function<void(std::exception_ptr thrown, ToolResult result)>;

// A handler whose types are forgotten. Both calls throw BadArguments if the arguments cannot be
// read.
class Handler {
 public:
  virtual ~Handler();
  virtual ToolResult call(ToolContext& context, const Json& arguments) const = 0;
  // The same for handlers that need no thread while they wait. `done` is called, perhaps before
  // this returns, unless this throws.
  virtual void start(const std::shared_ptr<ToolContext>& context, const Json& arguments,
                     HandlerDone done) const;
};

struct BadArguments {
  Error error;
};

// ---- Signatures ---------------------------------------------------------------------------------

template <class... P>
struct Parameters {};

template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Returned = R;
  using Taken = Parameters<P...>;
};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};

template <class F>
concept HasOneCall = requires { &F::operator(); };

template <class F>
consteval auto signature_of() {
  if constexpr (HasOneCall<F>) {
    return Signature<decltype(&F::operator())>();
  } else {
    static_assert(std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>,
                  "errand: a handler is a function, a lambda or an object with one operator(); "
                  "write the type of its parameter instead of auto.");
    return Signature<F>();
  }
}

template <class P>
inline constexpr bool kIsContext = std::is_same_v<P, ToolContext&>;

// Tells where the arguments and the context are. `Arguments` is void for a handler without any.
template <class P>
struct Shapes;
template <>
struct Shapes<Parameters<>> {
  using Arguments = void;
  template <class F>
  static decltype(auto) call(F& f, ToolContext&) {
    return f();
  }
};
template <class P>
struct Shapes<Parameters<P>> {
  using Arguments = std::conditional_t<kIsContext<P>, void, P>;
  template <class F, class... A>
  static decltype(auto) call(F& f, ToolContext& context, A&&... arguments) {
    if constexpr (kIsContext<P>) {
      return f(context);
    } else {
      return f(std::forward<A>(arguments)...);
    }
  }
};
template <class P, class Q>
struct Shapes<Parameters<P, Q>> {
  static_assert(kIsContext<P> != kIsContext<Q>,
                "errand: a handler takes one struct with all arguments, whose members have names, "
                "and may take a ToolContext& beside it.");
  using Arguments = std::conditional_t<kIsContext<P>, Q, P>;
  template <class F, class... A>
  static decltype(auto) call(F& f, ToolContext& context, A&&... arguments) {
    if constexpr (kIsContext<P>) {
      return f(context, std::forward<A>(arguments)...);
    } else {
      return f(std::forward<A>(arguments)..., context);
    }
  }
};
template <class P, class Q, class R, class... More>
struct Shapes<Parameters<P, Q, R, More...>> : Shapes<Parameters<P, Q>> {
  static_assert(kNever<P>,
                "errand: a handler takes one struct with all arguments, whose members have names, "
                "and may take a ToolContext& beside it.");
};

// ---- Arguments ----------------------------------------------------------------------------------

struct NoArguments {};

template <class P>
consteval bool check_arguments() {
  using T = std::remove_cvref_t<P>;
  static_assert(!std::is_lvalue_reference_v<P> || std::is_const_v<std::remove_reference_t<P>>,
                "errand: a handler takes its arguments by value or by const reference.");
  static_assert(std::is_base_of_v<StructMark, Type<T>> || Map<T> || std::is_same_v<T, Json> ||
                    std::is_same_v<T, JsonObject>,
                "errand: the arguments of a tool have names; put them in a struct.");
  return true;
}

// {"type": "object"} for handlers that take any JSON.
Json any_object_schema();

void read_arguments(const TypeOps& ops, const Json& json, void* out);

// ---- Results ------------------------------------------------------------------------------------

template <class T>
concept IsContent = std::is_same_v<T, TextContent> || std::is_same_v<T, JsonContent> ||
                    std::is_same_v<T, ImageContent> || std::is_same_v<T, AudioContent> ||
                    std::is_same_v<T, FileContent> || std::is_same_v<T, LinkContent> ||
                    std::is_same_v<T, ResourceContent> || std::is_same_v<T, EmptyContent> ||
                    std::is_same_v<T, Content>;
template <class T>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<Result<T>> = true;

// Results that are a JSON object, and so have structured content and an output schema.
template <class T>
concept IsObjectResult =
    std::is_class_v<T> && !std::is_same_v<T, ToolResult> && !IsContent<T> && !kIsResult<T> &&
    !std::is_convertible_v<T, std::string_view> && !std::is_same_v<T, Json> &&
    (std::is_base_of_v<StructMark, Type<T>> || Map<T>);

// What a handler may return before its result is there, such as a std::future.
template <class T>
concept IsFuture = std::is_class_v<T> && requires(T& future) {
  future.wait();
  future.get();
};

ToolResult empty_result();
ToolResult text_result(std::string_view text);
ToolResult content_result(Content content);
// Content, where the value is a block or a list of blocks.
ToolResult json_result(Json value);
ToolResult value_result(Json value);
ToolResult object_result(Json value);

template <class T>
ToolResult to_result(T&& value) {
  using R = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<R, ToolResult>) {
    return std::forward<T>(value);
  } else if constexpr (IsContent<R>) {
    return content_result(std::forward<T>(value));
  } else if constexpr (std::is_same_v<R, std::vector<Content>>) {
    ToolResult out;
    out.content = std::forward<T>(value);
    return out;
  } else if constexpr (kIsResult<R>) {
    if (!value) return ToolResult::failed(value.error().describe());
    return to_result(*std::forward<T>(value));
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return text_result(value);
  } else if constexpr (std::is_same_v<R, Json>) {
    return json_result(std::forward<T>(value));
  } else if constexpr (IsObjectResult<R>) {
    return object_result(Type<R>::write(value));
  } else {
    return value_result(Type<R>::write(value));
  }
}

template <class R>
struct Unwrapped {
  using Value = std::remove_cvref_t<R>;
};
template <class R>
struct Unwrapped<Result<R>> {
  using Value = R;
};
template <IsFuture R>
struct Unwrapped<R> : Unwrapped<std::remove_cvref_t<decltype(std::declval<R&>().get())>> {};

template <class R>
std::shared_ptr<const CheckedSchema> output_schema_for() {
  using T = typename Unwrapped<std::remove_cvref_t<R>>::Value;
  if constexpr (IsObjectResult<T>) {
    return std::make_shared<const CheckedSchema>(kOps<T>);
  } else {
    return nullptr;
  }
}

// The schema of a handler's parameter; void: it has none.
template <class P>
std::shared_ptr<const CheckedSchema> input_schema_for() {
  if constexpr (std::is_void_v<P>) {
    return std::make_shared<const CheckedSchema>(kOps<NoArguments>);
  } else {
    static_assert(check_arguments<P>());
    using T = std::remove_cvref_t<P>;
    if constexpr (std::is_same_v<T, Json>) {
      return std::make_shared<const CheckedSchema>(any_object_schema());
    } else {
      return std::make_shared<const CheckedSchema>(kOps<T>);
    }
  }
}

// ---- Handlers -----------------------------------------------------------------------------------

template <class F>
class TypedHandler final : public Handler {
  using S = decltype(signature_of<F>());
  using Call = Shapes<typename S::Taken>;

 public:
  using Parameter = typename Call::Arguments;
  using Returned = typename S::Returned;

  explicit TypedHandler(F f) : f_(std::move(f)) {}

  ToolResult call(ToolContext& context, const Json& arguments) const override {
    if constexpr (std::is_void_v<Parameter>) {
      static_cast<void>(arguments);
      return give(context);
    } else {
      std::remove_cvref_t<Parameter> value{};
      read_arguments(kOps<std::remove_cvref_t<Parameter>>, arguments, &value);
      return give(context, std::move(value));
    }
  }

 private:
  template <class... A>
  ToolResult give(ToolContext& context, A&&... arguments) const {
    if constexpr (std::is_void_v<Returned>) {
      Call::call(f_, context, std::forward<A>(arguments)...);
      return empty_result();
    } else if constexpr (IsFuture<std::remove_cvref_t<Returned>>) {
      auto future = Call::call(f_, context, std::forward<A>(arguments)...);
      return wait_for(context, future);
    } else {
      return to_result(Call::call(f_, context, std::forward<A>(arguments)...));
    }
  }

  // The arguments and the context outlive the future's work: this thread waits for it.
  template <class Future>
  static ToolResult wait_for(const ToolContext& context, Future& future) {
    {
      auto waiting = context.wait_elsewhere();
      future.wait();
    }
    if constexpr (std::is_void_v<decltype(future.get())>) {
      future.get();
      return empty_result();
    } else {
      return to_result(future.get());
    }
  }

  mutable F f_;
};

// A member function and its object, with the member function's own parameters.
template <class Method, class Target, class P>
struct BoundMethod;
template <class Method, class Target, class... P>
struct BoundMethod<Method, Target, Parameters<P...>> {
  typename Signature<Method>::Returned operator()(P... arguments) const {
    return ((*target).*method)(std::forward<P>(arguments)...);
  }
  Method method;
  Target target;
};

template <class T>
inline constexpr bool kIsSharedPointer = false;
template <class T>
inline constexpr bool kIsSharedPointer<std::shared_ptr<T>> = true;

template <class Method, class Object>
auto bind_method(Method method, Object&& object) {
  using T = std::remove_cvref_t<Object>;
  using Taken = typename Signature<Method>::Taken;
  if constexpr (std::is_pointer_v<T> || kIsSharedPointer<T>) {
    return BoundMethod<Method, T, Taken>{method, std::forward<Object>(object)};
  } else {
    static_assert(std::is_lvalue_reference_v<Object>,
                  "errand: the tool would outlive this object; keep the object in a variable or in "
                  "a std::shared_ptr.");
    return BoundMethod<Method, std::remove_reference_t<Object>*, Taken>{method, &object};
  }
}

struct ToolParts {
  std::string name;
  std::string description;
  std::optional<Json> written_schema;  // by hand
  std::shared_ptr<const CheckedSchema> input;
  std::shared_ptr<const CheckedSchema> output;
  std::shared_ptr<const Handler> handler;
  const ToolOptions& options;
};
Tool make_tool(ToolParts parts);

template <class F>
ToolParts tool_parts(std::string name, std::string description, F f, std::optional<Json> schema,
                     const ToolOptions& options) {
  using H = TypedHandler<F>;
  ToolParts parts{std::move(name),
                  std::move(description),
                  std::move(schema),
                  nullptr,
                  output_schema_for<typename H::Returned>(),
                  nullptr,
                  options};
  if (!parts.written_schema) parts.input = input_schema_for<typename H::Parameter>();
  parts.handler = std::make_shared<const H>(std::move(f));
  return parts;
}

}  // namespace errand::ERRAND_V1::detail
