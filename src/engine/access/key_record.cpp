#include "engine/access/key_record.hpp"

#include <cstdint>
#include <utility>

#include "engine/access/grant_json.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::int64_t kVersion = 1;

void add_time(json::Object& out, std::string_view key, const std::optional<WallTime>& time) {
  if (time) out[key] = to_millis(*time);
}

std::optional<WallTime> read_time(json::Fields& in, std::string_view key) {
  auto count = in.optional_integer(key, INT64_MIN, INT64_MAX);
  if (!count) return {};
  return from_millis(*count);
}

void add_usage(json::Object& out, const KeyUsage& usage) {
  if (usage == KeyUsage()) return;
  out["usage"] = json::Object{{"runs", usage.runs},
                              {"inputTokens", usage.input_tokens},
                              {"outputTokens", usage.output_tokens},
                              {"costUsd", usage.cost_usd},
                              {"unpricedRuns", usage.unpriced_runs}};
}

KeyUsage read_usage(json::Fields& in) {
  const json::Object* usage = in.optional_object("usage");
  auto count = [usage](std::string_view key) { return json::integer_at(usage, key).value_or(0); };
  const json::Value* cost = usage ? usage->if_contains("costUsd") : nullptr;
  return {.runs = count("runs"),
          .input_tokens = count("inputTokens"),
          .output_tokens = count("outputTokens"),
          .cost_usd = cost && cost->is_number() ? cost->to_number<double>() : 0,
          .unpriced_runs = count("unpricedRuns")};
}

Result<KeyRecord> read_key_record(std::string_view text) {
  ERRAND_TRY(auto value, json::parse(text));
  json::Fields in(value, "");
  in.integer("version", kVersion, kVersion);
  KeyRecord record{.grant = read_grant(in),
                   .expires_at = read_time(in, "expiresAt"),
                   .last_used_at = read_time(in, "lastUsedAt"),
                   .usage = read_usage(in)};
  return in.finish(std::move(record));
}

}  // namespace

void KeyUsage::add(const RunTotals& totals) {
  ++runs;
  input_tokens += totals.usage.input_tokens;
  output_tokens += totals.usage.output_tokens;
  cost_usd += totals.cost_usd.value_or(0);
  if (!totals.cost_usd) ++unpriced_runs;
}

std::string to_text(const KeyRecord& record) {
  json::Object out{{"version", kVersion}};
  add_grant(out, record.grant);
  add_time(out, "expiresAt", record.expires_at);
  add_time(out, "lastUsedAt", record.last_used_at);
  add_usage(out, record.usage);
  return json::write(json::Value(std::move(out)));
}

Result<KeyRecord> parse_key_record(std::string_view text) {
  auto read = read_key_record(text);
  if (read) return read;
  return Error(ErrorCode::internal,
               "the record of a key cannot be read: " + read.error().describe());
}

}  // namespace errand::engine
