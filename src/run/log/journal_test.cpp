#include "run/log/journal.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::journal_test {
namespace {

std::string line_of(const JournalEntry& entry) {
  std::string out;
  append_journal_line(out, entry);
  return out;
}

// The text as it is written again after it was read, or "! message".
std::string rewritten(std::string_view text) {
  auto entries = parse_journal(text);
  if (!entries) return cat("! ", entries.error().message());
  std::string out;
  for (const JournalEntry& entry : *entries) append_journal_line(out, entry);
  return out;
}

std::string refusal(std::string_view text) {
  auto entries = parse_journal(text);
  if (entries) return "accepted";
  EXPECT_EQ(entries.error().code(), ErrorCode::internal);
  return entries.error().message();
}

ToolUseId tool_use(std::string_view text) {
  return *ToolUseId::parse(text);
}

CreatedEntry created_entry() {
  auto body =
      json::parse(R"({"name":"agent","prompt":"hi","tools":[{"kind":"local","name":"read",)"
                  R"("description":"Reads.","parameters":{"type":"object"},"readOnly":true}]})");
  CreatedEntry entry{.spec = parse_spec(*body).value(),
                     .model = {.id = "m", .provider = "p", .vendor_model_id = "v"},
                     .price = Pricing{.input_per_1m_usd = 3, .output_per_1m_usd = 15},
                     .limits = {.local_tool_timeout = milliseconds(5000),
                                .on_local_tool_timeout = OnTimeout::go_on,
                                .max_tool_turns = 4,
                                .run_time = milliseconds(90000)},
                     .at = from_millis(1'794'744'000'000),
                     .ends_by = StoreTime(milliseconds(90'500)),
                     .key = *KeyId::parse("key_1")};
  entry.tools = share_decls({offered_tools(entry.spec.tools->refs[0]).at(0).decl});
  return entry;
}

void add_host_tool(CreatedEntry& entry) {
  std::vector<ToolRef> refs = entry.spec.tools->refs;
  refs.insert(refs.begin(), HostTool{.name = "clock"});
  entry.spec.tools = share_tools(std::move(refs));
  std::vector<ToolDecl> decls = *entry.tools;
  decls.insert(decls.begin(), ToolDecl{.name = "clock",
                                       .description = "The time.",
                                       .input_schema = share_schema({{"type", "object"}}),
                                       .site = ToolSite::host,
                                       .annotations = {.idempotent = true, .parallel_safe = false},
                                       .kind = "host",
                                       .origin = {.source = "program"}});
  entry.tools = share_decls(std::move(decls));
}

constexpr std::string_view kCreatedTail =
    R"("model":{"id":"m","provider":"p","vendorModelId":"v"},)"
    R"("limits":{"localToolTimeoutMs":5000,"onLocalToolTimeout":"continue","maxToolTurns":4,)"
    R"("runMs":90000},)"
    R"("at":1794744000000,"format":3,"endsBy":90500,"key":"key_1",)"
    R"("price":{"inputPer1MUsd":3.0,"outputPer1MUsd":15.0})";

constexpr std::string_view kLocalTool =
    R"({"kind":"local","name":"read","description":"Reads.","parameters":{"type":"object"},)"
    R"("readOnly":true})";

// One of each entry as it is stored. The stored form is a contract with older versions.
struct Stored {
  JournalEntry entry;
  std::string line;
};

void add_created(std::vector<Stored>& all) {
  all.push_back(
      {created_entry(), cat(R"({"entry":"created","spec":{"name":"agent","prompt":"hi","tools":[)",
                            kLocalTool, "]},", kCreatedTail, "}\n")});
  CreatedEntry with_host = created_entry();
  add_host_tool(with_host);
  all.push_back(
      {with_host,
       cat(R"({"entry":"created","spec":{"name":"agent","prompt":"hi","tools":[)",
           R"({"kind":"host","name":"clock"},)", kLocalTool, "]},", kCreatedTail,
           R"(,"bindings":[{"name":"clock","kind":"host","ref":0,"source":{"id":"program"},)",
           R"("decl":{"name":"clock","description":"The time.",)",
           R"("inputSchema":{"type":"object"},"site":"host","annotations":{"readOnly":false,)",
           R"("idempotent":true,"parallelSafe":false,"longRunning":false}}}]})", "\n")});
  CreatedEntry with_output = created_entry();
  with_output.spec.output_schema = OutputSchema{.schema = share_schema({{"type", "object"}})};
  with_output.output_mechanism = OutputMechanism::answer_tool;
  all.push_back(
      {with_output, cat(R"({"entry":"created","spec":{"name":"agent","prompt":"hi","tools":[)",
                        kLocalTool, R"(],"outputSchema":{"schema":{"type":"object"}}},)",
                        kCreatedTail, R"(,"outputMechanism":"synthetic_tool"})", "\n")});
}

void add_calls(std::vector<Stored>& all) {
  all.push_back({ResumedEntry{.at = from_millis(7)}, "{\"entry\":\"resumed\",\"at\":7}\n"});
  all.push_back({TurnEntry{.turn = 2, .attempt = 3, .after_seq = 9'007'199'254'740'993},
                 "{\"entry\":\"turn\",\"turn\":2,\"attempt\":3,\"afterSeq\":9007199254740993}\n"});
  all.push_back(
      {TurnEntry{.turn = 3, .attempt = 2, .after_seq = 5, .retells = true},
       "{\"entry\":\"turn\",\"turn\":3,\"attempt\":2,\"afterSeq\":5,\"retells\":true}\n"});
  all.push_back({TurnEntry{.turn = 4, .after_seq = 6, .tools_off = true, .prompt = "Answer now."},
                 R"({"entry":"turn","turn":4,"attempt":1,"afterSeq":6,"toolsOff":true,)"
                 R"("prompt":"Answer now."})"
                 "\n"});
  all.push_back({TurnEntry{.turn = 5, .after_seq = 7, .repairs = true, .plain_output = true},
                 R"({"entry":"turn","turn":5,"attempt":1,"afterSeq":7,"repairs":true,)"
                 R"("plainOutput":true})"
                 "\n"});
  all.push_back({CallEntry{.id = tool_use("tu_1"),
                           .provider_id = "call_0",
                           .name = "read",
                           .arguments = "{\"path\": not json",
                           .text = "Let me\nlook",
                           .blocks = {R"({"type":"text"})", R"({"n":1.0})"}},
                 R"({"entry":"call","id":"tu_1","providerId":"call_0","name":"read",)"
                 R"("arguments":"{\"path\": not json","text":"Let me\nlook",)"
                 R"("blocks":[{"type":"text"},{"n":1.0}]})"
                 "\n"});
  all.push_back({NoteEntry{.id = tool_use("tu_1"), .note = R"({"taskId":"t-1"})"},
                 R"({"entry":"note","id":"tu_1","note":{"taskId":"t-1"}})"
                 "\n"});
  all.push_back(
      {SampledEntry{.id = tool_use("tu_1"), .usage = {.input_tokens = 7, .output_tokens = 2}},
       R"({"entry":"sampled","id":"tu_1","usage":{"inputTokens":7,"cachedTokens":0,)"
       R"("reasoningTokens":0,"outputTokens":2}})"
       "\n"});
  all.push_back(
      {AnswerEntry{
           .id = tool_use("tu_1_q1"), .asked = "ab", .ok = false, .text = "no", .timed_out = true},
       R"({"entry":"answer","id":"tu_1_q1","asked":"ab","ok":false,"text":"no","timedOut":true})"
       "\n"});
  all.push_back({OutcomeEntry{.id = tool_use("tu_1"), .ok = true, .text = "done"},
                 "{\"entry\":\"outcome\",\"id\":\"tu_1\",\"ok\":true,\"text\":\"done\"}\n"});
  all.push_back(
      {OutcomeEntry{.id = tool_use("tu_1"), .ok = false, .text = "late", .timed_out = true},
       R"({"entry":"outcome","id":"tu_1","ok":false,"text":"late","timedOut":true})"
       "\n"});
  all.push_back({OutcomeEntry{.id = tool_use("tu_1"), .ok = false, .text = "no", .synthetic = true},
                 R"({"entry":"outcome","id":"tu_1","ok":false,"text":"no","synthetic":true})"
                 "\n"});
}

void add_ends(std::vector<Stored>& all) {
  all.push_back(
      {TurnEndEntry{.text = "bye",
                    .finish_reason = "end_turn",
                    .usage = {.input_tokens = 4,
                              .cached_tokens = 3,
                              .reasoning_tokens = 2,
                              .output_tokens = 1}},
       R"({"entry":"turn_end","text":"bye","blocks":[],"finishReason":"end_turn",)"
       R"("usage":{"inputTokens":4,"cachedTokens":3,"reasoningTokens":2,"outputTokens":1}})"
       "\n"});
  all.push_back(
      {TurnEndEntry{.text = "",
                    .blocks = {"{}"},
                    .finish_reason = "interrupted",
                    .fatal = ModelFailure{.error_class = "auth",
                                          .message = "no",
                                          .retryable = true,
                                          .api_status = 401,
                                          .api_code = "invalid_key"}},
       R"({"entry":"turn_end","text":"","blocks":[{}],"finishReason":"interrupted",)"
       R"("usage":{"inputTokens":0,"cachedTokens":0,"reasoningTokens":0,"outputTokens":0},)"
       R"("fatal":{"errorClass":"auth","message":"no","retryable":true,"apiStatus":401,)"
       R"("apiCode":"invalid_key"}})"
       "\n"});
  all.push_back(
      {TurnEndEntry{
           .text = "bye",
           .finish_reason = "end_turn",
           .answered_by = AnsweredBy{.model = {.id = "b", .provider = "p", .vendor_model_id = "v"},
                                     .output_mechanism = OutputMechanism::answer_tool,
                                     .price = Pricing{.input_per_1m_usd = 3}}},
       R"({"entry":"turn_end","text":"bye","blocks":[],"finishReason":"end_turn",)"
       R"("usage":{"inputTokens":0,"cachedTokens":0,"reasoningTokens":0,"outputTokens":0},)"
       R"("answeredBy":{"id":"b","provider":"p","vendorModelId":"v",)"
       R"("outputMechanism":"synthetic_tool","price":{"inputPer1MUsd":3.0}}})"
       "\n"});
  all.push_back({CancelEntry{.reason = "user", .at = from_millis(8)},
                 "{\"entry\":\"cancel\",\"reason\":\"user\",\"at\":8}\n"});
  all.push_back(
      {TerminalEntry{.status = RunStatus::failed,
                     .subtype = "error_max_tool_turns",
                     .message = "too many turns",
                     .error_class = "x",
                     .finish_reason = "y",
                     .retryable = true},
       R"({"entry":"terminal","status":"failed","subtype":"error_max_tool_turns",)"
       R"("message":"too many turns","errorClass":"x","finishReason":"y","retryable":true})"
       "\n"});
  all.push_back({TerminalEntry{.status = RunStatus::failed,
                               .message = "no",
                               .error_class = "auth",
                               .api_status = 401,
                               .api_code = "invalid_key"},
                 R"({"entry":"terminal","status":"failed","subtype":"","message":"no",)"
                 R"("errorClass":"auth","finishReason":"","retryable":false,"apiStatus":401,)"
                 R"("apiCode":"invalid_key"})"
                 "\n"});
}

std::vector<Stored> one_of_each() {
  std::vector<Stored> all;
  add_created(all);
  add_calls(all);
  add_ends(all);
  return all;
}

TEST(Journal, EveryEntryIsStoredAsOneLine) {
  for (const Stored& stored : one_of_each()) EXPECT_EQ(line_of(stored.entry), stored.line);
}

TEST(Journal, EveryEntryReadsBackTheSame) {
  for (const Stored& stored : one_of_each()) EXPECT_EQ(rewritten(stored.line), stored.line);
}

TEST(Journal, AWholeJournalReadsBackInOrder) {
  std::string journal;
  std::vector<std::size_t> kinds;
  for (const Stored& stored : one_of_each()) {
    journal += stored.line;
    kinds.push_back(stored.entry.index());
  }
  EXPECT_EQ(rewritten(journal), journal);
  std::vector<std::size_t> read;
  auto entries = parse_journal(journal).value();
  for (const JournalEntry& entry : entries) read.push_back(entry.index());
  EXPECT_EQ(read, kinds);
}

TEST(Journal, AnEmptyTextIsAnEmptyJournal) {
  EXPECT_EQ(rewritten(""), "");
}

TEST(Journal, TheLastLineNeedsNoNewline) {
  EXPECT_EQ(rewritten(R"({"entry":"resumed","at":7})"), "{\"entry\":\"resumed\",\"at\":7}\n");
}

TEST(Journal, ToolsComeBackInTheOrderOfTheSpec) {
  CreatedEntry entry = created_entry();
  add_host_tool(entry);
  auto entries = parse_journal(line_of(entry)).value();
  const auto& read = std::get<CreatedEntry>(entries.at(0));
  ASSERT_EQ(read.tools->size(), 2U);
  EXPECT_EQ((*read.tools)[0].name, "clock");
  EXPECT_EQ((*read.tools)[0].site, ToolSite::host);
  EXPECT_EQ((*read.tools)[0].annotations,
            (ToolAnnotations{.idempotent = true, .parallel_safe = false}));
  EXPECT_EQ((*read.tools)[1].name, "read");
  EXPECT_EQ((*read.tools)[1].site, ToolSite::client);
  EXPECT_EQ((*read.tools)[1].annotations, (ToolAnnotations{.read_only = true}));
}

TEST(Journal, ForkReadsBackWithWhatTheUserSaysNext) {
  CreatedEntry entry = created_entry();
  entry.forked_from = ForkedFrom{.run = *RunId::parse("run_1"), .seq = 9, .turns = 2};
  TurnEntry turn{.turn = 2};
  turn.prompt = "go on";
  auto entries = parse_journal(line_of(entry) + line_of(turn)).value();
  EXPECT_EQ(std::get<CreatedEntry>(entries.at(0)).forked_from, entry.forked_from);
  EXPECT_EQ(std::get<TurnEntry>(entries.at(1)).prompt, "go on");
  EXPECT_EQ(line_of(turn),
            "{\"entry\":\"turn\",\"turn\":2,\"attempt\":1,\"afterSeq\":0,\"prompt\":\"go on\"}\n");
}

TEST(Journal, GuardsReadBackAsTheyWereInForce) {
  CreatedEntry entry = created_entry();
  entry.limits.on_turns_exceeded = OnTurnsExceeded::finalize;
  entry.limits.loop = LoopLimits{.nudge_at = 100, .cut_off_at = 103};
  entry.limits.tool_budgets = {{"a tool", 0}, {"recall", 4}};
  std::string line = line_of(entry);
  EXPECT_EQ(rewritten(line), line);
  const auto entries = parse_journal(line).value();
  const RunLimits& read = std::get<CreatedEntry>(entries.at(0)).limits;
  EXPECT_EQ(read.on_turns_exceeded, OnTurnsExceeded::finalize);
  EXPECT_EQ(read.loop, entry.limits.loop);
  EXPECT_EQ(read.tool_budgets, entry.limits.tool_budgets);
}

TEST(Journal, EveryEndedStatusReadsBack) {
  for (auto status : {RunStatus::succeeded, RunStatus::failed, RunStatus::cancelled}) {
    auto entries = parse_journal(line_of(TerminalEntry{.status = status})).value();
    EXPECT_EQ(std::get<TerminalEntry>(entries.at(0)).status, status);
  }
}

TEST(Journal, MembersOfNewerVersionsAreIgnored) {
  EXPECT_EQ(rewritten(R"({"entry":"resumed","at":7,"why":"later"})"),
            "{\"entry\":\"resumed\",\"at\":7}\n");
}

TEST(Journal, AnUnknownEntryIsAnError) {
  EXPECT_EQ(refusal("{\"entry\":\"resumed\",\"at\":7}\n{\"entry\":\"teleport\"}\n"),
            "journal entry 2: unknown kind of journal entry: \"teleport\"");
  EXPECT_EQ(refusal("{}\n"), "journal entry 1: unknown kind of journal entry: \"\"");
  EXPECT_EQ(refusal("[]\n"), "journal entry 1: unknown kind of journal entry: \"\"");
}

TEST(Journal, ALineThatIsNotJsonIsAnErrorOfTheJournal) {
  EXPECT_EQ(refusal("{\"entry\":\"resumed\",\"at\":7}\n{\"entry\":\"resu\n"),
            "journal entry 2: not valid JSON: incomplete JSON at byte 14");
  EXPECT_EQ(refusal("\n"), "journal entry 1: not valid JSON: incomplete JSON at byte 0");
}

TEST(Journal, AnEntryWithSomethingMissingIsAnError) {
  EXPECT_EQ(refusal(R"({"entry":"resumed"})"),
            "journal entry 1: \"at\" is missing: expected an integer from 0 to 9223372036854775807 "
            "(at /at)");
  EXPECT_EQ(refusal(R"({"entry":"turn","turn":0,"attempt":0,"afterSeq":0})"),
            "journal entry 1: expected an integer from 1 to 2147483647, got 0 (at /attempt)");
  EXPECT_EQ(
      refusal(R"({"entry":"call","id":"tu 1","providerId":"","name":"","arguments":"","text":""})"),
      "journal entry 1: not a toolUseId (at /id)");
  EXPECT_EQ(refusal(R"({"entry":"outcome","id":"tu_1","ok":true})"),
            "journal entry 1: \"text\" is missing: expected a string (at /text)");
  EXPECT_EQ(refusal(R"({"entry":"note","id":"tu_1","note":7})"),
            "journal entry 1: expected an object, got an integer (at /note)");
  EXPECT_EQ(refusal(R"({"entry":"turn_end","text":"","finishReason":""})"),
            "journal entry 1: \"usage\" is missing: expected a value (at /usage)");
  EXPECT_EQ(refusal(R"({"entry":"cancel","at":1})"),
            "journal entry 1: \"reason\" is missing: expected a string (at /reason)");
}

TEST(Journal, ATerminalEntryNeedsTheStatusOfAnEndedRun) {
  for (std::string_view status : {"running", "queued", "finished", ""}) {
    EXPECT_EQ(refusal(cat(R"({"entry":"terminal","status":")", status,
                          R"(","subtype":"","message":"","errorClass":"","finishReason":""})")),
              "journal entry 1: not the status of an ended run (at /status)");
  }
}

TEST(Journal, ACreatedEntryWithoutItsPartsIsAnError) {
  EXPECT_EQ(refusal(R"({"entry":"created"})"), "journal entry 1: expected an object, got null");
  EXPECT_EQ(refusal(R"({"entry":"created","spec":{"prompt":"hi"},"limits":{},"at":1})"),
            "journal entry 1: \"model\" is missing: expected a value (at /model)");
  EXPECT_EQ(refusal(cat(R"({"entry":"created","spec":{"prompt":"hi","tools":[)",
                        R"({"kind":"host","name":"clock"}]},)", kCreatedTail, "}")),
            "journal entry 1: a tool of the spec has no pinned declaration");
}

TEST(Journal, AnOlderFormatIsReadAndKept) {
  for (int format : {1, 2}) {
    auto older = parse_journal(
        cat(R"({"entry":"created","spec":{"prompt":"hi"},"model":{"id":"m","provider":"p",)",
            R"("vendorModelId":"v"},"limits":{},"at":1,"format":)", format, "}\n"));
    ASSERT_TRUE(older) << older.error().describe();
    EXPECT_EQ(std::get<CreatedEntry>(older->front()).format, format);
  }
}

// A program of an older format stops at an entry that it does not know. It has to be told before.
TEST(Journal, ANewKindOfEntryRaisesTheFormat) {
  EXPECT_EQ(std::variant_size_v<JournalEntry>, 12U);
  EXPECT_EQ(kRunFormat, 3);
}

TEST(Journal, OneOfANewerFormatIsLeftAlone) {
  auto newer = parse_journal("{\"entry\":\"created\",\"format\":4,\"spec\":{\"any\":1}}\n");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code(), ErrorCode::unsupported);
  EXPECT_EQ(newer.error().message(),
            "journal entry 1: a newer version of Errand wrote this run "
            "(format 4, this one reads 3)");
}

}  // namespace
}  // namespace errand::journal_test
