#include "room/storage.hpp"

#include "json/members.hpp"
#include "room/test_room.hpp"
#include "room/test_store.hpp"

namespace errand::room::test::storage_test {
namespace {

constexpr std::string_view kFiles = R"({"storage":{}})";
constexpr std::size_t kBlock = 64U * 1024;

class RoomStorage : public RoomTest {
 protected:
  RoomStorage() { store_ = &disk_; }

  void settle() {
    on_home([this] { disk_.run(); });
  }
  std::string use(const Client& client, std::string_view tool, std::string_view arguments) {
    send(client, 99, "room.invoke_tool",
         cat(R"({"toolkit":"storage","tool":")", tool, R"(","arguments":{"type":"json","json":)",
             arguments, "}}"));
    settle();
    return client.take();
  }
  Client user(std::string name, std::string_view scope = kFiles) {
    return join({.name = std::move(name), .scope = scope});
  }
  // Begins a transfer with the id "c" and the request id 7.
  void begin(const Client& client, std::string_view tool, std::string_view start) {
    send(client, 7, "room.invoke_tool",
         cat(R"({"toolkit":"storage","tool":")", tool,
             R"(","tool_call_id":"c","arguments":{"type":"control","method":"open"}})"));
    chunk(client, cat(R"({"kind":"start",)", start, "}"));
  }
  // Without the answer that every chunk gets.
  void chunk(const Client& client, std::string_view headers, std::string_view bytes = "") {
    give(client, cat(R"({"type":"binary","headers":)", headers, "}"), bytes);
  }
  void give(const Client& client, std::string_view content, std::string_view bytes = "") {
    send(client, 8, "room.tool_call_request_chunk",
         cat(R"({"tool_call_id":"c","chunk":)", content, "}"), bytes);
  }
  void close(const Client& client) {
    give(client, R"({"type":"control","method":"close","status_code":1000})");
  }
  // What came of a transfer: "open", "pull", "data:BYTES", "start:SIZE:TYPE", "close",
  // "error:CODE".
  static std::string seen(const Client& client) {
    std::string all;
    std::string text = client.take();
    std::string_view rest = text;
    while (!rest.empty()) {
      std::string_view line = take_line(rest);
      if (line.starts_with("__response__#8 ")) continue;
      append(all, shown(line), " ");
    }
    return all;
  }
  static std::string shown(std::string_view line) {
    std::size_t begin = line.find('{');
    std::size_t end = line.rfind('}') + 1;
    auto header = json::parse(line.substr(begin, end - begin)).value().as_object();
    if (line.starts_with("storage.")) return std::string(line.substr(0, line.find('#')));
    const json::Object* chunk = json::object_at(&header, "chunk");
    const json::Object& content = chunk ? *chunk : header;
    if (is_open(content)) return "open";
    if (is_close(content)) return "close";
    if (kind_of(content) == ContentKind::error) {
      return cat("error:", json::integer_at(&content, "code").value_or(0));
    }
    const json::Object* headers = json::object_at(&content, "headers");
    std::string kind(json::text_at(headers, "kind"));
    if (kind == "start") {
      return cat(kind, ":", json::integer_at(headers, "size").value_or(-1), ":",
                 json::text_at(headers, "name"), ":", json::text_at(headers, "mime_type"));
    }
    if (kind != "data") return kind;
    return cat(kind, ":", line.size() - end < 3 ? 0 : line.size() - end - 3);
  }
  // Uploads a file as clients do; what came of it.
  std::string upload(const Client& client, std::string_view path, const std::string& bytes,
                     std::string_view more = R"("overwrite":true)") {
    begin(client, "upload",
          cat(R"("path":")", path, R"(","size":)", bytes.size(), R"(,"mime_type":"text/plain",)",
              more));
    settle();
    std::string all = seen(client);
    std::size_t sent = 0;
    while (all.ends_with("pull ")) {
      std::string block = bytes.substr(sent, kBlock);
      sent += block.size();
      chunk(client, R"({"kind":"data"})", block);
      settle();
      all = seen(client);
    }
    close(client);
    client.take();
    return all;
  }
  std::string download(const Client& client, std::string_view path) {
    begin(client, "download", cat(R"("path":")", path, R"(","chunk_size":100000)"));
    settle();
    std::string all = seen(client);
    while (!all.ends_with("close ") && all.find("error") == std::string::npos) {
      chunk(client, R"({"kind":"pull"})");
      settle();
      all += seen(client);
    }
    close(client);
    client.take();
    return all;
  }

