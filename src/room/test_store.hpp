#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "room/room_store.hpp"

namespace errand::room::test {

// Keeps queues and files in memory, carries out changes when the test says so, and can fail.
class TestStore final : public RoomStore {
 public:
  void load_queues(Loaded loaded) override {
    orders.push_back([this, loaded = std::move(loaded)] {
      if (is_failing) return loaded(Error(ErrorCode::unavailable, "the store is away"));
      std::vector<StoredQueue> all;
      for (const auto& [name, items] : kept) all.push_back({.name = name, .items = items});
      loaded(std::move(all));
    });
  }
  void add_queue(std::string queue, Done done) override {
    change(std::move(done), [this, queue] { kept[queue]; });
  }
  void remove_queue(std::string queue, Done done) override {
    change(std::move(done), [this, queue] { kept.erase(queue); });
  }
  void add_item(std::string queue, StoredItem item, WithQueue with_queue, Done done) override {
    change(std::move(done), [this, queue, item, with_queue] {
      ERRAND_ASSERT(with_queue == WithQueue::yes || kept.contains(queue));
      kept[queue].push_back(item);
    });
  }
  void remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) override {
    change(std::move(done), [this, queue, seqs] {
      std::erase_if(kept[queue], [&](const StoredItem& item) {
        return std::find(seqs.begin(), seqs.end(), item.seq) != seqs.end();
      });
    });
  }

  void load_files(LoadedFiles loaded) override {
    orders.push_back([this, loaded = std::move(loaded)] {
      if (is_failing) return loaded(Error(ErrorCode::unavailable, "the store is away"));
      std::vector<StoredFile> all;
      for (const auto& [path, file] : files) all.push_back(file);
      loaded(std::move(all));
    });
  }
  void begin_content(std::string content, Done done) override {
    change(std::move(done), [this, content] { parts[content]; });
  }
  void add_part(std::string content, std::uint64_t number, std::string bytes, Done done) override {
    change(std::move(done), [this, content, number, bytes] {
      ERRAND_ASSERT(parts.at(content).size() == number);
      parts[content].push_back(bytes);
    });
  }
  void read_part(std::string content, std::uint64_t number, LoadedPart loaded) override {
    orders.push_back([this, content, number, loaded = std::move(loaded)] {
      if (is_failing) return loaded(Error(ErrorCode::unavailable, "the store is away"));
      auto found = parts.find(content);
      if (found == parts.end()) return loaded(Error(ErrorCode::not_found, "the part is gone"));
      loaded(found->second.at(number));
    });
  }
  void change_files(FileChanges changes, Done done) override {
    change(std::move(done), [this, changes] {
      for (const std::string& path : changes.removed) files.erase(path);
      for (const StoredFile& file : changes.put) files[file.path] = file;
    });
  }
  void drop_content(std::string content) override {
    change([](const Result<void>&) {},
           [this, content] {
             for (const auto& [path, file] : files) {
               if (file.content == content) return;
             }
             parts.erase(content);
           });
  }

  void run_one() {
    auto order = std::move(orders.front());
    orders.pop_front();
    order();
  }
  void run() {
    while (!orders.empty()) run_one();
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, items] : kept) {
      append(out, name, ":");
      for (const StoredItem& item : items) append(out, " ", item.body);
      out += ";";
    }
    return out;
  }

  std::map<std::string, std::vector<StoredItem>> kept;
  std::map<std::string, StoredFile> files;
  std::map<std::string, std::vector<std::string>> parts;  // by content
  std::deque<std::function<void()>> orders;
  bool is_failing = false;

 private:
  void change(Done done, std::function<void()> what) {
    orders.push_back([this, done = std::move(done), what = std::move(what)] {
      if (is_failing) return done(Error(ErrorCode::unavailable, "the store is away"));
      what();
      done({});
    });
  }
};

}  // namespace errand::room::test
