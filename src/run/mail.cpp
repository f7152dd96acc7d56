#include "run/mail.hpp"

#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand {

std::string to_mail_body(const ToolAnswer& answer) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("ok", answer.ok).field("text", answer.text);
  if (answer.timed_out) out.field("timedOut", true);
  if (!answer.files.empty()) out.field("files", json::Value(to_json(answer.files)));
  out.end();
  return body;
}

Result<ToolAnswer> parse_tool_answer(std::string_view body) {
  auto value = json::parse(body);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  json::Fields in(*value, "");
  ToolAnswer answer{.ok = in.optional_flag("ok").value_or(false),
                    .text = in.text("text"),
                    .timed_out = in.optional_flag("timedOut").value_or(false)};
  if (const json::Array* items = in.optional_array("files")) {
    auto files = parse_kept_files(*items, in.pointer_to("files"));
    if (!files) return Error(ErrorCode::internal, files.error().describe());
    answer.files = std::move(*files);
  }
  if (auto done = in.finish(); !done) return Error(ErrorCode::internal, done.error().describe());
  return answer;
}

}  // namespace errand
