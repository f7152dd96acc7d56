#include <errand/tool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace tool_test {
namespace {

using errand::Content;
using errand::Json;
using errand::JsonContent;
using errand::JsonObject;
using errand::TextContent;
using errand::Tool;
using errand::ToolContext;
using errand::ToolOutcome;
using errand::ToolResult;

struct Weather {
  std::string city;
  int days = 1;
};
ERRAND_DESCRIBE(Weather, (city, "City to look up"), (days, "Days ahead", errand::range(1, 14)))

struct Forecast {
  std::string summary;
  std::vector<int> degrees;
};

Json parse(std::string_view text) {
  return Json::parse(text).value();
}

std::string describe(const Weather& args) {
  return args.city + " " + std::to_string(args.days);
}

// ---- Handlers -----------------------------------------------------------------------------------

TEST(Tool, HasWhatItWasMadeOf) {
  Tool tool = errand::tool("get_weather", "Weather of a city.", describe,
                           {.title = "Weather",
                            .read_only = true,
                            .parallel_safe = false,
                            .timeout = std::chrono::seconds(5)});
  EXPECT_EQ(tool.name(), "get_weather");
  EXPECT_EQ(tool.title(), "Weather");
  EXPECT_EQ(tool.description(), "Weather of a city.");
  EXPECT_TRUE(tool.options().read_only);
  EXPECT_FALSE(tool.options().parallel_safe);
  EXPECT_EQ(tool.input_schema(), errand::schema_of<Weather>());
  EXPECT_EQ(tool.output_schema(), nullptr);
  EXPECT_EQ(errand::tool("a", "b", describe).title(), "a");
}

struct Service {
  std::string greet(const Weather& args) const { return greeting + args.city; }
  std::string count(ToolContext&) { return std::to_string(++calls); }

