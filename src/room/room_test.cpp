#include "room/room.hpp"

#include "room/test_room.hpp"

namespace errand::room::test::room_test {
namespace {

using RoomToolkits = RoomTest;

TEST_F(RoomToolkits, AJoinTellsTheClientThatItIsReady) {
  TestOutlet outlet;
  EXPECT_EQ(try_join(outlet, {.name = "ann"}).value(), "id1");
  EXPECT_EQ(outlet.take(),
            R"(connected#0 {"type":"init","participantId":"id1","attributes":{"name":"ann"}})"
            "\n"
            R"(room_ready#0 {"room_name":"r","room_url":"ws://x/rooms/r","session_id":"s1"})"
            "\n");
}

TEST_F(RoomToolkits, EachParticipantIsToldTheUrlThatItHasUsed) {
  TestOutlet first;
  TestOutlet second;
  EXPECT_TRUE(try_join(first, {.name = "eve", .url = "ws://evil/rooms/r"}));
  EXPECT_TRUE(try_join(second, {.name = "ann"}));
  EXPECT_NE(first.take().find(R"("room_url":"ws://evil/rooms/r")"), std::string::npos);
  EXPECT_NE(second.take().find(R"("room_url":"ws://x/rooms/r")"), std::string::npos);
}

TEST_F(RoomToolkits, AFullRoomRefusesAJoin) {
  limits_.participants_max = 1;
  Client ann = join({.name = "ann"});
  TestOutlet outlet;
  EXPECT_EQ(try_join(outlet, {.name = "bob"}).error().reason(), "room_full");
  leave(ann);
  EXPECT_TRUE(try_join(outlet, {.name = "bob"}));
}

TEST_F(RoomToolkits, OneTokenCannotFillARoom) {
  limits_.connections_of_one_max = 2;
  Client first = join({.name = "eve", .key_id = "k1"});
  Client second = join({.name = "eve", .key_id = "k1"});
  TestOutlet outlet;
  EXPECT_EQ(try_join(outlet, {.name = "eve", .key_id = "k1"}).error().reason(),
            "too_many_connections");
  // Somebody else may have the same name.
  EXPECT_TRUE(try_join(outlet, {.name = "eve", .key_id = "k2"}));
  EXPECT_TRUE(try_join(outlet, {.name = "ann", .key_id = "k1"}));
  leave(first);
  EXPECT_TRUE(try_join(outlet, {.name = "eve", .key_id = "k1"}));
}

TEST_F(RoomToolkits, ARoomThatClosesSendsEverybodyAwayForGood) {
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  on_home([&] { room().close("the room was deleted"); });
  EXPECT_EQ(ann.take() + bob.take(),
            "close 1000 the room was deleted\nclose 1000 the room was deleted\n");
}

TEST_F(RoomToolkits, AreListedWithAllThatTheirHostSaid) {
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  ask(ann, "room.register_toolkit",
      R"({"name":"t","title":"T","description":"does","public":true,"annotations":{"a":"b"},
          "thumbnail_url":"u","rules":["be kind"],"later":1,"tools":{"go":{"title":"G",
          "input_spec":{"types":["json"],"schema":{"type":"object"}},"output_spec":null,
          "defs":{"D":{}},"strict":true}}})");
  EXPECT_EQ(
      ask(bob, "room.list_toolkits", "{}"),
      R"(__response__#99 {"type":"json","json":{"tools":{"t":{"title":"T","description":"does",)"
      R"("thumbnail_url":"u","rules":["be kind"],"annotations":{"a":"b"},"tools":{"go":{)"
      R"("title":"G","description":"","input_spec":{"types":["json"],"stream":false,)"
      R"("schema":{"type":"object"}},"output_spec":null,"defs":{"D":{}},"strict":true}},)"
      R"("participant_id":"id1"}}}})"
      "\n");
}

// The names in a list.
std::string names_in(std::string_view list) {
  auto answer = json::parse(list.substr(list.find('{'))).value();
  std::string names;
  for (const auto& [name, toolkit] : answer.at("json").at("tools").as_object()) {
    append(names, std::string_view(name), "@", json::view(toolkit.at("participant_id").as_string()),
           " ");
  }
  return names;
}

TEST_F(RoomToolkits, PrivateOnesAreFoundByThoseWhoNameTheirOwner) {
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  host(ann, "open");
  ask(ann, "room.register_toolkit", R"({"name":"ui","tools":{"run":{}}})");
  ask(bob, "room.register_toolkit", R"({"name":"ui","tools":{"run":{}}})");
  auto list = [&](const Client& client, std::string_view header) {
    return names_in(ask(client, "room.list_toolkits", header));
  };
  EXPECT_EQ(list(bob, "{}"), "ui@id2 open@id1 ");
  EXPECT_EQ(list(ann, R"({"participant_id":null})"), "open@id1 ui@id1 ");
  EXPECT_EQ(list(bob, R"({"participant_id":"id1"})"), "open@id1 ui@id1 ");
  EXPECT_EQ(list(bob, R"({"participant_name":"ann","timeout":0})"), "open@id1 ui@id1 ");
  EXPECT_EQ(list(bob, R"({"participant_id":"nobody","timeout":5})"), "");

  send(bob, 1, "room.invoke_tool", R"({"toolkit":"ui","tool":"run","participant_id":"id1"})");
  EXPECT_EQ(ann.take(),
            R"(room.tool_call.ui#1 {"name":"run","arguments":{"type":"empty"},"caller_id":"id2",)"
            R"("tool_call_id":"call-1"})"
            "\n");
}

TEST_F(RoomToolkits, AListWaitsForAParticipant) {
  Client ann = join({.name = "ann"});
  EXPECT_EQ(ask(ann, "room.list_toolkits", R"({"participant_name":"bob","timeout":10})"), "");
  EXPECT_EQ(ask(ann, "room.list_toolkits", R"({"participant_name":"eve","timeout":10})"), "");
  Client bob = join({.name = "bob"});
  EXPECT_EQ(ann.take(), "__response__#99 {\"type\":\"json\",\"json\":{\"tools\":{}}}\n");
  on_home([&] { timers_.advance(milliseconds(9'999)); });
  EXPECT_EQ(ann.take(), "");
  on_home([&] { timers_.advance(milliseconds(1)); });
  EXPECT_EQ(ann.take(), "__response__#99 {\"type\":\"json\",\"json\":{\"tools\":{}}}\n");
  ask(ann, "room.list_toolkits", R"({"participant_name":"eve","timeout":10})");
  leave(ann);
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(RoomToolkits, AListWaitsForNoNameThatIsTooLong) {
  limits_.kept_name_bytes_max = 3;
  Client ann = join({.name = "ann"});
  EXPECT_EQ(ask(ann, "room.list_toolkits", R"({"participant_name":"bob","timeout":10})"), "");
  EXPECT_EQ(ask(ann, "room.list_toolkits", R"({"participant_name":"bobo","timeout":10})"),
            "__response__#99 {\"type\":\"error\",\"text\":\"the participant's name is too long\","
            "\"code\":1002}\n");
}

TEST_F(RoomToolkits, AreGoneBeforeTheirUnregistrationIsAnswered) {
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  host(ann, "t");
  EXPECT_EQ(
      ask(bob, "room.unregister_toolkit", R"({"id":"id3"})"),
      R"(__response__#99 {"type":"error","text":"registration id3 was not found","code":1003})"
      "\n");
  EXPECT_EQ(ask(ann, "room.unregister_toolkit", R"({"id":"id3"})"),
            "__response__#99 {\"type\":\"empty\"}\n");
  EXPECT_EQ(ask(bob, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})"),
            R"(__response__#99 {"type":"error","text":"toolkit t was not found","code":1003})"
            "\n");
}

TEST_F(RoomToolkits, ANameBelongsToItsIdentity) {
  Client ann = join({.name = "ann", .key_id = "k"});
  Client eve = join({.name = "ann", .key_id = "other"});
  host(ann, "t");
  const std::string_view taken =
      R"(__response__#99 {"type":"error","text":"toolkit t exists already","code":1004})"
      "\n";
  const std::string_view again = R"({"name":"t","public":true,"tools":{}})";
  EXPECT_EQ(ask(eve, "room.register_toolkit", again), taken);
  EXPECT_EQ(ask(ann, "room.register_toolkit", again), taken);
  EXPECT_EQ(
      ask(ann, "room.register_toolkit", R"({"name":"storage","tools":{}})"),
      R"(__response__#99 {"type":"error","text":"toolkit storage exists already","code":1004})"
      "\n");
}

TEST_F(RoomToolkits, TheSameIdentityTakesAPublicNameOver) {
  Client before = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  host(before, "t");
  send(bob, 5, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  before.take();
  Client after = join({.name = "ann"});
  host(after, "t");
  EXPECT_EQ(bob.take(),
            R"(__response__#5 {"type":"error","text":"the host of toolkit t has connected again",)"
            R"("code":1008})"
            "\n");
  send(before, 1, "room.tool_call_response", R"({"type":"text","text":"too late"})");
  EXPECT_EQ(bob.take(), "");
  leave(before);
  send(bob, 6, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  EXPECT_TRUE(after.take().starts_with("room.tool_call.t#2 "));
}

TEST_F(RoomToolkits, RefusesRegistrationsThatWouldConfuseLists) {
  Client ann = join({.name = "ann"});
  struct Row {
    std::string_view tools;
    std::string_view why;
  };
  const Row rows[] = {
      {R"({"a":1})", "expected an object (at /tools/a)"},
      {R"({"a":{"input_spec":{}}})",
       "expected at least one content type (at /tools/a/input_spec/types)"},
      {R"({"a":{"input_spec":{"types":["xml"]}}})",
       "expected json, text, file, binary, link or empty (at /tools/a/input_spec/types)"},
      {R"({"a":{"output_spec":{"types":["json"],"stream":1}}})",
       "expected true or false, got an integer (at /tools/a/output_spec/stream)"},
      {R"({"a":{"input_spec":{"types":["json"],"schema":[]}}})",
       "expected an object, got an array (at /tools/a/input_spec/schema)"},
      {R"({"a":{"title":1}})", "expected a string (at /tools/a/title)"},
      {R"({"a":{"defs":[]}})", "expected an object (at /tools/a/defs)"},
  };
  for (const Row& row : rows) {
    std::string answer =
        ask(ann, "room.register_toolkit", cat(R"({"name":"t","tools":)", row.tools, "}"));
    EXPECT_EQ(answer, cat(R"(__response__#99 {"type":"error","text":")", row.why,
                          R"(","code":1002})", "\n"));
  }
  EXPECT_EQ(ask(ann, "room.register_toolkit", R"({"name":" "})"),
            "__response__#99 {\"type\":\"error\",\"text\":\"a toolkit needs a name (at "
            "/name)\",\"code\":1002}\n");
}

TEST_F(RoomToolkits, EachGrantIsAskedFor) {
  Client host_of_all = join({.name = "host"});
  host(host_of_all, "t");
  host(host_of_all, "u");
  struct Row {
    std::string_view scope;
    std::string_view type;
    std::string_view header;
    std::string_view answer;
  };
  const std::string_view open = R"({"name":"mine","public":true,"tools":{}})";
  const std::string_view hidden = R"({"name":"mine","public":false,"tools":{}})";
  const std::string_view call = R"({"toolkit":"t","tool":"run"})";
  const Row rows[] = {
      {"{}", "room.register_toolkit", open, "the token grants no agents"},
      {R"({"agents":{"register_public_toolkit":false}})", "room.register_toolkit", open,
       "the token does not allow public toolkits"},
      {R"({"agents":{"register_private_toolkit":false}})", "room.register_toolkit", hidden,
       "the token does not allow private toolkits"},
      {"{}", "room.list_toolkits", "{}", "the token does not allow listing tools"},
      {R"({"agents":{"use_tools":false}})", "room.list_toolkits", "{}",
       "the token does not allow listing tools"},
      {"{}", "room.invoke_tool", call, "the token does not allow calls"},
      {R"({"agents":{"call":false}})", "room.invoke_tool", call, "the token does not allow calls"},
      {R"({"agents":{"allowed_toolkits":["u"]}})", "room.invoke_tool", call,
       "the token does not allow toolkit t"},
  };
  for (const Row& row : rows) {
    Client client = join({.name = "x", .scope = row.scope});
    EXPECT_EQ(ask(client, row.type, row.header), cat(R"(__response__#99 {"type":"error","text":")",
                                                     row.answer, R"(","code":1001})", "\n"))
        << row.scope;
  }
  Client some = join({.name = "y", .scope = R"({"agents":{"allowed_toolkits":["u"]}})"});
  EXPECT_EQ(names_in(ask(some, "room.list_toolkits", "{}")), "u@id1 ");
}

TEST_F(RoomToolkits, EveryRequestIsAnswered) {
  Client ann = join({.name = "ann"});
  host(ann, "t");
  struct Row {
    std::string_view type;
    std::string_view header;
    std::string_view answer;
  };
  const Row rows[] = {
      {"room.list_toolkits", "NaN", R"(the request's header is not a JSON object","code":1002)"},
      {"room.list_toolkits", "[]", R"(the request's header is not a JSON object","code":1002)"},
      {"room.nonsense", "{}", R"(unknown request room.nonsense","code":1002)"},
      {"room.call", "{}", R"(this server does not call agents by URL","code":1002)"},
      {"room.invoke_tool", "{}", R"(a call needs a toolkit and a tool","code":1002)"},
      {"room.invoke_tool", R"({"toolkit":"u","tool":"run"})",
       R"(toolkit u was not found","code":1003)"},
      {"room.invoke_tool", R"({"toolkit":"t","tool":"walk"})",
       R"(tool walk was not found","code":1003)"},
      {"room.invoke_tool", R"({"toolkit":"dataset","tool":"run"})",
       R"(toolkit dataset was not found","code":1003)"},
      {"room.invoke_tool", R"({"toolkit":"t","tool":"run","arguments":{"type":"text"}})",
       R"(the arguments are not a content: \"text\" has to be a string","code":1002)"},
      {"room.invoke_tool", R"({"toolkit":"t","tool":"run","participant_id":"nobody"})",
       R"(toolkit t was not found","code":1003)"},
      {"room.tool_call_request_chunk", "{}",
       R"(a chunk needs a tool_call_id and a chunk","code":1002)"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ask(ann, row.type, row.header),
              cat(R"(__response__#99 {"type":"error","text":")", row.answer, "}\n"));
  }
  EXPECT_EQ(ask(ann, "__response__", "{}"), "");
  EXPECT_EQ(ask(ann, "room.tool_call_response", "{}"), "");
  EXPECT_EQ(ask(ann, "set_attributes", "nonsense"), "");
}

TEST_F(RoomToolkits, OfOneParticipantAreBounded) {
  limits_.toolkits_of_one_max = 1;
  Client ann = join({.name = "ann"});
  host(ann, "t");
  EXPECT_EQ(ask(ann, "room.register_toolkit", R"({"name":"u","tools":{}})"),
            R"(__response__#99 {"type":"error","text":"the participant has too many toolkits",)"
            R"("code":1002})"
            "\n");
}

TEST_F(RoomToolkits, OldClientsDoNotLearnOfBinary) {
  Client ann = join({.name = "ann"});
  Client old = join({.name = "old", .generation = ClientGeneration::old_npm});
  host(ann, "t", R"("input_spec":{"types":["binary","json"]},"output_spec":{"types":["binary"]})");
  std::string list = ask(old, "room.list_toolkits", "{}");
  EXPECT_NE(list.find(R"("input_spec":{"types":["json"],"stream":false},"output_spec":null)"),
            std::string::npos)
      << list;
  EXPECT_NE(ask(ann, "room.list_toolkits", "{}").find(R"(["binary"])"), std::string::npos);
}

TEST_F(RoomToolkits, AreBoundedByWhatAListTellsOfThem) {
  limits_.registered_bytes_of_one_max = 3'000;
  limits_.registered_bytes_max = 4'000;
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  auto add = [&](const Client& client, std::string_view name, std::string_view how) {
    return ask(client, "room.register_toolkit",
               cat(R"({"name":")", name, R"(","description":")", std::string(1'500, 'd'), R"(",)",
                   how, R"("tools":{}})"));
  };
  const std::string_view is_public = R"("public":true,)";
  auto is_refused = [](std::string_view answer) {
    return answer.find("too large") != std::string_view::npos;
  };
  EXPECT_FALSE(is_refused(add(ann, "a", is_public)));
  EXPECT_TRUE(is_refused(add(ann, "b", "")));
  EXPECT_FALSE(is_refused(add(bob, "b", is_public)));
  Client eve = join({.name = "eve"});
  EXPECT_TRUE(is_refused(add(eve, "c", is_public)));
  EXPECT_FALSE(is_refused(add(eve, "c", "")));
  // A connection that comes back takes its toolkit over, and needs no more than before.
  Client again = join({.name = "ann"});
  EXPECT_FALSE(is_refused(add(again, "a", is_public)));
  leave(bob);
  EXPECT_FALSE(is_refused(add(ann, "d", is_public)));
}

TEST_F(RoomToolkits, AParticipantIsSentAwayWhenItsTokenExpires) {
  Client ann = join({.name = "ann", .lives_for = milliseconds(5'000)});
  Client bob = join({.name = "bob"});
  host(ann, "t");
  on_home([&] { timers_.advance(milliseconds(4'999)); });
  EXPECT_EQ(ann.take(), "");
  on_home([&] { timers_.advance(milliseconds(1)); });
  EXPECT_EQ(ann.take(), "close 1000 the token has expired\n");
  EXPECT_EQ(names_in(ask(bob, "room.list_toolkits", "{}")), "");
  EXPECT_EQ(ask(ann, "room.list_toolkits", "{}"), "");
  Client eve = join({.name = "eve", .lives_for = milliseconds(5'000)});
  leave(eve);
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(RoomToolkits, TheHoldersOfADeletedKeyAreSentAway) {
  Client ann = join({.name = "ann", .key_id = "k1"});
  Client bob = join({.name = "bob", .key_id = "k2"});
  on_home([&] { room().evict_key("k1", "the room key was deleted"); });
  EXPECT_EQ(ann.take() + bob.take(), "close 1000 the room key was deleted\n");
  EXPECT_EQ(room().counts().participants, 1U);
}

TEST_F(RoomToolkits, NobodyJoinsARoomThatWasClosed) {
  on_home([&] { room().close("the room was deleted"); });
  TestOutlet outlet;
  EXPECT_EQ(try_join(outlet, {.name = "ann"}).error().code(), ErrorCode::unavailable);
}

// A toolkit whose list entry is large.
std::string large_toolkit(std::string_view name) {
  return cat(R"({"name":")", name, R"(","public":true,"description":")", std::string(70'000, 'x'),
             R"(","tools":{"run":{}}})");
}

TEST_F(RoomToolkits, OneLargeListIsOnItsWayAtATime) {
  limits_.lists_of_one_max = 3;
  Client ann = join({.name = "ann"});
  Client bob = join({.name = "bob"});
  ask(ann, "room.register_toolkit", large_toolkit("a"));
  for (std::uint64_t id = 1; id <= 5; ++id) send(bob, id, "room.list_toolkits", "{}");
  std::string seen = bob.take();
  EXPECT_TRUE(seen.starts_with("__response__#1 ")) << seen.substr(0, 40);
  EXPECT_EQ(seen.find("__response__#2 "), std::string::npos);
  EXPECT_TRUE(
      seen.ends_with("__response__#5 {\"type\":\"error\",\"text\":\"too many lists are "
                     "waiting\",\"code\":1008}\n"));

  // What is listed is what there is when the connection is ready for it.
  ask(ann, "room.register_toolkit", large_toolkit("b"));
  on_home([&] { bob.outlet->write(); });
  seen = bob.take();
  EXPECT_TRUE(seen.starts_with("__response__#2 "));
  EXPECT_NE(seen.find(R"("b":{)"), std::string::npos);
  leave(ann);
  on_home([&] { bob.outlet->write(); });
  EXPECT_EQ(bob.take(),
            "__response__#3 {\"type\":\"json\",\"json\":{\"tools\":{}}}\n"
            "__response__#4 {\"type\":\"json\",\"json\":{\"tools\":{}}}\n");
}

}  // namespace
}  // namespace errand::room::test::room_test
