// The process dies before and after every write and at every effect; a new one goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/flows/test_world.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "run/question_id.hpp"

namespace errand::engine::testing::crash_test {
namespace {

struct Flow {
  const char* name;
  std::string_view script;
  std::vector<ToolRef> tools;
  Client client{};
  std::string_view ends_with = "result";
  void (*shape)(Spec&) = [](Spec&) {};  // what else is asked for
  bool refuses_schema = false;          // the vendor will not have it
  std::vector<FilePart> attachments{};
  std::set<std::string> shown_files{};  // with the last question to the model, each once
};

constexpr std::string_view kTwoLooks = R"({"turns":[
  {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}]},{"text":["done"]}]})";
constexpr std::string_view kPacedLooks = R"({"turns":[
  {"deltaDelayMs":10,"text":["x","y"],"toolCalls":[{"name":"look"},{"name":"look"}]},
  {"deltaDelayMs":10,"text":["done"]}]})";

// Answers that do not fit, asked for once more: put right, or wrong again.
std::vector<Flow> repair_flows() {
  auto asks_for_city = [](Spec& spec) { spec.output_schema = city_schema(); };
  return {
      {"an answer that is put right",
       R"({"turns":[{"deltaDelayMs":10,"text":["{\"city\"",":7}"]},
                    {"deltaDelayMs":10,"text":["{\"city\":","\"Oslo\"}"]}]})",
       {},
       {},
       "result",
       asks_for_city},
      {"an answer after calls that is wrong twice",
       R"({"turns":[{"toolCalls":[{"name":"look"}]},{"text":["Oslo"]},{"text":["Oslo!"]}]})",
       {client_tool("look")},
       {},
       "error",
       asks_for_city},
      {"a repair whose stream breaks",
       R"({"turns":[{"text":["Oslo"]},
                    {"deltaDelayMs":10,"text":["{\"city\":","\"Oslo\"}"],"cutAfter":1}]})",
       {},
       {},
       "error",
       asks_for_city},
      {"a repair that calls a tool",
       R"({"turns":[{"text":["Oslo"]},
                    {"deltaDelayMs":10,"text":["Let me ","look."],
                     "toolCalls":[{"name":"look"}]}]})",
       {client_tool("look")},
       {},
       "error",
       asks_for_city},
      {"a schema that is told in words, and an answer that is put right",
       R"({"turns":[{"deltaDelayMs":10,"text":["Os","lo"]},
                    {"deltaDelayMs":10,"text":["{\"city\":","\"Oslo\"}"]}]})",
       {},
       {},
       "result",
       asks_for_city,
       true},
  };
}

