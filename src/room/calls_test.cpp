#include "room/calls.hpp"

#include "room/test_room.hpp"

namespace errand::room::test::calls_test {
namespace {

class RoomCalls : public RoomTest {
 protected:
  // A host "ann" (id1) with toolkit t, and a caller "bob" (id2).
  void start(ClientGeneration host_generation = ClientGeneration::other,
             ClientGeneration caller_generation = ClientGeneration::other,
             std::string_view more = "") {
    ann_ = join({.name = "ann", .generation = host_generation});
    bob_ = join({.name = "bob", .generation = caller_generation});
    host(ann_, "t", more);
  }
  // A call of bob's with the id "c" and the request id 7.
  void call(std::string_view arguments, std::string_view attachment = "") {
    send(bob_, 7, "room.invoke_tool",
         cat(R"({"toolkit":"t","tool":"run","tool_call_id":"c","arguments":)", arguments, "}"),
         attachment);
  }
  void answer(std::string_view content, std::string_view attachment = "") {
    send(ann_, 1, "room.tool_call_response", content, attachment);
  }
  void output(std::string_view chunk, std::string_view attachment = "") {
    send(ann_, 1, "room.tool_call_response_chunk",
         cat(R"({"tool_call_id":"call-1","chunk":)", chunk, "}"), attachment);
  }
  void input(std::uint64_t id, std::string_view chunk, std::string_view attachment = "") {
    send(bob_, id, "room.tool_call_request_chunk",
         cat(R"({"tool_call_id":"c","chunk":)", chunk, "}"), attachment);
  }

