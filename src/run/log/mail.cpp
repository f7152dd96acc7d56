#include "run/log/mail.hpp"

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

constexpr std::string_view kPlainKind = "local";

}  // namespace

std::string to_mail_request(const LocalToolCall& call) {
  if (call.kind == kPlainKind && !call.echo) return call.args;
  std::string request = cat("[", call.args, ",");
  json::ObjectWriter along(request);
  along.field("kind", call.kind);
  if (call.echo) {
    for (const auto& member : *call.echo) along.field(member.key(), member.value());
  }
  along.end();
  return request + "]";
}

json::Object parse_mail_request(std::string_view request) {
  json::Object out{{"args", json::Object()}, {"kind", kPlainKind}};
  auto value = json::parse(request);
  if (!value) return out;
  if (value->is_object()) {
    out["args"] = std::move(*value);
    return out;
  }
  auto* parts = value->if_array();
  if (!parts || parts->size() != 2 || !(*parts)[1].is_object()) return out;
  out["args"] = std::move((*parts)[0]);
  for (auto& member : (*parts)[1].get_object()) out[member.key()] = std::move(member.value());
  return out;
}

std::string to_mail_body(const ToolAnswer& answer) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("ok", answer.ok).field("text", answer.text);
  if (answer.timed_out) out.field("timedOut", true);
  if (!answer.files.empty()) out.field("files", json::Value(to_json(answer.files)));
  if (answer.is_fatal) out.field("fatal", true);
  out.end();
  return body;
}

Result<ToolAnswer> parse_tool_answer(std::string_view body) {
  auto value = json::parse(body);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  json::Fields in(*value, "");
  ToolAnswer answer{.ok = in.optional_flag("ok").value_or(false),
                    .text = in.text("text"),
                    .timed_out = in.optional_flag("timedOut").value_or(false),
                    .files = {},
                    .is_fatal = in.optional_flag("fatal").value_or(false)};
  if (const json::Array* items = in.optional_array("files")) {
    auto files = parse_kept_files(*items, in.pointer_to("files"));
    if (!files) return Error(ErrorCode::internal, files.error().describe());
    answer.files = std::move(*files);
  }
  if (auto done = in.finish(); !done) return Error(ErrorCode::internal, done.error().describe());
  return answer;
}

std::string progress_slot(const ToolUseId& call) {
  return cat("progress ", call.view());
}

std::string to_mail_body(const ToolProgress& progress) {
  json::Object out{{"id", progress.id.view()}, {"name", progress.name}};
  if (!progress.message.empty()) {
    out["message"] = utf8_prefix(progress.message, kProgressMessageBytesMax);
  }
  if (progress.progress) out["progress"] = *progress.progress;
  if (progress.total) out["total"] = *progress.total;
  return json::write(out);
}

Result<ToolProgress> parse_progress(std::string_view body) {
  auto value = json::parse(body);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  json::Fields in(*value, "");
  auto id = ToolUseId::parse(in.text("id"));
  ToolProgress progress{.id = id.value_or(ToolUseId()),
                        .name = in.text("name"),
                        .message = in.optional_text("message").value_or(""),
                        .progress = in.optional_number("progress"),
                        .total = in.optional_number("total")};
  auto done = in.finish();
  if (!done || !id) return Error(ErrorCode::internal, "the mail is not a report of progress");
  return progress;
}

}  // namespace errand
