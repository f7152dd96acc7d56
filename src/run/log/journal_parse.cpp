// Parses stored journals.
#include <algorithm>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/journal.hpp"

namespace errand {
namespace {

using json::Fields;

std::vector<std::string> parse_blocks(Fields& in) {
  std::vector<std::string> out;
  if (const json::Array* blocks = in.optional_array("blocks")) {
    for (const json::Value& block : *blocks) out.push_back(json::write(block));
  }
  return out;
}

ToolUseId parse_tool_use_id(Fields& in) {
  auto id = ToolUseId::parse(in.text("id"));
  if (!id) in.fail("id", "not a toolUseId");
  return id.value_or(ToolUseId());
}

ModelFailure parse_model_failure(const json::Value& value) {
  Fields in(value, "/fatal");
  return {.error_class = in.optional_text("errorClass").value_or("unknown"),
          .message = in.optional_text("message").value_or(""),
          .retryable = in.optional_flag("retryable").value_or(false),
          .api_status = static_cast<int>(in.optional_integer("apiStatus", 0, 999).value_or(0)),
          .api_code = in.optional_text("apiCode").value_or("")};
}

// The caller's budgets and the defaults together may be more than a caller may send.
ToolBudgets parse_budgets_in_force(const json::Value& value) {
  ToolBudgets budgets;
  const json::Object* object = value.if_object();
  if (!object) return budgets;
  for (const auto& member : *object) {
    Fields in(member.value(), "/limits/toolBudgets");
    budgets[std::string(member.key().data(), member.key().size())] =
        static_cast<int>(in.integer("maxCalls", 0, INT32_MAX));
  }
  return budgets;
}

void parse_guard_limits(Fields& in, RunLimits& limits) {
  if (in.optional_choice("maxToolTurnsExceeded", {"error", "finalize"}) == 1) {
    limits.on_turns_exceeded = OnTurnsExceeded::finalize;
  }
  if (const json::Value* value = in.optional_any("loop")) {
    Fields loop(*value, "/limits/loop");
    limits.loop = {.nudge_at = static_cast<int>(loop.integer("nudgeAt", 2, INT32_MAX)),
                   .cut_off_at = static_cast<int>(loop.integer("cutOffAt", 3, INT32_MAX))};
  }
  if (const json::Value* value = in.optional_any("toolBudgets")) {
    limits.tool_budgets = parse_budgets_in_force(*value);
  }
}

RunLimits parse_limits(const json::Value& value) {
  Fields in(value, "/limits");
  RunLimits limits;
  if (auto millis = in.optional_integer("localToolTimeoutMs", 1, INT64_MAX)) {
    limits.local_tool_timeout = milliseconds(*millis);
  }
  if (in.optional_choice("onLocalToolTimeout", {"fail", "continue"}) == 1) {
    limits.on_local_tool_timeout = OnTimeout::go_on;
  }
  if (auto turns = in.optional_integer("maxToolTurns", 0, INT32_MAX)) {
    limits.max_tool_turns = static_cast<int>(*turns);
  }
  if (auto bytes = in.optional_integer("conversationBytes", 0, INT64_MAX)) {
    limits.conversation_bytes = static_cast<std::size_t>(*bytes);
  }
  if (auto millis = in.optional_integer("runMs", 1, INT64_MAX)) {
    limits.run_time = milliseconds(*millis);
  }
  parse_guard_limits(in, limits);
  return limits;
}

Result<ForkedFrom> parse_forked_from(const json::Value& value) {
  Fields in(value, "/forkedFrom");
  ForkedFrom fork;
  auto run = RunId::parse(in.text("runId"));
  if (!run) in.fail("runId", "not a runId");
  fork.run = run.value_or(RunId());
  fork.seq = in.integer("seq", 0, INT64_MAX);
  fork.turns = static_cast<int>(in.integer("turns", 0, INT32_MAX));
  return in.finish(fork);
}

Result<ParentCall> parse_parent(const json::Value& value) {
  Fields in(value, "/parent");
  auto run = RunId::parse(in.text("runId"));
  auto call = ToolUseId::parse(in.text("toolUseId"));
  if (!run) in.fail("runId", "not a runId");
  if (!call) in.fail("toolUseId", "not a toolUseId");
  return in.finish(ParentCall{.run = run.value_or(RunId()),
                              .call = call.value_or(ToolUseId()),
                              .depth = static_cast<int>(in.integer("depth", 1, INT32_MAX))});
}

std::optional<std::vector<std::string>> parse_allowed_agents(Fields& in) {
  const json::Array* items = in.optional_array("allowedAgents");
  if (!items) return {};
  std::vector<std::string> agents;
  for (const json::Value& item : *items) {
    const auto* name = item.if_string();
    if (!name) in.fail("allowedAgents", "expected names of agents");
    agents.emplace_back(name ? json::view(*name) : "");
  }
  return agents;
}

OutputMechanism parse_mechanism(Fields& in) {
  auto word = in.optional_text("outputMechanism");
  auto mechanism = word ? parse_output_mechanism(*word) : OutputMechanism::plain;
  if (!mechanism) in.fail("outputMechanism", "not a way to follow an output schema");
  return mechanism.value_or(OutputMechanism::plain);
}

std::optional<Pricing> parse_price(Fields& in) {
  const json::Value* price = in.optional_any("price");
  return price ? std::optional(parse_pricing(*price)) : std::nullopt;
}

Result<AnsweredBy> parse_answered_by(const json::Value& value) {
  Fields in(value, "/answeredBy");
  return in.finish(AnsweredBy{.model = parse_model_info(value),
                              .output_mechanism = parse_mechanism(in),
                              .price = parse_price(in)});
}

Result<std::vector<ToolDecl>> parse_bindings(const json::Array* bindings) {
  std::vector<ToolDecl> tools;
  for (std::size_t i = 0; bindings && i < bindings->size(); ++i) {
    ERRAND_TRY(auto tool, parse_binding((*bindings)[i], json::child_pointer("/bindings", i)));
    tools.push_back(std::move(tool));
  }
  return tools;
}

std::vector<std::size_t> parse_unbound(Fields& in) {
  std::vector<std::size_t> refs;
  const json::Array* items = in.optional_array("unbound");
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    const std::int64_t* index = (*items)[i].if_int64();
    if (!index || *index < 0) in.fail("unbound", "expected indices of tools");
    refs.push_back(index ? static_cast<std::size_t>(*index) : 0);
  }
  return refs;
}

// The declarations of all tools of the run in the order of the spec: the pinned ones for tools that
// this process calls.
Result<ToolDecls> collect_tools(const Spec& spec, std::vector<ToolDecl> pinned,
                                const std::vector<std::size_t>& unbound) {
  std::vector<ToolDecl> tools;
  auto next = pinned.begin();
  for (std::size_t ref = 0; ref < spec.tools->refs.size(); ++ref) {
    bool is_pinned = false;
    for (; next != pinned.end() && next->origin.ref == ref; ++next) {
      tools.push_back(std::move(*next));
      is_pinned = true;
    }
    bool is_unbound = std::find(unbound.begin(), unbound.end(), ref) != unbound.end();
    if (is_pinned || is_unbound) continue;
    if (std::holds_alternative<HostTool>(spec.tools->refs[ref])) {
      return Error(ErrorCode::internal, "a tool of the spec has no pinned declaration");
    }
    for (OfferedTool& tool : offered_tools(spec.tools->refs[ref])) {
      tools.push_back(std::move(tool.decl));
    }
  }
  if (next != pinned.end()) {
    return Error(ErrorCode::internal, "a pinned tool belongs to no tool of the spec");
  }
  return share_decls(std::move(tools));
}

Result<JournalEntry> parse_created(Fields& in) {
  CreatedEntry entry;
  entry.format = static_cast<int>(in.optional_integer("format", 1, INT32_MAX).value_or(1));
  if (entry.format > kRunFormat) {
    return Error(ErrorCode::unsupported, cat("a newer version of Errand wrote this run (format ",
                                             entry.format, ", this one reads ", kRunFormat, ")"));
  }
  ERRAND_TRY(entry.spec, parse_journaled_spec(in.any("spec")));
  entry.model = parse_model_info(in.any("model"));
  entry.limits = parse_limits(in.any("limits"));
  entry.at = from_millis(in.integer("at", 0, INT64_MAX));
  entry.ends_by = StoreTime(milliseconds(in.optional_integer("endsBy", 0, INT64_MAX).value_or(0)));
  if (auto key = in.optional_text("key")) entry.key = KeyId::parse(*key).value_or(KeyId());
  if (auto session = in.optional_text("session")) {
    entry.session = SessionId::parse(*session).value_or(SessionId());
  }
  entry.price = parse_price(in);
  entry.fallback = in.optional_text("fallback").value_or("");
  entry.request_id = in.optional_text("requestId").value_or("");
  entry.traceparent = in.optional_text("traceparent").value_or("");
  if (const json::Value* fork = in.optional_any("forkedFrom")) {
    ERRAND_TRY(entry.forked_from, parse_forked_from(*fork));
  }
  if (const json::Value* parent = in.optional_any("parent")) {
    ERRAND_TRY(entry.parent, parse_parent(*parent));
  }
  entry.allowed_agents = parse_allowed_agents(in);
  entry.output_mechanism = parse_mechanism(in);
  entry.unbound = parse_unbound(in);
  ERRAND_TRY(auto pinned, parse_bindings(in.optional_array("bindings")));
  ERRAND_TRY(entry.tools, collect_tools(entry.spec, std::move(pinned), entry.unbound));
  return in.finish<JournalEntry>(std::move(entry));
}

Result<JournalEntry> parse_turn_end(Fields& in) {
  TurnEndEntry entry;
  entry.text = in.text("text");
  entry.blocks = parse_blocks(in);
  entry.finish_reason = in.text("finishReason");
  entry.usage = parse_usage(in.any("usage"));
  if (const json::Value* fatal = in.optional_any("fatal"))
    entry.fatal = parse_model_failure(*fatal);
  if (const json::Value* by = in.optional_any("answeredBy")) {
    ERRAND_TRY(entry.answered_by, parse_answered_by(*by));
  }
  return in.finish<JournalEntry>(std::move(entry));
}

Result<JournalEntry> parse_outcome(Fields& in) {
  OutcomeEntry entry{.id = parse_tool_use_id(in),
                     .ok = in.optional_flag("ok").value_or(false),
                     .text = in.text("text"),
                     .timed_out = in.optional_flag("timedOut").value_or(false),
                     .synthetic = in.optional_flag("synthetic").value_or(false),
                     .files = {},
                     .is_fatal = in.optional_flag("fatal").value_or(false)};
  if (auto turns = in.optional_integer("childTurns", 0, INT32_MAX)) {
    entry.child_turns = static_cast<int>(*turns);
  }
  if (const json::Array* files = in.optional_array("files")) {
    ERRAND_TRY(entry.files, parse_kept_files(*files, "/files"));
  }
  return in.finish<JournalEntry>(std::move(entry));
}

Result<JournalEntry> parse_note(Fields& in) {
  NoteEntry entry{.id = parse_tool_use_id(in), .note = {}};
  if (const json::Object* note = in.optional_object("note")) {
    json::write(entry.note, *note);
  } else {
    in.fail("note", "expected an object");
  }
  return in.finish<JournalEntry>(std::move(entry));
}

Result<JournalEntry> parse_terminal(Fields& in) {
  TerminalEntry entry;
  auto status = parse_run_status(in.text("status"));
  if (!status || !is_terminal(*status)) in.fail("status", "not the status of an ended run");
  entry.status = status.value_or(RunStatus::failed);
  entry.subtype = in.text("subtype");
  entry.message = in.text("message");
  entry.error_class = in.text("errorClass");
  entry.finish_reason = in.text("finishReason");
  entry.retryable = in.optional_flag("retryable").value_or(false);
  entry.api_status = static_cast<int>(in.optional_integer("apiStatus", 0, 999).value_or(0));
  entry.api_code = in.optional_text("apiCode").value_or("");
  return in.finish<JournalEntry>(std::move(entry));
}

Result<JournalEntry> parse_entry(const json::Value& value) {
  Fields in(value, "");
  std::string kind = in.text("entry");
  if (kind == "created") return parse_created(in);
  if (kind == "tools") {
    ERRAND_TRY(auto tools, parse_bindings(in.optional_array("bindings")));
    return in.finish<JournalEntry>(ToolsEntry{.tools = share_decls(std::move(tools))});
  }
  if (kind == "turn_end") return parse_turn_end(in);
  if (kind == "terminal") return parse_terminal(in);
  if (kind == "outcome") return parse_outcome(in);
  if (kind == "note") return parse_note(in);
  if (kind == "answer") {
    return in.finish<JournalEntry>(
        AnswerEntry{.id = parse_tool_use_id(in),
                    .asked = in.text("asked"),
                    .ok = in.optional_flag("ok").value_or(false),
                    .text = in.text("text"),
                    .timed_out = in.optional_flag("timedOut").value_or(false)});
  }
  if (kind == "sampled") {
    return in.finish<JournalEntry>(SampledEntry{.id = parse_tool_use_id(in),
                                                .usage = parse_usage(in.any("usage")),
                                                .price = parse_price(in)});
  }
  if (kind == "resumed") {
    return in.finish<JournalEntry>(ResumedEntry{.at = from_millis(in.integer("at", 0, INT64_MAX))});
  }
  if (kind == "turn") {
    return in.finish<JournalEntry>(
        TurnEntry{.turn = static_cast<int>(in.integer("turn", 0, INT32_MAX)),
                  .attempt = static_cast<int>(in.integer("attempt", 1, INT32_MAX)),
                  .after_seq = in.integer("afterSeq", 0, INT64_MAX),
                  .retells = in.optional_flag("retells").value_or(false),
                  .tools_off = in.optional_flag("toolsOff").value_or(false),
                  .repairs = in.optional_flag("repairs").value_or(false),
                  .plain_output = in.optional_flag("plainOutput").value_or(false),
                  .prompt = in.optional_text("prompt"),
                  .history = in.optional_integer("history", 0, INT64_MAX)});
  }
  if (kind == "call") {
    return in.finish<JournalEntry>(CallEntry{.id = parse_tool_use_id(in),
                                             .provider_id = in.text("providerId"),
                                             .name = in.text("name"),
                                             .arguments = in.text("arguments"),
                                             .text = in.text("text"),
                                             .blocks = parse_blocks(in)});
  }
  if (kind == "cancel") {
    return in.finish<JournalEntry>(CancelEntry{.reason = in.text("reason"),
                                               .at = from_millis(in.integer("at", 0, INT64_MAX))});
  }
  return Error(ErrorCode::internal, cat("unknown kind of journal entry: \"", kind, "\""));
}

Result<JournalEntry> parse_line(std::string_view line) {
  ERRAND_TRY(auto value, json::parse(line, {.duplicate_keys = json::DuplicateKeys::last_wins}));
  return parse_entry(value);
}

}  // namespace

Result<JournalEntry> parse_journal_line(std::string_view line, std::size_t number) {
  auto entry = parse_line(line);
  if (entry) return entry;
  bool is_newer = entry.error().code() == ErrorCode::unsupported;
  return Error(is_newer ? ErrorCode::unsupported : ErrorCode::internal,
               cat("journal entry ", number, ": ", entry.error().describe()));
}

Result<std::vector<JournalEntry>> parse_journal(std::string_view text) {
  std::vector<JournalEntry> entries;
  while (!text.empty()) {
    ERRAND_TRY(auto entry, parse_journal_line(take_line(text), entries.size() + 1));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace errand