std::vector<Flow> plain_flows() {
  return {
      {"text only", R"({"turns":[{"text":["a","b","c"]}]})", {}},
      {"paced text", R"({"turns":[{"deltaDelayMs":10,"text":["a","b","c"]}]})", {}},
      {"a stream that always breaks",
       R"({"turns":[{"deltaDelayMs":10,"text":["a","b","c"],"cutAfter":2}]})",
       {},
       {},
       "error"},
      {"two parallel client calls", kTwoLooks, {client_tool("look")}},
      {"read-only client calls, paced", kPacedLooks, {client_tool("look", true)}},
      {"frozen turn",
       R"({"turns":[
         {"deltaDelayMs":10,"text":["x"],"cutAfter":3,
          "toolCalls":[{"name":"look"},{"name":"look"},{"name":"look"}]},
         {"toolCalls":[{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look")}},
      {"calls that repeat themselves until tools are switched off",
       R"({"turns":[
         {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
         {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
         {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look")}},
      {"calls past the budget of their tool",
       R"({"turns":[
         {"toolCalls":[{"name":"recall"},{"name":"recall"},{"name":"recall"},{"name":"recall"},
                       {"name":"recall"}]},
         {"text":["done"]}]})",
       {client_tool("recall")}},
      {"tools of this process",
       R"({"turns":[
         {"toolCalls":[{"name":"idempotent"},{"name":"careless"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look"), HostTool{"careless"}, HostTool{"idempotent"}}},
      {"tools of this process in a turn that breaks",
       R"({"turns":[
         {"deltaDelayMs":10,"cutAfter":2,
          "toolCalls":[{"name":"idempotent"},{"name":"careless"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look"), HostTool{"careless"}, HostTool{"idempotent"}}},
      {"a tool of this process that notes what it does",
       R"({"turns":[
         {"deltaDelayMs":10,"toolCalls":[{"name":"noting"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look"), HostTool{"noting"}}},
      {"claimed calls", kPacedLooks, {client_tool("look")}, {.claims = true}},
      {"nobody answers", kTwoLooks, {client_tool("look")}, {.answers = false}},
      {"cancelled while it streams",
       R"({"turns":[{"deltaDelayMs":10,"text":["a","b","c"]}]})",
       {},
       {.cancels_after = 1},
       "cancelled"},
      {"cancelled while calls wait",
       kPacedLooks,
       {client_tool("look")},
       {.answers = false, .cancels_after = 4},
       "cancelled"},
      {"cancelled and answered",
       kPacedLooks,
       {client_tool("look")},
       {.cancels_after = 4},
       "cancelled"},
  };
}

// Calls whose servers ask the client and the model.
std::vector<Flow> asking_flows() {
  return {
      {"a tool of this process that asks",
       R"({"turns":[
         {"deltaDelayMs":10,"text":["x","y"],"toolCalls":[{"name":"asking"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look"), HostTool{"asking"}}},
      {"a tool of this process that asks and must not be called twice",
       R"({"turns":[{"toolCalls":[{"name":"careless_asking"}]},{"text":["done"]}]})",
       {HostTool{"careless_asking"}}},
      {"a tool of this process that asks in vain",
       R"({"turns":[{"toolCalls":[{"name":"asking"}]},{"text":["done"]}]})",
       {HostTool{"asking"}},
       {.answers = false}},
      {"cancelled while a tool of this process asks",
       R"({"turns":[{"toolCalls":[{"name":"asking"}]},{"text":["done"]}]})",
       {HostTool{"asking"}},
       {.answers = false, .cancels_after = 3},
       "cancelled"},
  };
}

// Calls that this process makes, with everything that their outcomes may be.
std::vector<Flow> host_flows() {
  return {
      {.name = "a tool of this process that reports, and gives back a file",
       .script = R"({"turns":[
         {"deltaDelayMs":10,"text":["x"],"toolCalls":[{"name":"showing"},{"name":"look"}]},
         {"deltaDelayMs":10,"text":["done"]}]})",
       .tools = {client_tool("look"), HostTool{"showing"}},
       .shown_files = {"shown.txt: bytes"}},
      {.name = "a tool of this process that ends the run",
       .script = R"({"turns":[{"toolCalls":[{"name":"fatal"},{"name":"look"}]},{"text":["no"]}]})",
       .tools = {client_tool("look"), HostTool{"fatal"}}},
      {.name = "a tool of this process that overruns its time",
       .script = R"({"turns":[{"toolCalls":[{"name":"slow"},{"name":"look"}]},{"text":["done"]}]})",
       .tools = {client_tool("look"), HostTool{"slow"}}},
      {.name = "cancelled while a tool of this process runs",
       .script =
           R"({"turns":[{"toolCalls":[{"name":"slow"},{"name":"careless"}]},{"text":["no"]}]})",
       .tools = {HostTool{"slow"}, HostTool{"careless"}},
       .client = {.cancels_after = 1},
       .ends_with = "cancelled"},
  };
}

// Calls that repeat themselves, of a tool that may be called twice, and an answer to put right.
Flow guarded_flow() {
  return {"loop, budget and repair together",
          R"({"turns":[
            {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"look"}]},
            {"toolCalls":[{"name":"look"},{"name":"peek"}]},
            {"toolCalls":[{"name":"peek"}]},{"toolCalls":[{"name":"peek"}]},
            {"toolCalls":[{"name":"peek"}]},{"toolCalls":[{"name":"peek"}]},
            {"text":["Oslo"]},{"text":["{\"city\":\"Oslo\"}"]}]})",
          {client_tool("look"), client_tool("peek")},
          {},
          "result",
          [](Spec& spec) {
            spec.output_schema = city_schema();
            spec.tool_budgets = ToolBudgets{{"look", 2}};
            spec.loop_detection =
                LoopDetection{.consecutive_threshold = 3, .hard_cutoff_threshold = 4};
          }};
}

std::vector<Flow> flows_with_files() {
  return {
      {.name = "an attachment, and files in answers",
       .script = kPacedLooks,
       .tools = {client_tool("look")},
       .client = {.files = {sent_file("b.txt", "bb"), sent_file("c.txt", "aa")}},
       .attachments = {sent_file("a.txt", "aa")},
       .shown_files = {"a.txt: aa", "b.txt: bb", "c.txt: aa"}},
      {.name = "an attachment alone",
       .script = R"({"turns":[{"deltaDelayMs":10,"text":["a"],"cutAfter":1}]})",
       .tools = {},
       .ends_with = "error",
       .attachments = {sent_file("a.txt", "aa")},
       .shown_files = {"a.txt: aa"}},
  };
}

std::vector<Flow> flows() {
  std::vector<Flow> all = plain_flows();
  for (Flow& flow : asking_flows()) all.push_back(std::move(flow));
  for (Flow& flow : host_flows()) all.push_back(std::move(flow));
  for (Flow& flow : repair_flows()) all.push_back(std::move(flow));
  all.push_back(guarded_flow());
  for (Flow& flow : flows_with_files()) all.push_back(std::move(flow));
  return all;
}

// What must not depend on where a process died: what the guards said, and how the run ended. How
// often the model was asked, and whether its last turn was cut off, does depend on it.
std::vector<std::string> story_of(const std::vector<std::string>& log) {
  std::vector<std::string> story;
  for (const std::string& line : log) {
    json::Object event = json::parse(line)->as_object();
    std::string type = type_of_line(line);
    bool is_end = type == "result" || type == "error" || type == "cancelled";
    if (!is_end && type != "loop_detected" && type != "tool_budget_exceeded") continue;
    for (const char* key : {"seq", "turns", "tokens", "finishReason"}) event.erase(key);
    story.push_back(json::write(json::Value(event)));
  }
  return story;
}

// Every promise that must hold however the run got to its end.
void check_log(const Flow& flow, const Disk& disk, const Client& client,
               const std::vector<std::string>& log) {
  EXPECT_EQ(client.seen, log) << "what clients saw, joined, is the log";
  int ends = 0;
  std::int64_t turns = 0;
  std::map<std::string, int> offered;  // by how many assistant messages a call is listed
  std::map<std::string, std::string> answers;
  for (std::size_t i = 0; i < log.size(); ++i) {
    std::string type = type_of_line(log[i]);
    EXPECT_EQ(parse_event(log[i])->seq, static_cast<EventSeq>(i + 1))
        << "seq has neither gap nor repeat";
    ends += type == "result" || type == "error" || type == "cancelled";
    json::Value event = *json::parse(log[i]);
    bool is_question = asking_call(json::text_at(event.if_object(), "toolUseId")).has_value();
    if (type == "local_tool_call" && !is_question) {
      offered[std::string(event.at("toolUseId").as_string())] += 0;
    }
    if (type == "assistant_message") {
      EXPECT_EQ(event.at("turn").as_int64(), turns++) << "one message a turn, in order";
      const json::Value* calls = event.as_object().if_contains("toolCalls");
      for (const json::Value& call : calls ? calls->as_array() : json::Array()) {
        ++offered[std::string(call.at("id").as_string())];
      }
    }
    if (type != "local_tool_result_in") continue;
    std::string id(event.at("toolUseId").as_string());
    EXPECT_EQ(event.as_object().contains("files"), !client.files.empty());
    EXPECT_TRUE(answers.emplace(id, std::string(event.at("result").as_string())).second)
        << "an answer is taken once";
  }
  EXPECT_EQ(ends, 1) << "a run ends once";
  for (const auto& [id, messages] : offered) EXPECT_EQ(messages, 1) << "a call belongs to one turn";
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(type_of_line(log.back()), flow.ends_with);
  for (const std::string& id : client.acknowledged) {
    EXPECT_EQ(answers[id], "answer to " + id) << "an accepted answer is never lost";
  }
  EXPECT_LE(disk.careless.begun, 1) << "an effect that cannot be repeated is not repeated";
  EXPECT_LE(disk.idempotent.keys.size(), 1U) << "one key on every attempt";
  EXPECT_LE(disk.noting.begun, 1) << "a noted effect is not repeated";
  for (const std::string& line : log) {
    bool is_noting = line.find(R"("name":"noting")") != std::string::npos;
    bool is_lost = line.find("may or may not") != std::string::npos;
    EXPECT_FALSE(is_noting && is_lost) << "a call with notes goes on";
  }
}

// Lives a flow through processes that die at the given steps, and a last one that does not.
// Whether every process but the last one died as planned. The story goes to `story`.
bool live_through(const Flow& flow, std::vector<int> deaths,
                  std::vector<std::string>* story = nullptr) {
  Disk disk;
  Client client = flow.client;
  client.spec = flow.attachments.empty() ? spec_with_tools(flow.tools)
                                         : spec_with_files(flow.tools, flow.attachments);
  flow.shape(client.spec);
  deaths.push_back(0);
  std::size_t died = 0;
  for (int at : deaths) {
    World world(disk, flow.script, {.at = at});
    world.mechanism = OutputMechanism::native;
    world.refuses = [&](const llm::TurnRequest& request) {
      return flow.refuses_schema && request.output_schema;
    };
    world.tasks.spawn("recover", world.engine.recover());
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_EQ(world.bugs, std::vector<std::string>());
    if (client.done && world.asked > 0) {
      std::set<std::string> shown(world.shown_files.begin(), world.shown_files.end());
      EXPECT_EQ(shown, flow.shown_files) << "files are neither lost nor empty";
    }
    died += world.crash.is_dead();
    EXPECT_EQ(findings_of(disk), std::vector<std::string>()) << "what the process left";
  }
  EXPECT_TRUE(client.done);
  if (client.run) check_log(flow, disk, client, log_of(disk, *client.run));
  if (client.run && story) *story = story_of(log_of(disk, *client.run));
  return died + 1 == deaths.size();
}

TEST(Crash, EveryStepOfEveryFlowCanBeTheLastOne) {
  int points = 0;
  for (const Flow& flow : flows()) {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(cat(flow.name, ", dies at step ", at));
      if (!live_through(flow, {at})) break;
      ++points;
    }
  }
  RecordProperty("points", points);
  EXPECT_GT(points, 200);
}

// From one step to the next at which a recovery dies: a tenth of the steps are tried, and all of
// them if ERRAND_TORTURE is 10 or more.
int recovery_stride() {
  const char* times = std::getenv("ERRAND_TORTURE");
  return 10 / std::clamp(times ? std::atoi(times) : 1, 1, 10);
}

// Two deaths, the second one during the recovery from the first. Where it starts to count moves
// with the first, so that every step of a recovery has its turn.
TEST(Crash, RecoveryItselfCanDieAtEveryStep) {
  const int stride = recovery_stride();
  int points = 0;
  for (const Flow& flow : flows()) {
    for (int first = 1; live_through(flow, {first}); ++first) {
      for (int second = 1 + first % stride;; second += stride) {
        SCOPED_TRACE(cat(flow.name, ", dies at steps ", first, " and ", second));
        if (!live_through(flow, {first, second})) break;
        ++points;
      }
    }
  }
  RecordProperty("points", points);
  EXPECT_GT(points, 4000 / stride);
}

TEST(Crash, GuardedFlowMeetsEveryGuard) {
  std::vector<std::string> story;
  live_through(guarded_flow(), {}, &story);
  std::vector<std::string> types;
  for (const std::string& event : story) {
    types.emplace_back(json::parse(event)->at("type").as_string());
  }
  EXPECT_EQ(types, (std::vector<std::string>{"tool_budget_exceeded", "loop_detected",
                                             "loop_detected", "result"}));
}

// Repairs and guards are decided by the journal alone: no death changes what they decide.
TEST(Crash, RepairsAndGuardsDecideAlikeWhereverTheProcessDies) {
  std::vector<Flow> decided = repair_flows();
  decided.push_back(guarded_flow());
  for (const Flow& flow : decided) {
    std::vector<std::string> undisturbed;
    live_through(flow, {}, &undisturbed);
    for (int at = 1;; ++at) {
      SCOPED_TRACE(cat(flow.name, ", dies at step ", at));
      std::vector<std::string> story;
      bool died = live_through(flow, {at}, &story);
      EXPECT_EQ(story, undisturbed);
      if (!died) break;
    }
  }
}

TEST(Crash, RunThatTakesTheProcessDownThreeTimesIsGivenUp) {
  Disk disk;
  Client client{.spec = spec_with_tools({})};
  constexpr std::string_view kSlow = R"({"turns":[{"delayMs":1000,"text":["never"]}]})";
  for (int i = 0; i < 4; ++i) {
    World world(disk, kSlow);
    world.tasks.spawn("recover", world.engine.recover());
    world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  World world(disk, kSlow);
  world.tasks.spawn("recover", world.engine.recover());
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.done; });
  ASSERT_TRUE(client.done);
  EXPECT_NE(client.seen.back().find("the server was killed 3 times"), std::string::npos);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

}  // namespace
}  // namespace errand::engine::testing::crash_test
