#include "room/developer_logs.hpp"

#include "json/write.hpp"

namespace errand::room {

class DeveloperLogs::Listener final : public LocalCall {
 public:
  Listener(DeveloperLogs& logs, Calls::Reply reply) : logs_(logs), reply_(reply) {
    logs_.listeners_.insert(this);
  }
  ~Listener() override { logs_.listeners_.erase(this); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void take_input(const Content& chunk) override {
    if (is_close(chunk.header)) reply_.output(close_content());
  }
  void tell(const Content& line) const { reply_.output(line); }

 private:
  DeveloperLogs& logs_;
  const Calls::Reply reply_;
};

std::shared_ptr<LocalCall> DeveloperLogs::listen(Calls::Reply reply) {
  return std::make_shared<Listener>(*this, reply);
}

void DeveloperLogs::tell(std::string_view type, const json::Object& data) const {
  std::string text;
  json::write(text, data);
  const Content line = binary_content({{"type", type}}, std::move(text));
  for (const Listener* listener : listeners_) listener->tell(line);
}

}  // namespace errand::room
