#include "run/log/run_export.hpp"

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

constexpr std::int64_t kVersion = 1;

// One value a line, so that two exports can be compared by line.
std::string lines_of(std::vector<json::Value> values) {
  std::string out = "[";
  for (json::Value& value : values) {
    json::redact_secrets(value);
    out += out.size() > 1 ? ",\n" : "\n";
    json::write(out, value);
  }
  return out + "\n]";
}

std::vector<json::Value> objects_in(json::Fields& in, std::string_view key) {
  std::vector<json::Value> out;
  const json::Array* items = in.optional_array(key);
  if (!items) in.fail(key, "expected an array");
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    if (!(*items)[i].is_object()) {
      in.fail(Error(ErrorCode::invalid_argument, "expected an object")
                  .pointer(json::child_pointer(in.pointer_to(key), i)));
    }
    out.push_back((*items)[i]);
  }
  return out;
}

}  // namespace

std::string write_export(RunExport run, WallTime at) {
  json::redact_secrets(run.run);
  std::string out;
  json::ObjectWriter(out)
      .field("errandExport", kVersion)
      .field("exportedAt", to_iso8601(at))
      .field("run", run.run)
      .raw("journal", lines_of(std::move(run.journal)))
      .raw("events", lines_of(std::move(run.events)))
      .end();
  out.push_back('\n');
  return out;
}

Result<RunExport> parse_export(std::string_view text) {
  ERRAND_TRY(auto value, json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins}));
  json::Fields in(value, "");
  auto version = in.optional_integer("errandExport", 0, INT64_MAX);
  if (!version) in.fail("errandExport", "this is not an export of a run");
  if (in.ok() && *version != kVersion) {
    in.fail("errandExport", cat("this program reads version ", kVersion, ", not ", *version));
  }
  RunExport run;
  if (const json::Value* row = in.optional_any("run")) run.run = *row;
  run.journal = objects_in(in, "journal");
  run.events = objects_in(in, "events");
  return in.finish(std::move(run));
}

}  // namespace errand
