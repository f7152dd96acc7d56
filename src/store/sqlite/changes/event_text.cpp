#include "store/sqlite/changes/event_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "run/log/event.hpp"

namespace errand::sqlite {
namespace {

// A line of such a kind consists of kSeqLead, the seq, `lead`, a text and kEventTail. Only `mark`,
// with which no JSON begins, and the text are stored. The text may end its string and be followed
// by more members.
struct KeptKind {
  char mark;
  std::string_view type;
  std::string_view lead;
};
constexpr std::string_view kSeqLead = R"({"seq":)";
constexpr std::string_view kEventTail = "}\n";
constexpr std::array<KeptKind, 2> kKeptKinds = {{
    {.mark = '\x01',
     .type = AssistantDelta::kType,
     .lead = R"(,"type":"assistant_delta","text":")"},
    {.mark = '\x02', .type = ThinkingDelta::kType, .lead = R"(,"type":"thinking_delta","text":")"},
}};
constexpr std::size_t kSeqDigitsMax = std::numeric_limits<EventSeq>::digits10 + 2;

constexpr bool is_sound(const KeptKind& kind) {
  const std::size_t saved = kSeqLead.size() + kSeqDigitsMax + kind.lead.size() + 1;
  return kind.lead.find(kind.type) != std::string_view::npos && saved <= kEventSavedMax;
}
static_assert(std::ranges::all_of(kKeptKinds, is_sound));

// The beginning of a line with a given seq.
class SeqHead final {
 public:
  explicit SeqHead(EventSeq seq) {
    char* const digits = std::copy(kSeqLead.begin(), kSeqLead.end(), text_.begin());
    end_ = std::to_chars(digits, text_.end(), seq).ptr;
  }
  std::string_view view() const { return {text_.begin(), end_}; }

 private:
  std::array<char, kSeqLead.size() + kSeqDigitsMax> text_;
  char* end_;
};

// Takes the next line with its line end, which the last line may lack.
std::string_view take_whole_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end == rest.npos ? end : end + 1);
  rest.remove_prefix(line.size());
  return line;
}

void keep_event(std::string& kept, std::string_view line, EventSeq seq) {
  const SeqHead head(seq);
  if (line.starts_with(head.view()) && line.ends_with(kEventTail)) {
    const std::string_view rest = line.substr(head.view().size());
    for (const KeptKind& kind : kKeptKinds) {
      if (!rest.starts_with(kind.lead)) continue;
      kept += kind.mark;
      kept += rest.substr(kind.lead.size(), rest.size() - kind.lead.size() - kEventTail.size());
      kept += '\n';
      return;
    }
  }
  kept += line;
}

}  // namespace

std::string kept_events(std::string_view events, EventSeq first_seq) {
  std::string kept;
  kept.reserve(events.size());
  for (EventSeq seq = first_seq; !events.empty(); ++seq) {
    keep_event(kept, take_whole_line(events), seq);
  }
  return kept;
}

std::string whole_events(std::string_view kept, EventSeq first_seq) {
  std::string events;
  for (EventSeq seq = first_seq; !kept.empty(); ++seq) {
    const std::string_view line = take_whole_line(kept);
    const auto* kind = std::ranges::find(kKeptKinds, line.front(), &KeptKind::mark);
    if (kind == kKeptKinds.end()) {
      events += line;
      continue;
    }
    events += SeqHead(seq).view();
    events += kind->lead;
    events += line.substr(1, line.size() - 2);
    events += kEventTail;
  }
  return events;
}

}  // namespace errand::sqlite
