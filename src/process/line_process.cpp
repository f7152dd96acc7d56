#include "process/line_process.hpp"

#include <utility>

namespace errand::process {

Result<std::unique_ptr<LineProcess>> LineProcess::spawn(const Executor& home,
                                                        ProcessOptions options,
                                                        std::size_t line_bytes_max) {
  options.input = ProcessOptions::Input::open;
  options.errors = ProcessOptions::Errors::apart;
  ERRAND_TRY(auto process, Subprocess::spawn(home, options));
  return std::unique_ptr<LineProcess>(new LineProcess(std::move(process), line_bytes_max));
}

Result<void> LineProcess::send(std::string line) {
  line.push_back('\n');
  return process_->send(std::move(line));
}

Task<std::optional<Line>> LineProcess::receive() {
  for (;;) {
    if (auto line = lines_.take()) co_return line;
    ProcessEvent event = co_await process_->next(SteadyTime::max());
    if (event.kind == ProcessEvent::Kind::ended) co_return std::nullopt;
    lines_.feed(event.output);
  }
}

Task<void> LineProcess::stop() {
  return process_->stop();
}

}  // namespace errand::process