  Client ann_;
  Client bob_;
};

const std::string kOpen = R"({"type":"control","method":"open"})";
const std::string kClose = R"({"type":"control","method":"close","status_code":1000})";

std::string to_caller(std::string_view chunk) {
  return cat(R"(room.tool_call_response_chunk#7 {"tool_call_id":"c","toolkit":"t","tool":"run",)",
             R"("chunk":)", chunk, "}\n");
}
std::string to_host(std::string_view chunk) {
  return cat(R"(room.tool_call_request_chunk.t#1 {"tool_call_id":"call-1","chunk":)", chunk, "}\n");
}
std::string response(std::string_view content, int id = 7) {
  return cat("__response__#", id, " ", content, "\n");
}

TEST_F(RoomCalls, GoToTheHostAndBackWithTheirBytes) {
  start();
  send(bob_, 7, "room.invoke_tool",
       R"({"toolkit":"t","tool":"run","on_behalf_of_id":"somebody","caller_context":{"x":1},
           "tool_call_id":"c","participant_id":null,
           "__meshagent__":{"v":1,"otel":{"traceparent":"00-ab-cd-01"}},
           "arguments":{"type":"file","name":"a","mime_type":"b"}})",
       "bytes in");
  EXPECT_EQ(ann_.take(),
            R"(room.tool_call.t#1 {"on_behalf_of_id":"somebody","caller_context":{"x":1},)"
            R"("__meshagent__":{"v":1,"otel":{"traceparent":"00-ab-cd-01"}},"name":"run",)"
            R"("arguments":{"type":"file","name":"a","mime_type":"b"},"caller_id":"id2",)"
            R"("tool_call_id":"call-1"} [bytes in])"
            "\n");
  EXPECT_EQ(bob_.take(), "");
  answer(R"({"type":"binary","headers":{},"__meshagent__":{"v":1}})", "bytes out");
  EXPECT_EQ(bob_.take(), "__response__#7 {\"type\":\"binary\",\"headers\":{}} [bytes out]\n");
  answer(R"({"type":"text","text":"twice"})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, TakePlainJsonAsArguments) {
  start();
  call(R"({"days":3})");
  EXPECT_NE(ann_.take().find(R"("arguments":{"type":"json","json":{"days":3}})"),
            std::string::npos);
}

TEST_F(RoomCalls, AParticipantCanCallItsOwnTools) {
  start();
  send(ann_, 8, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  EXPECT_TRUE(ann_.take().starts_with("room.tool_call.t#1 "));
  answer(R"({"type":"empty"})");
  EXPECT_EQ(ann_.take(), response(R"({"type":"empty"})", 8));
}

TEST_F(RoomCalls, AreAnsweredByTheirHostAlone) {
  start();
  Client eve = join({.name = "eve"});
  call(R"({"type":"empty"})");
  send(eve, 1, "room.tool_call_response", R"({"type":"text","text":"mine"})");
  send(eve, 1, "room.tool_call_response_chunk",
       R"({"tool_call_id":"call-1","chunk":{"type":"text","text":"mine"}})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, AnswersOfUnknownTypesBecomeErrors) {
  struct Row {
    std::string_view answer;
    std::string_view text;
  };
  const Row rows[] = {
      {R"({"type":"later"})", R"(the answer is not one: the content type \"later\" is not known)"},
      {R"({"type":"text"})", R"(the answer is not one: \"text\" has to be a string)"},
      {"NaN", "the answer is not JSON"},
      {R"({"type":"raw","outputs":[]})",
       "the answer is of type raw, which this client does not know"},
  };
  start(ClientGeneration::other, ClientGeneration::old_npm);
  std::uint64_t number = 0;
  for (const Row& row : rows) {
    send(bob_, 7, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
    send(ann_, ++number, "room.tool_call_response", row.answer);
    EXPECT_EQ(bob_.take(),
              response(cat(R"({"type":"error","text":")", row.text, R"(","code":1100})")));
  }
}

TEST_F(RoomCalls, StreamTheirInput) {
  start();
  call(kOpen);
  EXPECT_NE(ann_.take().find(cat("\"arguments\":", kOpen)), std::string::npos);
  input(8, R"({"type":"binary","headers":{}})", "one");
  input(9, kClose);
  EXPECT_EQ(ann_.take(),
            cat(R"(room.tool_call_request_chunk.t#1 {"tool_call_id":"call-1",)",
                R"("chunk":{"type":"binary","headers":{}}} [one])", "\n", to_host(kClose)));
  EXPECT_EQ(bob_.take(), response(R"({"type":"empty"})", 8) + response(R"({"type":"empty"})", 9));
  input(10, R"({"type":"text","text":"after the end"})");
  EXPECT_EQ(ann_.take(), "");
  EXPECT_EQ(bob_.take(), response(R"({"type":"empty"})", 10));
  answer(R"({"type":"text","text":"done"})");
  EXPECT_EQ(bob_.take(), response(R"({"type":"text","text":"done"})"));
}

TEST_F(RoomCalls, StreamTheirOutputWhileTheInputIsOpen) {
  start();
  call(kOpen);
  ann_.take();
  answer(kOpen);
  output(R"({"type":"json","json":1})");
  EXPECT_EQ(bob_.take(), response(kOpen) + to_caller(R"({"type":"json","json":1})"));
  input(8, R"({"type":"json","json":2})");
  EXPECT_EQ(ann_.take(), to_host(R"({"type":"json","json":2})"));
  bob_.take();
  output(R"({"type":"file","name":"f","mime_type":"m"})", "data");
  output(kClose);
  output(R"({"type":"json","json":"progress, late"})");
  EXPECT_EQ(bob_.take(),
            cat(R"(room.tool_call_response_chunk#7 {"tool_call_id":"c","toolkit":"t",)",
                R"("tool":"run","chunk":{"type":"file","name":"f","mime_type":"m"}} [data])", "\n",
                to_caller(kClose), to_caller(R"({"type":"json","json":"progress, late"})")));
  input(9, kClose);
  EXPECT_EQ(ann_.take(), "");
}

TEST_F(RoomCalls, TakeInputThatComesEarly) {
  start();
  input(5, R"({"type":"json","json":1})");
  input(6, kClose);
  EXPECT_EQ(bob_.take(), response(R"({"type":"empty"})", 5) + response(R"({"type":"empty"})", 6));
  call(kOpen);
  std::string seen = ann_.take();
  EXPECT_EQ(seen.substr(seen.find('\n') + 1),
            to_host(R"({"type":"json","json":1})") + to_host(kClose));
}

TEST_F(RoomCalls, ForgetTheOldestOfTooManyEarlyChunks) {
  limits_.early_chunks_max = 2;
  start();
  for (int i = 0; i < 2'000; ++i) {
    input(5, cat(R"({"type":"json","json":)", i, "}"));
    bob_.take();
  }
  call(kOpen);
  std::string seen = ann_.take();
  EXPECT_EQ(seen.substr(seen.find('\n') + 1),
            to_host(R"({"type":"json","json":1998})") + to_host(R"({"type":"json","json":1999})"));
}

TEST_F(RoomCalls, ForgetEarlyChunksThatAreTooLarge) {
  limits_.early_bytes_max = 1000;
  start();
  input(5, R"({"type":"json","json":1})", std::string(600, 'x'));
  input(5, R"({"type":"json","json":2})", std::string(600, 'x'));
  input(5, R"({"type":"json","json":3})", std::string(1001, 'x'));
  call(kOpen);
  std::string seen = ann_.take();
  EXPECT_EQ(seen.find(R"("json":1)"), std::string::npos);
  EXPECT_NE(seen.find(R"("json":2)"), std::string::npos);
  EXPECT_EQ(seen.find(R"("json":3)"), std::string::npos);
}

TEST_F(RoomCalls, PassProgressOnForAWhile) {
  start();
  call(R"({"type":"empty"})");
  output(R"({"step":1})");
  answer(R"({"type":"empty"})");
  output(R"({"step":2})");
  EXPECT_EQ(bob_.take(), to_caller(R"({"step":1})") + response(R"({"type":"empty"})") +
                             to_caller(R"({"step":2})"));
  on_home([&] { timers_.advance(milliseconds(2'001)); });
  send(bob_, 8, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  output(R"({"step":3})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, FailWhenTheirHostLeaves) {
  start();
  call(R"({"type":"empty"})");
  leave(ann_);
  EXPECT_EQ(bob_.take(), response(R"({"type":"error","text":"the host of toolkit t has left the )"
                                  R"(room","code":1008})"));
  EXPECT_EQ(ask(bob_, "room.list_toolkits", "{}"),
            response(R"({"type":"json","json":{"tools":{}}})", 99));
}

TEST_F(RoomCalls, StreamsCloseWhenTheirHostLeaves) {
  start();
  call(R"({"type":"empty"})");
  answer(kOpen);
  bob_.take();
  leave(ann_);
  EXPECT_EQ(bob_.take(), to_caller(R"({"type":"control","method":"close","status_code":1011,)"
                                   R"("message":"the host of toolkit t has left the room"})"));
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomCalls, TellTheHostThatTheCallerHasLeft) {
  start();
  call(kOpen);
  ann_.take();
  leave(bob_);
  EXPECT_EQ(ann_.take(), to_host(R"({"type":"control","method":"close","status_code":1001,)"
                                 R"("message":"the caller has left the room"})"));
  answer(R"({"type":"empty"})");
  EXPECT_EQ(ann_.take(), "");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, AStreamEndsAtAChunkThatCannotBeRead) {
  start();
  call(R"({"type":"empty"})");
  answer(kOpen);
  bob_.take();
  send(ann_, 1, "room.tool_call_response_chunk", "Infinity");
  EXPECT_EQ(bob_.take(), to_caller(R"({"type":"control","method":"close","status_code":1011,)"
                                   R"("message":"a chunk of the answer is not JSON"})"));
}

TEST_F(RoomCalls, InFlightAreBounded) {
  limits_.calls_of_one_max = 1;
  start();
  call(R"({"type":"empty"})");
  call(R"({"type":"empty"})");
  EXPECT_EQ(bob_.take(),
            response(R"({"type":"error","text":"too many calls are in flight","code":1006})"));
  answer(R"({"type":"empty"})");
  EXPECT_EQ(bob_.take(), response(R"({"type":"empty"})"));
  send(bob_, 8, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, WhatTheyKeepIsBounded) {
  limits_.kept_name_bytes_max = 5;
  start();
  const std::string too_long =
      response(R"({"type":"error","text":"the tool_call_id is too long","code":1002})");
  send(bob_, 7, "room.invoke_tool", R"({"toolkit":"t","tool":"run","tool_call_id":"123456"})");
  EXPECT_EQ(bob_.take(), too_long);
  Client eve = join({.name = "eve", .scope = R"({"messaging":{}})"});
  send(eve, 7, "room.invoke_tool",
       R"({"toolkit":"messaging","tool":"stream","tool_call_id":"123456",)"
       R"("arguments":{"type":"control","method":"open"}})");
  EXPECT_EQ(eve.take(), too_long);
  EXPECT_EQ(ann_.take(), "");
  send(bob_, 7, "room.invoke_tool", R"({"toolkit":"t","tool":"run","tool_call_id":"12345"})");
  EXPECT_NE(ann_.take(), "");
}

TEST_F(RoomCalls, ToOneHostAreBounded) {
  limits_.calls_to_one_max = 1;
  start();
  call(R"({"type":"empty"})");
  Client eve = join({.name = "eve"});
  EXPECT_EQ(ask(eve, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})"),
            response(R"({"type":"error","text":"the host has too many calls in flight",)"
                     R"("code":1006})",
                     99));
}

// A host that hangs must not use up the calls of those who give up waiting for it.
TEST_F(RoomCalls, ThatAreGivenUpLeaveRoomForOthers) {
  limits_.calls_of_one_max = 2;
  limits_.calls_to_one_max = 2;
  start();
  for (int i = 0; i < 5; ++i) {
    call(R"({"type":"empty"})");
    input(8, R"({"type":"control","method":"close","status_code":1001})");
    EXPECT_EQ(bob_.take(), response(R"({"type":"error","text":"the caller has given the call up",)"
                                    R"("code":1008})") +
                               response(R"({"type":"empty"})", 8));
  }
  EXPECT_EQ(room().counts().calls, 0U);
  ann_.take();
  // The late answer of the first call is nobody's.
  answer(R"({"type":"text","text":"late"})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, AStreamThatIsGivenUpClosesAtBothEnds) {
  start();
  call(kOpen);
  answer(kOpen);
  ann_.take();
  bob_.take();
  const std::string gone = R"({"type":"control","method":"close","status_code":1001})";
  input(8, gone);
  EXPECT_EQ(ann_.take(), to_host(gone));
  EXPECT_EQ(bob_.take(), to_caller(R"({"type":"control","method":"close","status_code":1001,)"
                                   R"("message":"the caller has given the call up"})") +
                             response(R"({"type":"empty"})", 8));
  output(R"({"type":"text","text":"late"})");
  EXPECT_EQ(bob_.take(), "");
  EXPECT_EQ(room().counts().calls, 0U);
}

// Only hosts that ask for it learn that a call with a single input was given up.
TEST_F(RoomCalls, ThatAreGivenUpReachHostsThatCanCancel) {
  start();
  call(R"({"type":"empty"})");
  ann_.take();
  input(8, R"({"type":"control","method":"close","status_code":1001})");
  EXPECT_EQ(ann_.take(), "");
  Client eve = join({.name = "eve"});
  send(eve, 99, "room.register_toolkit",
       R"({"name":"u","public":true,"tools":{"run":{}},"annotations":{"errand.cancel":"true"}})");
  send(bob_, 9, "room.invoke_tool", R"({"toolkit":"u","tool":"run","tool_call_id":"d"})");
  eve.take();
  send(bob_, 10, "room.tool_call_request_chunk",
       R"({"tool_call_id":"d","chunk":{"type":"control","method":"close","status_code":1001}})");
  EXPECT_EQ(eve.take(), R"(room.tool_call_request_chunk.u#2 {"tool_call_id":"call-2","chunk":)"
                        R"({"type":"control","method":"close","status_code":1001}})"
                        "\n");
}

TEST_F(RoomCalls, AnInputThatEndsNormallyGivesNothingUp) {
  start();
  call(kOpen);
  input(8, kClose);
  bob_.take();
  answer(R"({"type":"text","text":"done"})");
  EXPECT_EQ(bob_.take(), response(R"({"type":"text","text":"done"})"));
}

// A close without a stream would look like progress.
TEST_F(RoomCalls, AHostThatClosesAfterItsAnswerIsNotHeard) {
  start();
  call(R"({"type":"empty"})");
  answer(R"({"type":"empty"})");
  output(kClose);
  EXPECT_EQ(bob_.take(), response(R"({"type":"empty"})"));
}

TEST_F(RoomCalls, ItemsThatACallerDoesNotKnowBecomeErrors) {
  start(ClientGeneration::other, ClientGeneration::old_npm);
  call(R"({"type":"empty"})");
  answer(kOpen);
  output(R"({"type":"raw","outputs":[]})");
  EXPECT_EQ(bob_.take(),
            response(kOpen) + to_caller(R"({"type":"error","text":"the answer is of type raw, )"
                                        R"(which this client does not know","code":1100})"));
}

TEST_F(RoomCalls, HaveOneIdEach) {
  start();
  call(R"({"type":"empty"})");
  call(R"({"type":"empty"})");
  EXPECT_EQ(bob_.take(), response(R"({"type":"error","text":"a call with this tool_call_id is in )"
                                  R"(flight","code":1002})"));
}

struct InputRow {
  std::string_view arguments;
  std::string_view seen;  // the arguments that reach the host, or the refusal
};

TEST_F(RoomCalls, InputIsCheckedForHostsThatDoNotCheckIt) {
  start(ClientGeneration::old_npm, ClientGeneration::other,
        R"("input_spec":{"types":["json"],"schema":{"type":"object","required":["days","unit"],
           "properties":{"days":{"$ref":"#/$defs/Days"},"unit":{"type":["string","null"]}}}},
           "defs":{"Days":{"type":"integer"}})");
  const InputRow rows[] = {
      {R"({"type":"json","json":{"days":1,"unit":"h"}})",
       R"("arguments":{"type":"json","json":{"days":1,"unit":"h"}})"},
      {R"({"type":"json","json":{"days":1}})",
       R"("arguments":{"type":"json","json":{"days":1,"unit":null}})"},
      {R"({"type":"json","json":{"days":"1"}})",
       "tool 'run' input does not match input_schema: /days"},
      {R"({"type":"json","json":[]})", "tool 'run' input does not match input_schema: "},
      {R"({"type":"empty"})", "tool 'run' input does not match input_schema: "},
      {R"({"type":"text","text":"x"})", "tool 'run' does not take input of type text"},
      {R"({"type":"control","method":"open"})", "tool 'run' does not take streamed input"},
  };
  for (const InputRow& row : rows) {
    send(bob_, 7, "room.invoke_tool",
         cat(R"({"toolkit":"t","tool":"run","arguments":)", row.arguments, "}"));
    std::string seen = ann_.take() + bob_.take();
    EXPECT_NE(seen.find(row.seen), std::string::npos) << seen;
    EXPECT_EQ(seen.find("1002") != std::string::npos, row.seen.starts_with("tool")) << seen;
  }
}

TEST_F(RoomCalls, InputIsPassedOnUncheckedToHostsThatCheckIt) {
  start(ClientGeneration::other, ClientGeneration::other,
        R"("input_spec":{"types":["json"],"schema":{"type":"object"}})");
  call(R"({"type":"text","text":"3"})");
  EXPECT_NE(ann_.take().find(R"("arguments":{"type":"text","text":"3"})"), std::string::npos);
}

TEST_F(RoomCalls, AnIdIsFreeOnceItsCallIsAnswered) {
  start();
  call("{}");
  answer(R"({"type":"empty"})");
  bob_.take();
  send(bob_, 8, "room.invoke_tool", R"({"toolkit":"t","tool":"run","tool_call_id":"c"})");
  EXPECT_EQ(bob_.take(), "");
  send(ann_, 2, "room.tool_call_response", R"({"type":"text","text":"second"})");
  EXPECT_EQ(bob_.take(), response(R"({"type":"text","text":"second"})", 8));
  // Late progress of the first call has nowhere to go.
  output(R"({"type":"json","json":{}})");
  EXPECT_EQ(bob_.take(), "");
}

TEST_F(RoomCalls, AStreamForACallWithoutAnIdIsAnError) {
  start();
  send(bob_, 7, "room.invoke_tool", R"({"toolkit":"t","tool":"run"})");
  answer(kOpen);
  EXPECT_EQ(
      bob_.take(),
      response(R"({"type":"error","text":"the tool answers with a stream, for which the call )"
               R"(needs a tool_call_id","code":1100})"));
  output(kClose);
  EXPECT_EQ(bob_.take(), "");
}

}  // namespace
}  // namespace errand::room::test::calls_test
