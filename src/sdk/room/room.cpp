#include <errand/room.hpp>
#include <utility>

#include "json/members.hpp"
#include "room/client/room_outcome.hpp"
#include "sdk/api/values.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/room/room_core.hpp"
#include "sdk/room/room_values.hpp"

namespace errand::v1 {
namespace {

using sdk::RoomCore;
using sdk::value_or_throw;

json::Object plain_object(const Json& value) {
  json::Value plain = detail::to_value(value);
  return plain.is_object() ? std::move(plain.get_object()) : json::Object();
}

// One part of an outcome as programs see it.
struct ToPublic {
  Content operator()(errand::TextContent& part) const { return TextContent{std::move(part.text)}; }
  Content operator()(errand::JsonContent& part) const {
    return JsonContent{detail::from_value(part.value)};
  }
  Content operator()(errand::FileContent& part) const {
    std::string bytes = part.file.bytes ? *part.file.bytes : std::string();
    switch (part.kind) {
      case errand::FileContent::Kind::image:
        return ImageContent{.bytes = std::move(bytes), .mime_type = part.file.mime_type};
      case errand::FileContent::Kind::audio:
        return AudioContent{.bytes = std::move(bytes), .mime_type = part.file.mime_type};
      case errand::FileContent::Kind::file: break;
    }
    return FileContent{
        .bytes = std::move(bytes), .mime_type = part.file.mime_type, .name = part.file.filename};
  }
  Content operator()(errand::LinkContent& part) const {
    return LinkContent{.url = std::move(part.uri),
                       .name = std::move(part.name),
                       .description = std::move(part.description),
                       .mime_type = std::move(part.mime_type)};
  }
  Content operator()(errand::ResourceContent& part) const {
    return ResourceContent{.uri = std::move(part.uri),
                           .text = std::move(part.text),
                           .bytes = part.file && part.file->bytes ? *part.file->bytes : "",
                           .mime_type = std::move(part.mime_type)};
  }
};

ToolResult public_outcome(errand::ToolOutcome outcome) {
  ToolResult result;
  for (errand::Content& part : outcome.content) {
    result.content.push_back(std::visit(ToPublic(), part));
  }
  if (outcome.structured) result.structured = detail::from_value(*outcome.structured);
  if (!outcome.ok()) result.outcome = ToolOutcome::failed;
  return result;
}

room::InvokeParams invoke_params(RoomCore& core, std::string_view toolkit, std::string_view tool,
                                 RoomCallOptions& options, const std::string& traceparent) {
  return {.toolkit = std::string(toolkit),
          .tool = std::string(tool),
          .participant_id = std::move(options.participant_id),
          .on_behalf_of_id = std::move(options.on_behalf_of),
          .caller_context = plain_object(Json(std::move(options.caller_context))),
          .traceparent = options.traceparent.empty() ? traceparent : std::move(options.traceparent),
          .on_progress = core.progress_to(std::move(options.on_progress))};
}

// Throws the room's own error for a call that reached no tool.
void throw_if_refused(const std::vector<room::Content>& answer) {
  if (answer.size() != 1 || room::kind_of(answer[0].header) != room::ContentKind::error) return;
  errand::Error error = room::error_of(answer[0].header);
  const bool is_refusal =
      error.code() == errand::ErrorCode::forbidden || error.code() == errand::ErrorCode::not_found;
  if (is_refusal) throw sdk::public_error(error);
}

std::optional<RoomContentSpec> spec_of(const json::Object* from) {
  if (!from) return std::nullopt;
  RoomContentSpec spec{.types = {}, .stream = json::flag_at(from, "stream")};
  const json::Array* types = json::array_at(from, "types");
  for (const json::Value& type : types ? *types : json::Array()) {
    for (RoomContentType one :
         {RoomContentType::json, RoomContentType::text, RoomContentType::file,
          RoomContentType::binary, RoomContentType::link, RoomContentType::empty}) {
      if (type == json::Value(sdk::to_string(one))) spec.types.push_back(one);
    }
  }
  if (const json::Object* schema = json::object_at(from, "schema")) {
    spec.schema = detail::from_value(json::Value(*schema));
  }
  return spec;
}

RoomToolkitInfo toolkit_info(const room::ListedToolkit& listed) {
  const json::Object& from = listed.members;
  RoomToolkitInfo out{.name = listed.name,
                      .title = std::string(json::text_at(&from, "title")),
                      .description = std::string(json::text_at(&from, "description")),
                      .participant_id = listed.participant_id};
  out.thumbnail_url = json::text_at(&from, "thumbnail_url");
  const json::Object* notes = json::object_at(&from, "annotations");
  for (const auto& note : notes ? *notes : json::Object()) {
    if (!note.value().is_string()) continue;
    out.annotations.emplace(std::string(note.key().data(), note.key().size()),
                            json::view(note.value().as_string()));
  }
  const json::Array* rules = json::array_at(&from, "rules");
  for (const json::Value& rule : rules ? *rules : json::Array()) {
    if (rule.is_string()) out.rules.emplace_back(json::view(rule.as_string()));
  }
  const json::Object* tools = json::object_at(&from, "tools");
  for (const auto& member : tools ? *tools : json::Object()) {
    const json::Object* tool = member.value().if_object();
    RoomToolInfo info{.name = std::string(member.key().data(), member.key().size()),
                      .title = std::string(json::text_at(tool, "title")),
                      .description = std::string(json::text_at(tool, "description"))};
    if (const auto* schema = json::object_at(json::object_at(tool, "input_spec"), "schema")) {
      info.input_schema = detail::from_value(json::Value(*schema));
    }
    info.input_spec = spec_of(json::object_at(tool, "input_spec"));
    info.output_spec = spec_of(json::object_at(tool, "output_spec"));
    if (info.output_spec && info.output_spec->schema) {
      info.output_schema = *info.output_spec->schema;
    }
    out.tools.push_back(std::move(info));
  }
  return out;
}

Task<errand::Result<bool>> done(Task<errand::Result<void>> task) {
  ERRAND_CO_CHECK(co_await std::move(task));
  co_return true;
}

}  // namespace

// ---- HostedToolkit ------------------------------------------------------------------------------

HostedToolkit::HostedToolkit(std::shared_ptr<RoomCore> core, std::uint64_t handle)
    : core_(std::move(core)), handle_(handle) {}
HostedToolkit::HostedToolkit(HostedToolkit&& other) noexcept
    : core_(std::move(other.core_)), handle_(std::exchange(other.handle_, 0)) {}
HostedToolkit::~HostedToolkit() {
  stop();
}

void HostedToolkit::stop() {
  const std::uint64_t handle = std::exchange(handle_, 0);
  if (handle == 0) return;
  // If the room is lost or left, the toolkit is no longer hosted.
  [[maybe_unused]] auto stopped = core_->wait<bool>(
      [core = core_.get(), handle] { return done(core->client().unhost(handle)); });
}

// ---- RoomStream ---------------------------------------------------------------------------------

RoomStream::RoomStream(std::shared_ptr<RoomCore> core, std::shared_ptr<sdk::RoomCallCore> call)
    : core_(std::move(core)), call_(std::move(call)) {}
RoomStream::RoomStream(RoomStream&&) noexcept = default;
RoomStream::~RoomStream() {
  if (!call_) return;
  // The call ends on the home. If the core is closed, the call has ended already.
  core_->post([call = call_] { call->call.reset(); });
}

void RoomStream::write(const RoomContent& item) {
  value_or_throw(
      core_->wait<bool>([core = core_.get(), call = call_, made = sdk::room_content(item)] {
        return core->write(call, made);
      }));
}

void RoomStream::close_input() {
  core_->post([call = call_] { call->call->close_input(); });
}

std::optional<RoomContent> RoomStream::read() {
  auto item = value_or_throw(core_->wait<std::optional<room::Content>>(
      [core = core_.get(), call = call_] { return core->read(call); }));
  if (!item) return std::nullopt;
  if (room::kind_of(item->header) == room::ContentKind::error) {
    throw sdk::public_error(room::error_of(item->header));
  }
  return value_or_throw(sdk::public_content(std::move(*item)));
}

// ---- Room ---------------------------------------------------------------------------------------

Room::Room(std::shared_ptr<RoomCore> core, Owner owner, std::string traceparent)
    : core_(std::move(core)), owner_(owner), traceparent_(std::move(traceparent)) {}
Room::Room(Room&& other) noexcept
    : core_(std::move(other.core_)),
      owner_(std::exchange(other.owner_, Owner::no)),
      traceparent_(std::move(other.traceparent_)) {}
Room::~Room() {
  if (owner_ == Owner::yes) core_->close();
}

Room Room::join(RoomOptions options) {
  auto core = std::make_shared<RoomCore>(std::move(options));
  auto opened = core->open();
  if (!opened) throw sdk::public_error(opened.error());
  return {std::move(core), Owner::yes};
}

Room Room::of(const ToolContext& context) {
  std::shared_ptr<RoomCore> core = context.host_ ? context.host_->room() : nullptr;
  if (!core) throw Error(ErrorCode::not_found, "the tool was not called in a room");
  return {std::move(core), Owner::no, context.info().traceparent};
}

std::string Room::name() const {
  return value_or_throw(
      core_->ask<std::string>([core = core_.get()] { return core->client().room_name(); }));
}

std::string Room::participant_id() const {
  return value_or_throw(
      core_->ask<std::string>([core = core_.get()] { return core->client().participant_id(); }));
}

HostedToolkit Room::host(Toolkit toolkit, HostOptions options) const {
  auto shared = std::make_shared<const Toolkit>(std::move(toolkit));
  std::uint64_t handle = value_or_throw(
      core_->wait<std::uint64_t>([core = core_.get(), shared, options = std::move(options)] {
        return core->host(shared, options);
      }));
  return {core_, handle};
}

std::vector<RoomToolkitInfo> Room::toolkits(std::string_view participant_id) const {
  using Listed = std::vector<room::ListedToolkit>;
  auto listed =
      value_or_throw(core_->wait<Listed>([core = core_.get(), id = std::string(participant_id)] {
        return core->client().list({.participant_id = id});
      }));
  std::vector<RoomToolkitInfo> out;
  for (const room::ListedToolkit& one : listed) out.push_back(toolkit_info(one));
  return out;
}

ToolResult Room::call(std::string_view toolkit, std::string_view tool, const Json& arguments,
                      RoomCallOptions options) const {
  room::InvokeParams params = invoke_params(*core_, toolkit, tool, options, traceparent_);
  if (!arguments.is_null()) params.arguments = room::json_content(detail::to_value(arguments));
  auto answer = value_or_throw(core_->wait<std::vector<room::Content>>(
      [core = core_.get(), params = std::move(params), timeout = options.timeout] {
        return core->call(params, timeout);
      }));
  throw_if_refused(answer);
  return public_outcome(room::to_outcome(std::move(answer)));
}

RoomContent Room::call_with(std::string_view toolkit, std::string_view tool,
                            const RoomContent& input, RoomCallOptions options) const {
  room::InvokeParams params = invoke_params(*core_, toolkit, tool, options, traceparent_);
  params.arguments = sdk::room_content(input);
  return value_or_throw(sdk::public_content(value_or_throw(core_->wait<room::Content>(
      [core = core_.get(), params = std::move(params), timeout = options.timeout] {
        return core->call_once(params, timeout);
      }))));
}

RoomStream Room::stream(std::string_view toolkit, std::string_view tool,
                        RoomCallOptions options) const {
  return begin(toolkit, tool, nullptr, std::move(options));
}

RoomStream Room::stream_with(std::string_view toolkit, std::string_view tool,
                             const RoomContent& input, RoomCallOptions options) const {
  return begin(toolkit, tool, &input, std::move(options));
}

RoomStream Room::begin(std::string_view toolkit, std::string_view tool, const RoomContent* input,
                       RoomCallOptions options) const {
  room::InvokeParams params = invoke_params(*core_, toolkit, tool, options, traceparent_);
  params.arguments = input ? sdk::room_content(*input) : room::open_content();
  auto made = value_or_throw(core_->ask<errand::Result<room::RoomCallPtr>>(
      [core = core_.get(), params = std::move(params)] { return core->client().invoke(params); }));
  auto call = std::make_shared<sdk::RoomCallCore>();
  call->call = value_or_throw(std::move(made));
  return {core_, std::move(call)};
}

void Room::send(std::string_view participant_id, std::string_view type, const Json& message,
                std::string attachment) const {
  room::RoomClient::SendParams params{.to = std::string(participant_id),
                                      .type = std::string(type),
                                      .message = plain_object(message),
                                      .attachment = std::move(attachment)};
  value_or_throw(core_->wait<bool>([core = core_.get(), params = std::move(params)] {
    return done(core->client().send(params));
  }));
}

void Room::broadcast(std::string_view type, const Json& message, std::string attachment) const {
  send("", type, message, std::move(attachment));
}

std::vector<Participant> Room::participants() const {
  return value_or_throw(core_->ask<std::vector<Participant>>([core = core_.get()] {
    std::vector<Participant> out;
    for (const auto& [id, peer] : core->client().peers()) {
      out.push_back({.id = id, .name = peer.name(), .role = peer.role});
    }
    return out;
  }));
}

RoomStorage Room::storage() const {
  return RoomStorage(core_);
}

void Room::throw_failed(const ToolResult& result) {
  throw Error(ErrorCode::conflict, result.text());
}

}  // namespace errand::v1