  std::string greeting = "hello ";
  int calls = 0;
};

struct Functor {
  std::string operator()(const Weather& args) const { return "f " + args.city; }
};

TEST(Tool, TakesFunctionsLambdasObjectsAndMembers) {
  Json args = parse(R"({"city":"Lagos","days":2})");
  int extra = 5;
  Service service;
  auto shared = std::make_shared<Service>();
  EXPECT_EQ(errand::tool("t", "", describe).call(args).text(), "Lagos 2");
  EXPECT_EQ(errand::tool("t", "", &describe).call(args).text(), "Lagos 2");
  EXPECT_EQ(
      errand::tool("t", "", [extra](Weather one) { return one.days + extra; }).call(args).text(),
      "7");
  EXPECT_EQ(
      errand::tool("t", "", [count = 0](Weather&&) mutable { return ++count; }).call(args).text(),
      "1");
  EXPECT_EQ(errand::tool("t", "", Functor{}).call(args).text(), "f Lagos");
  EXPECT_EQ(errand::tool("t", "", &Service::greet, service).call(args).text(), "hello Lagos");
  EXPECT_EQ(errand::tool("t", "", &Service::greet, &service).call(args).text(), "hello Lagos");
  EXPECT_EQ(errand::tool("t", "", &Service::greet, std::as_const(service)).call(args).text(),
            "hello Lagos");
  EXPECT_EQ(errand::tool("t", "", &Service::greet, shared).call(args).text(), "hello Lagos");
  EXPECT_EQ(errand::tool("t", "", &Service::count, std::move(shared)).call(Json::object()).text(),
            "1");
}

TEST(Tool, TakesTheContextBeforeOrAfterTheArgumentsOrAlone) {
  Json args = parse(R"({"city":"Lagos"})");
  ToolContext context({.call_id = "c1"}, nullptr);
  auto before = [](ToolContext& one, const Weather& w) { return one.call_id() + w.city; };
  auto after = [](const Weather& w, ToolContext& one) { return w.city + one.call_id(); };
  auto alone = [](ToolContext& one) { return one.call_id(); };
  auto nothing = [] { return "x"; };
  EXPECT_EQ(errand::tool("t", "", before).call(context, args).text(), "c1Lagos");
  EXPECT_EQ(errand::tool("t", "", after).call(context, args).text(), "Lagosc1");
  EXPECT_EQ(errand::tool("t", "", alone).call(context, Json::object()).text(), "c1");
  EXPECT_EQ(errand::tool("t", "", nothing).call(context, Json::object()).text(), "x");
  EXPECT_EQ(errand::tool("t", "", nothing).input_schema(),
            parse(R"({"type":"object","properties":{},"additionalProperties":false})"));
}

TEST(Tool, IsCopiedWithItsStateAndOutlivesTheOriginal) {
  auto first = std::make_unique<Tool>(
      errand::tool("t", "", [count = std::make_shared<int>(0)] { return ++*count; }));
  Tool second = *first;
  EXPECT_EQ(first->call(Json::object()).text(), "1");
  first.reset();
  EXPECT_EQ(second.call(Json::object()).text(), "2");
}

TEST(Tool, IsCalledFromManyThreadsAtOnce) {
  // A type of its own, so that the threads build its tables together.
  struct Fresh {
    std::vector<std::optional<Weather>> list;
    std::variant<int, std::string> value;
  };
  std::atomic<int> ok = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&ok] {
        Tool tool = errand::tool("t", "", [](const Fresh& args) { return args; });
        Json args = parse(R"({"list":[{"city":"x"},null],"value":"y"})");
        for (int round = 0; round < 50; ++round) ok += tool.call(args).ok() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(ok, 400);
}

TEST(Tool, HasANameThatVendorsTake) {
  const std::vector<std::string> kGood = {"a", "get_weather", "Get_Weather_2",
                                          std::string(64, 'x')};
  const std::vector<std::string> kBad = {"",      "get weather",        "a.b", "get-weather",
                                         "größe", std::string(65, 'x'), "a\n"};
  for (const std::string& name : kGood) EXPECT_EQ(errand::tool(name, "", describe).name(), name);
  for (const std::string& name : kBad) {
    EXPECT_THROW(errand::tool(name, "", describe), errand::Error) << name;
  }
}

// ---- Results ------------------------------------------------------------------------------------

template <class Handler>
ToolResult result_of(Handler handler) {
  return errand::tool("t", "", handler).call(Json::object());
}

TEST(Tool, TextsBecomeText) {
  ToolResult text{.content = {TextContent{"x"}}};
  EXPECT_EQ(result_of([] { return std::string("x"); }), text);
  EXPECT_EQ(result_of([] { return "x"; }), text);
  EXPECT_EQ(result_of([] { return std::string_view("x"); }), text);
}

TEST(Tool, NothingBecomesEmptyContent) {
  EXPECT_EQ(result_of([] {}), (ToolResult{.content = {errand::EmptyContent{}}}));
}

TEST(Tool, AStructBecomesJsonWithStructuredContentAndAnOutputSchema) {
  Tool tool = errand::tool("t", "", [](const Weather&) { return Forecast{"sun", {1, 2}}; });
  Json json = parse(R"({"summary":"sun","degrees":[1,2]})");
  EXPECT_EQ(tool.call(parse(R"({"city":"x"})")),
            (ToolResult{.content = {JsonContent{json}}, .structured = json}));
  ASSERT_TRUE(tool.output_schema());
  EXPECT_EQ(*tool.output_schema(), errand::schema_of<Forecast>());
}

TEST(Tool, OtherValuesBecomeJson) {
  EXPECT_EQ(result_of([] { return 7; }), (ToolResult{.content = {JsonContent{7}}}));
  EXPECT_EQ(result_of([] { return true; }), (ToolResult{.content = {JsonContent{true}}}));
  EXPECT_EQ(result_of([] { return std::vector<std::string>{"a"}; }),
            (ToolResult{.content = {JsonContent{parse(R"(["a"])")}}}));
  EXPECT_EQ(result_of([] { return std::optional<int>(); }),
            (ToolResult{.content = {JsonContent{nullptr}}}));
  EXPECT_EQ(result_of([] { return std::map<std::string, int>{{"a", 1}}; }),
            (ToolResult{.content = {JsonContent{parse(R"({"a":1})")}},
                        .structured = parse(R"({"a":1})")}));
}

TEST(Tool, ContentStaysAsItIs) {
  EXPECT_EQ(result_of([] { return errand::ImageContent{"x", "image/png"}; }),
            (ToolResult{.content = {errand::ImageContent{"x", "image/png"}}}));
  EXPECT_EQ(result_of([] { return Content(TextContent{"x"}); }),
            (ToolResult{.content = {TextContent{"x"}}}));
  EXPECT_EQ(result_of([] {
              return std::vector<Content>{TextContent{"a"}, errand::LinkContent{.url = "u"}};
            }),
            (ToolResult{.content = {TextContent{"a"}, errand::LinkContent{.url = "u"}}}));
  EXPECT_EQ(result_of([] { return ToolResult::failed("no"); }), ToolResult::failed("no"));
}

TEST(Tool, JsonBlocksBecomeContentAndOtherJsonStays) {
  EXPECT_EQ(result_of([] {
              return parse(R"([{"type":"text","text":"see:"},
                {"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}
              ])");
            }),
            (ToolResult{.content = {TextContent{"see:"}, errand::ImageContent{"x", "image/png"}}}));
  Json mixed = parse(R"([{"type":"text","text":"a"},{"type":"bird"}])");
  EXPECT_EQ(result_of([mixed] { return mixed; }), (ToolResult{.content = {JsonContent{mixed}}}));
  Json object = parse(R"({"a":1})");
  EXPECT_EQ(result_of([object] { return object; }),
            (ToolResult{.content = {JsonContent{object}}, .structured = object}));
}

TEST(Tool, AResultIsItsValueOrAFailure) {
  EXPECT_EQ(result_of([] { return errand::Result<std::string>("x"); }),
            (ToolResult{.content = {TextContent{"x"}}}));
  EXPECT_EQ(
      result_of([] {
        return errand::Result<int>(errand::Error(errand::ErrorCode::not_found, "no such city"));
      }),
      ToolResult::failed("no such city"));
}

// ---- Awaited results ----------------------------------------------------------------------------

TEST(Tool, AFutureIsItsValue) {
  Tool text = errand::tool("text", "", [](const Weather& args) {
    return std::async(std::launch::async, [&args] { return describe(args); });
  });
  EXPECT_EQ(text.call(parse(R"({"city":"Rome"})")),
            (ToolResult{.content = {TextContent{"Rome 1"}}}));
  EXPECT_EQ(text.output_schema(), nullptr);
  Tool structured = errand::tool("structured", "", [] {
    std::promise<Forecast> promise;
    promise.set_value({"sunny", {20}});
    return promise.get_future().share();
  });
  EXPECT_EQ(*structured.output_schema(), errand::schema_of<Forecast>());
  EXPECT_EQ(structured.call(parse("{}")).structured,
            parse(R"({"summary":"sunny","degrees":[20]})"));
  Tool nothing = errand::tool(
      "nothing", "", [](ToolContext&) { return std::async(std::launch::deferred, [] {}); });
  EXPECT_TRUE(nothing.call(parse("{}")).ok());
}

TEST(Tool, WhatAFutureThrowsIsWhatTheHandlerThrows) {
  Tool failing = errand::tool("failing", "", [] {
    return std::async(std::launch::async, []() -> int { throw std::runtime_error("no network"); });
  });
  EXPECT_EQ(failing.call(parse("{}")), ToolResult::failed("no network"));
  Tool fatal = errand::tool("fatal", "", [] {
    return std::async(std::launch::async, []() -> int { throw errand::FatalToolError("gone"); });
  });
  EXPECT_EQ(fatal.call(parse("{}")), ToolResult::fatal("gone"));
  Tool broken = errand::tool("broken", "", [] { return std::promise<int>().get_future(); });
  EXPECT_EQ(broken.call(parse("{}")).outcome, ToolOutcome::failed);
}

// ---- Failures -----------------------------------------------------------------------------------

TEST(Tool, ArgumentsThatDoNotFitComeBackWithPointers) {
  bool called = false;
  Tool tool = errand::tool("get_weather", "", [&](const Weather&) { called = true; });
  ToolResult result = tool.call(parse(R"({"days":20,"ciTy":1})"));
  EXPECT_EQ(result,
            ToolResult::failed("The arguments of get_weather do not fit its schema. Correct them "
                               "and call again.\n"
                               "missing required property \"city\"\n"
                               "/days: expected an integer from 1 to 14, got 20\n"
                               "unexpected property \"ciTy\"; known are \"city\", \"days\""));
  EXPECT_EQ(tool.call(parse("[]")).outcome, ToolOutcome::failed);
  EXPECT_FALSE(called);
}

struct Meeting {
  std::chrono::sys_seconds start;
};

TEST(Tool, WhatTheSchemaTakesAndTheTypeDoesNotComesBackToo) {
  Tool tool = errand::tool("meet", "", [](const Meeting&) {});
  EXPECT_EQ(tool.call(parse(R"({"start":"tomorrow"})")),
            ToolResult::failed("The arguments of meet do not fit its schema. Correct them and call "
                               "again.\n/start: expected a time such as \"2026-02-28T09:30:00Z\", "
                               "got \"tomorrow\""));
}

TEST(Tool, CoercesOnlyWhereItIsAskedTo) {
  auto days = [](const Weather& args) { return args.days; };
  Json args = parse(R"({"city":"x","days":"3"})");
  EXPECT_EQ(errand::tool("t", "", days, {.coerce = true}).call(args).text(), "3");
  EXPECT_EQ(errand::tool("t", "", days).call(args).outcome, ToolOutcome::failed);
  EXPECT_EQ(errand::tool("t", "", days, {.coerce = true})
                .call(parse(R"({"city":"x","days":"3.9"})"))
                .outcome,
            ToolOutcome::failed);
}

class OwnFailure final : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

TEST(Tool, ExceptionsBecomeFailuresWithoutInternals) {
  EXPECT_EQ(result_of([]() -> int { throw std::runtime_error("no such city"); }),
            ToolResult::failed("no such city"));
  EXPECT_EQ(result_of([]() -> int { throw OwnFailure("no such ship"); }),
            ToolResult::failed("no such ship"));
  EXPECT_EQ(result_of([]() -> int { throw 7; }),
            ToolResult::failed("The tool failed for an unknown reason."));
  EXPECT_EQ(result_of([]() -> int { throw std::runtime_error(""); }),
            ToolResult::failed("The tool failed for an unknown reason."));
  EXPECT_EQ(result_of([]() -> int { throw std::bad_alloc(); }),
            ToolResult::failed("The tool ran out of memory."));
  std::string cut = result_of([]() -> int {
                      throw std::runtime_error(std::string(1'999, 'x') + "é" + "yyy");
                    }).text();
  EXPECT_EQ(cut, std::string(1'999, 'x'));
}

TEST(Tool, AFatalErrorIsAFatalResult) {
  EXPECT_EQ(result_of([]() -> int { throw errand::FatalToolError("no access"); }),
            ToolResult::fatal("no access"));
}

// ---- Hand-written schemas -----------------------------------------------------------------------

TEST(Tool, AHandWrittenSchemaHasARawHandler) {
  Json schema = parse(R"({"type":"object","properties":{"n":{"type":"integer","maximum":9}}})");
  Tool tool = errand::tool("t", "", schema, [](const Json& args) { return args.at("n"); });
  EXPECT_EQ(tool.input_schema(), schema);
  EXPECT_EQ(tool.call(parse(R"({"n":3})")).text(), "3");
  EXPECT_EQ(tool.call(parse(R"({"n":10})")).outcome, ToolOutcome::failed);
  EXPECT_EQ(errand::tool("t", "", schema, [](const JsonObject& args) { return args.size(); })
                .call(parse(R"({"n":3})"))
                .text(),
            "1");
}

TEST(Tool, AWrongSchemaIsRefusedAtOnceWithAPointer) {
  try {
    errand::tool("t", "", parse(R"({"properties":{"n":{"type":"number!"}}})"), [](const Json&) {});
    FAIL();
  } catch (const errand::Error& error) {
    EXPECT_EQ(error.pointer(), "/properties/n/type");
  }
}

TEST(Tool, AResultThatDoesNotFitItsSchemaFails) {
  errand::ToolOptions options{.output_schema = parse(R"({"type":"object","required":["a"]})")};
  auto tool = [&](std::string_view json) {
    return errand::tool("t", "", [value = parse(json)] { return value; }, options);
  };
  EXPECT_TRUE(tool(R"({"a":1})").call(Json::object()).ok());
  EXPECT_EQ(tool("{}").call(Json::object()),
            ToolResult::failed("The result of t does not fit its schema.\n"
                               "missing required property \"a\""));
  EXPECT_EQ(tool("7").call(Json::object()),
            ToolResult::failed("The result of t has no structured content, which its schema asks "
                               "for."));
}

// ---- Context ------------------------------------------------------------------------------------

class RecordingHost final : public errand::ToolCallHost {
 public:
  bool cancelled() const override { return is_cancelled; }
  void progress(const errand::ToolProgress& one) override { progressed.push_back(one); }
  std::optional<std::string> secret(std::string_view name) override {
    if (name == "key") return "value";
    return {};
  }
  void log(errand::LogLevel, std::string_view message) override { logged.emplace_back(message); }

  bool is_cancelled = false;
  std::vector<errand::ToolProgress> progressed;
  std::vector<std::string> logged;
};

TEST(ToolContext, ReachesItsHost) {
  auto host = std::make_shared<RecordingHost>();
  ToolContext context({.run_id = "r", .call_id = "c"}, host);
  context.progress("half", 1, 2);
  context.log("hi");
  EXPECT_EQ(host->progressed, (std::vector<errand::ToolProgress>{{"half", 1, 2}}));
  EXPECT_EQ(host->logged, std::vector<std::string>{"hi"});
  EXPECT_EQ(context.secret("key"), "value");
  EXPECT_THROW(context.secret("other"), errand::Error);
  EXPECT_FALSE(context.cancelled());
  host->is_cancelled = true;
  EXPECT_THROW(context.throw_if_cancelled(), errand::Error);
}

TEST(ToolContext, WithoutAHostDoesNothing) {
  ToolContext context;
  context.progress("x");
  context.log("x");
  EXPECT_FALSE(context.cancelled());
  EXPECT_EQ(context.find_secret("key"), std::nullopt);
  EXPECT_EQ(context.deadline(), std::nullopt);
}

// What a handler throws that calls a library, and what its log says of it.
std::string logged_by(std::function<int()> handler) {
  auto host = std::make_shared<RecordingHost>();
  ToolContext context({.tool = "t"}, host);
  ToolResult result = errand::tool("t", "", std::move(handler)).call(context, Json::object());
  EXPECT_EQ(result, ToolResult::failed("The tool failed because of an error in its program."));
  return host->logged.empty() ? "nothing" : host->logged.front();
}

TEST(Tool, WhatLibrariesThrowIsForTheLogAlone) {
  EXPECT_EQ(logged_by([]() -> int { throw std::out_of_range("at: n (which is 5) >= 3"); }),
            "the tool t failed: at: n (which is 5) >= 3");
  EXPECT_EQ(logged_by([] { return std::stoi("x"); }), "the tool t failed: stoi");
  EXPECT_EQ(logged_by([] { return std::function<int()>()(); }),
            "the tool t failed: bad_function_call");
  EXPECT_NE(logged_by([]() -> int {
              throw std::filesystem::filesystem_error(
                  "cannot remove", "/home/ann/secret",
                  std::make_error_code(std::errc::permission_denied));
            }).find("/home/ann/secret"),
            std::string::npos);
}

}  // namespace
}  // namespace tool_test