  TestStore disk_;
};

std::string answered(std::string_view json) {
  return cat(R"(__response__#99 {"type":"json","json":)", json, "}\n");
}
std::string refused(std::string_view text, int code) {
  return cat(R"(__response__#99 {"type":"error","text":")", text, R"(","code":)", code, "}\n");
}
const std::string kEmptyAnswer = "__response__#99 {\"type\":\"empty\"}\n";
const std::string kUploaded = "close storage.file.updated ";

TEST_F(RoomStorage, GivesBackWhatItTook) {
  Client ann = user("ann");
  EXPECT_EQ(upload(ann, "a.txt", ""), "open " + kUploaded);
  EXPECT_EQ(upload(ann, "b/c.txt", std::string(kBlock + 1, 'x')), kUploaded);
  EXPECT_EQ(upload(ann, "large", std::string(300'000, 'y')), kUploaded);
  EXPECT_EQ(download(ann, "a.txt"), "open start:0:a.txt:text/plain close ");
  EXPECT_EQ(download(ann, "b/c.txt"), "open start:65537:c.txt:text/plain data:65537 close ");
  // A block ends with the part that is stored.
  EXPECT_EQ(download(ann, "/large"),
            "open start:300000:large:text/plain data:100000 data:100000 data:62144 data:37856 "
            "close ");
  EXPECT_EQ(disk_.parts.size(), 3U);
}

TEST_F(RoomStorage, OutlivesTheRoom) {
  Client ann = user("ann");
  upload(ann, "a/b", "text");
  room_.reset();
  Client bob = user("bob");
  EXPECT_EQ(download(bob, "a/b"), "open start:4:b:text/plain data:4 close ");
}

TEST_F(RoomStorage, ListsFoldersAndFiles) {
  Client ann = user("ann");
  for (std::string_view path : {"a/x", "a/y/z", "a-b", "b"}) upload(ann, path, "1234");
  const std::string file = R"("is_folder":false,"size":4,"created_at":"2027-01-15T08:00:00.000Z",)"
                           R"("updated_at":"2027-01-15T08:00:00.000Z"})";
  const std::string folder = R"("is_folder":true,"size":null,"created_at":null,"updated_at":null})";
  EXPECT_EQ(use(ann, "list", R"({"path":""})"),
            answered(cat(R"({"files":[{"name":"a",)", folder, R"(,{"name":"a-b",)", file,
                         R"(,{"name":"b",)", file, "]}")));
  EXPECT_EQ(use(ann, "list", R"({"path":"a/"})"),
            answered(cat(R"({"files":[{"name":"x",)", file, R"(,{"name":"y",)", folder, "]}")));
  EXPECT_EQ(use(ann, "list", R"({"path":".schemas"})"), answered(R"({"files":[]})"));
  EXPECT_EQ(use(ann, "stat", R"({"path":"a/x"})"),
            answered(cat(R"({"exists":true,"name":"x",)", file)));
  EXPECT_EQ(use(ann, "stat", R"({"path":"a/y"})"),
            answered(cat(R"({"exists":true,"name":"y",)", folder)));
  EXPECT_EQ(use(ann, "stat", R"({"path":"none"})"), answered(R"({"exists":false})"));
  EXPECT_EQ(use(ann, "exists", R"({"path":"a"})"), answered(R"({"exists":true})"));
  EXPECT_EQ(use(ann, "exists", R"({"path":"c"})"), answered(R"({"exists":false})"));
  EXPECT_EQ(use(ann, "download_url", R"({"path":"a/x"})"),
            answered(R"({"url":"ws://x/rooms/r/a/x"})"));
  EXPECT_EQ(use(ann, "download_url", R"({"path":"a"})"), refused("file a was not found", 3001));
}

TEST_F(RoomStorage, AddressesOfFilesAreWhereTheAskerReachesTheRoom) {
  Client eve = join({.name = "eve", .scope = kFiles, .url = "ws://evil/rooms/r"});
  Client ann = user("ann");
  upload(ann, "a", "1");
  eve.take();
  EXPECT_EQ(use(ann, "download_url", R"({"path":"a"})"), answered(R"({"url":"ws://x/rooms/r/a"})"));
  EXPECT_EQ(use(eve, "download_url", R"({"path":"a"})"),
            answered(R"({"url":"ws://evil/rooms/r/a"})"));
}

TEST_F(RoomStorage, DeletesFilesAndFolders) {
  Client ann = user("ann");
  for (std::string_view path : {"a/x", "a/y", "b"}) upload(ann, path, "1");
  EXPECT_EQ(use(ann, "delete", R"({"path":"a","recursive":null})"),
            refused("a is a folder, which is deleted only with recursive", 3002));
  EXPECT_EQ(use(ann, "delete", R"({"path":"a","recursive":true})"),
            kEmptyAnswer + R"(storage.file.deleted#0 {"path":"a","participant_id":"id1"})" + "\n");
  EXPECT_EQ(use(ann, "delete", R"({"path":"b","recursive":true})"),
            kEmptyAnswer + R"(storage.file.deleted#0 {"path":"b","participant_id":"id1"})" + "\n");
  EXPECT_EQ(use(ann, "delete", R"({"path":"b"})"), refused("file b was not found", 3001));
  EXPECT_EQ(use(ann, "delete", R"({"path":""})"), refused("the path is not valid", 3004));
  EXPECT_EQ(disk_.files.size() + disk_.parts.size(), 0U);
}

TEST_F(RoomStorage, MovesFilesAndFolders) {
  Client ann = user("ann");
  for (std::string_view path : {"a/x", "b", "c"}) upload(ann, path, std::string(path));
  auto move = [&](std::string_view from, std::string_view to, std::string_view overwrite) {
    return use(ann, "move",
               cat(R"({"source_path":")", from, R"(","destination_path":")", to,
                   R"(","overwrite":)", overwrite, "}"));
  };
  EXPECT_EQ(move("b", "c", "false"), refused("c exists already", 3005));
  EXPECT_EQ(move("b", "a", "true"), refused("a exists already", 3005));
  EXPECT_EQ(move("none", "d", "false"), refused("file none was not found", 3001));
  EXPECT_EQ(move("a", "a/b", "false"), refused("the path is not valid", 3004));
  EXPECT_EQ(move("a/x", "a", "true"), refused("a exists already", 3005));
  EXPECT_EQ(move("b", "c", "true"),
            kEmptyAnswer + R"(storage.file.moved#0 {"source_path":"b","destination_path":"c",)" +
                R"("participant_id":"id1"})" + "\n");
  EXPECT_EQ(use(ann, "exists", R"({"path":"b"})"), answered(R"({"exists":false})"));
  EXPECT_EQ(download(ann, "c"), "open start:1:c:text/plain data:1 close ");
  move("a", "d/e", "false");
  EXPECT_EQ(download(ann, "d/e/x"), "open start:3:x:text/plain data:3 close ");
  EXPECT_EQ(disk_.files.size(), 2U);
  EXPECT_EQ(disk_.parts.size(), 2U);
}

TEST_F(RoomStorage, RefusesAnUpload) {
  Client ann =
      user("ann", R"({"storage":{"paths":[{"path":"in"},{"path":"out","read_only":true}]}})");
  upload(ann, "in/a", "1");
  EXPECT_EQ(upload(ann, "in/a", "2", R"("overwrite":false)"), "error:3005 ");
  EXPECT_EQ(upload(ann, "in", "2"), "error:3005 ");
  EXPECT_EQ(upload(ann, "in/a/b", "2"), "error:3005 ");
  EXPECT_EQ(upload(ann, "out/a", "2"), "error:1001 ");
  EXPECT_EQ(upload(ann, "../a", "2"), "error:3004 ");
  EXPECT_EQ(upload(ann, "", "2"), "error:3004 ");
  EXPECT_EQ(upload(ann, "in/b", "2", R"("size":-1)"), "error:1002 ");
  EXPECT_EQ(download(ann, "elsewhere"), "error:1001 ");
  EXPECT_EQ(download(ann, "in/none"), "error:3001 ");
  EXPECT_EQ(use(ann, "stat", R"({"path":"elsewhere"})"),
            refused("the token does not allow this path", 1001));
  EXPECT_EQ(disk_.files.size(), 1U);
  EXPECT_EQ(disk_.parts.size(), 1U);
}

TEST_F(RoomStorage, KeepsNothingOfAnUploadThatWasCutOff) {
  Client ann = user("ann");
  upload(ann, "a", "old");
  begin(ann, "upload", R"("path":"a","size":100000,"overwrite":true)");
  settle();
  chunk(ann, R"({"kind":"data"})", std::string(kBlock, 'n'));
  settle();
  EXPECT_EQ(seen(ann), "open pull pull ");
  close(ann);
  settle();
  EXPECT_EQ(seen(ann), "error:1002 close ");
  Client bob = user("bob");
  begin(bob, "upload", R"("path":"a","size":100000,"overwrite":true)");
  settle();
  leave(bob);
  settle();
  EXPECT_EQ(download(ann, "a"), "open start:3:a:text/plain data:3 close ");
  EXPECT_EQ(disk_.parts.size(), 1U);
}

TEST_F(RoomStorage, TakesAnUploadOfUnknownSize) {
  Client ann = user("ann");
  begin(ann, "upload", R"("path":"a","size":null)");
  settle();
  chunk(ann, R"({"kind":"data"})", "some");
  settle();
  close(ann);
  settle();
  EXPECT_EQ(seen(ann), "open pull pull close storage.file.updated ");
  EXPECT_EQ(download(ann, "a"), "open start:4:a:application/octet-stream data:4 close ");
}

TEST_F(RoomStorage, AnUploadOfUnknownSizeThatIsGivenUpLeavesTheFileAsItWas) {
  constexpr std::string_view kGivenUp = R"({"type":"control","method":"close","status_code":1001})";
  Client ann = user("ann");
  upload(ann, "a", "old text");
  const auto parts = disk_.parts;
  begin(ann, "upload", R"("path":"a","size":null,"overwrite":true)");
  settle();
  chunk(ann, R"({"kind":"data"})", "some");
  settle();
  give(ann, kGivenUp);
  settle();
  EXPECT_EQ(seen(ann), "open pull pull error:1002 close ");
  EXPECT_EQ(disk_.parts, parts);
  // While a part is on its way to the store.
  begin(ann, "upload", R"("path":"a","size":null,"overwrite":true)");
  settle();
  for (int i = 0; i < 4; ++i) chunk(ann, R"({"kind":"data"})", std::string(kBlock, 'x'));
  give(ann, kGivenUp);
  settle();
  EXPECT_EQ(disk_.parts, parts);
  seen(ann);
  EXPECT_EQ(download(ann, "a"), "open start:8:a:text/plain data:8 close ");
}

TEST_F(RoomStorage, AFileStaysReadableForThoseWhoReadIt) {
  Client ann = user("ann");
  Client bob = user("bob");
  upload(ann, "a", "old text");
  begin(bob, "download", R"("path":"a","chunk_size":4)");
  settle();
  chunk(bob, R"({"kind":"pull"})");
  settle();
  upload(ann, "a", "new");
  chunk(bob, R"({"kind":"pull"})");
  settle();
  EXPECT_EQ(seen(bob),
            "storage.file.updated open start:8:a:text/plain data:4 storage.file.updated data:4 "
            "close ");
  settle();
  EXPECT_EQ(disk_.parts.size(), 1U);
  EXPECT_EQ(download(bob, "a"), "open start:3:a:text/plain data:3 close ");
}

TEST_F(RoomStorage, TellsThoseWhoMaySeeTheFile) {
  Client ann = user("ann");
  Client in = user("in", R"({"storage":{"paths":[{"path":"in"}]}})");
  Client out = user("out", R"({"storage":{"paths":[{"path":"out","read_only":true}]}})");
  Client none = user("none", R"({"agents":{}})");
  upload(ann, "in/a", "1");
  use(ann, "move", R"({"source_path":"in/a","destination_path":"out/a"})");
  EXPECT_EQ(in.take(),
            "storage.file.updated#0 {\"path\":\"in/a\",\"participant_id\":\"id1\"}\n"
            "storage.file.deleted#0 {\"path\":\"in/a\",\"participant_id\":\"id1\"}\n");
  EXPECT_EQ(out.take(), "storage.file.updated#0 {\"path\":\"out/a\",\"participant_id\":\"id1\"}\n");
  EXPECT_EQ(none.take(), "");
}

TEST_F(RoomStorage, LooksAgainAfterAChangeThatFailed) {
  Client ann = user("ann");
  upload(ann, "a", "1");
  disk_.is_failing = true;
  EXPECT_EQ(use(ann, "delete", R"({"path":"a"})"), refused("the store is away", 1008));
  EXPECT_EQ(use(ann, "list", R"({"path":""})"), refused("the store is away", 1008));
  disk_.is_failing = false;
  EXPECT_EQ(use(ann, "exists", R"({"path":"a"})"), answered(R"({"exists":true})"));
}

TEST_F(RoomStorage, IsBounded) {
  limits_.files_max = 2;
  limits_.file_bytes_max = 10;
  limits_.files_bytes_max = 15;
  limits_.file_path_bytes_max = 5;
  limits_.transfers_of_one_max = 1;
  Client ann = user("ann");
  EXPECT_EQ(upload(ann, "a", std::string(11, 'x')), "error:1008 ");
  EXPECT_EQ(upload(ann, "abcdef", "x"), "error:3004 ");
  EXPECT_EQ(upload(ann, "a", std::string(10, 'x')), kUploaded);
  EXPECT_EQ(upload(ann, "b", std::string(6, 'x')), "error:1008 ");
  EXPECT_EQ(upload(ann, "b", std::string(5, 'x')), kUploaded);
  EXPECT_EQ(upload(ann, "c", ""), "error:1008 ");
  begin(ann, "upload", R"("path":"a","size":null,"overwrite":true)");
  settle();
  chunk(ann, R"({"kind":"data"})", std::string(11, 'x'));
  settle();
  EXPECT_EQ(seen(ann), "open pull error:1008 close ");
  begin(ann, "download", R"("path":"a")");
  send(ann, 17, "room.invoke_tool",
       R"({"toolkit":"storage","tool":"download","tool_call_id":"d",)"
       R"("arguments":{"type":"control","method":"open"}})");
  send(ann, 8, "room.tool_call_request_chunk",
       R"({"tool_call_id":"d","chunk":{"type":"binary","headers":{"kind":"start","path":"a"}}})");
  settle();
  EXPECT_EQ(seen(ann), "open start:10:a:text/plain error:1008 ");
}

TEST_F(RoomStorage, TakesNoRequestThatIsTooLong) {
  limits_.file_call_bytes_max = 120;
  Client ann = user("ann");
  EXPECT_EQ(use(ann, "exists", R"({"path":"a"})"), answered(R"({"exists":false})"));
  EXPECT_NE(use(ann, "exists", cat(R"({"path":"a","x":")", std::string(120, 'x'), "\"}"))
                .find("\"code\":1002"),
            std::string::npos);
}

TEST_F(RoomStorage, AnswersEveryMistakeOfAClient) {
  Client ann = user("ann");
  upload(ann, "a", "1");
  EXPECT_EQ(use(ann, "upload", "{}"), refused("storage.upload takes a stream", 1002));
  EXPECT_EQ(use(ann, "copy", "{}"), refused("tool copy was not found", 1003));
  send(ann, 99, "room.invoke_tool",
       R"({"toolkit":"storage","tool":"download","arguments":{"type":"control","method":"open"}})");
  EXPECT_EQ(ann.take(), refused("a streamed call needs a tool_call_id", 1002));
  for (std::string_view tool : {"upload", "download"}) {
    begin(ann, tool, R"("kind":"pull")");
    settle();
    EXPECT_EQ(seen(ann), "error:1002 ");
  }
  begin(ann, "upload", R"("path":"b","size":1)");
  settle();
  give(ann, R"({"type":"json","json":{}})");
  EXPECT_EQ(seen(ann), "open pull error:1002 close ");
  begin(ann, "upload", R"("path":"b","size":1)");
  settle();
  chunk(ann, R"({"kind":"data"})", "too much");
  EXPECT_EQ(seen(ann), "open pull error:1002 close ");
  begin(ann, "upload", R"("path":"b","size":1000000)");
  settle();
  chunk(ann, R"({"kind":"data"})", std::string(kBlock + 1, 'x'));
  EXPECT_EQ(seen(ann), "open pull error:1002 close ");
  settle();
  EXPECT_EQ(disk_.parts.size(), 1U);
}

TEST_F(RoomStorage, ARoomWithoutAStoreHasNone) {
  store_ = nullptr;
  Client ann = user("ann");
  EXPECT_EQ(use(ann, "list", R"({"path":""})"), refused("toolkit storage was not found", 1003));
}

}  // namespace
}  // namespace errand::room::test::storage_test
