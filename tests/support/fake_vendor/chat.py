"""OpenAI's chat completions, and what compatible servers make of them."""

from dataclasses import dataclass

from support.fake_vendor.openai import OpenAi, error_object
from support.fake_vendor.turn import Call, Failure, Refusal, Text, Thinking, Turn
from support.fake_vendor.wire import (
    CREATED, NAME, Asked, Event, require, require_known, require_strict)

FIELDS = {
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_completion_tokens",
    "max_tokens", "reasoning_effort", "verbosity", "response_format", "stream", "stream_options",
    "n", "stop", "seed", "prompt_cache_key", "service_tier", "temperature", "top_p", "metadata",
    "store", "user"}
STOPS = {"length": "length", "filter": "content_filter", "refusal": "stop"}


@dataclass(frozen=True)
class Dialect:
    """How a compatible server differs. The defaults are OpenAI's."""

    index: str = "each"  # of calls: "each", "zero" for all of them, or "none"
    ids: str = "first"  # with the "first" fragment, with "every" one, or with "none"
    arguments: str = "pieces"  # in "pieces", "whole", as an "object", or "absent" if there are none
    thinking: str = ""  # where thoughts go: a field's name, or "tags"; "" hides them
    stop_with_calls: str = "tool_calls"
    role_everywhere: bool = False
    usage: str = "last"  # on the "last" chunk, on "every" one, or "never"
    filter_first: bool = False  # a chunk without choices comes first
    done: bool = True  # whether [DONE] is sent


OPENAI = Dialect()
OLLAMA = Dialect(index="zero", arguments="whole", thinking="reasoning", stop_with_calls="stop")
OLD_OLLAMA = Dialect(index="none", ids="none", arguments="whole", stop_with_calls="stop")
PROXY = Dialect(index="none", arguments="object", usage="never", done=False)
VLLM = Dialect(ids="every", thinking="reasoning", role_everywhere=True, usage="every")
LLAMA_CPP = Dialect(thinking="reasoning_content", arguments="absent", usage="last")
DEEPSEEK = Dialect(thinking="tags", usage="every")
AZURE = Dialect(filter_first=True)
DIALECTS = {"ollama": OLLAMA, "old ollama": OLD_OLLAMA, "proxy": PROXY, "vllm": VLLM,
            "llama.cpp": LLAMA_CPP, "deepseek": DEEPSEEK, "azure": AZURE}


class Chat(OpenAi):
    path = "/v1/chat/completions"

    def __init__(self, dialect: Dialect = OPENAI, **others):
        super().__init__(**others)
        self.dialect = dialect

    # What it says.

    def events(self, turn: Turn, asked: Asked) -> list[Event]:
        head = {"id": self.mint("chatcmpl-"), "object": "chat.completion.chunk",
                "created": CREATED, "model": asked.body["model"], "service_tier": "default",
                "system_fingerprint": "fp_1"}
        options = asked.body.get("stream_options") or {}
        wants_usage = bool(options.get("include_usage")) and self.dialect.usage != "never"
        usage = self.usage(turn) if wants_usage else None
        more = {"usage": None} if wants_usage else {}
        if usage and self.dialect.usage == "every":
            more = {"usage": usage}
        out = []
        if self.dialect.filter_first:
            results = [{"prompt_index": 0, "content_filter_results": {}}]
            out.append(Event(head | {"choices": [], "prompt_filter_results": results}))
        for delta, mark in self.deltas(turn):
            if self.dialect.role_everywhere:
                delta = {"role": "assistant"} | delta
            out.append(self.chunk(head | more, delta, None, mark))
            if turn.newer:
                out.append(Event(head | {"choices": [], "object": "chat.completion.hint"}))
        out.append(self.chunk(head | more, {}, self.reason(turn), ""))
        if usage:
            out.append(Event(head | {"choices": [], "usage": usage}))
        if self.dialect.done:
            out.append(Event("[DONE]"))
        out[-1] = Event(out[-1].data, mark="end")
        return out

    @staticmethod
    def chunk(head: dict, delta: dict, reason: str | None, mark: str) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return Event(head | {"choices": [choice], "obfuscation": "xxxx"}, mark=mark)

    def deltas(self, turn: Turn) -> list[tuple[dict, str]]:
        out = [({"role": "assistant", "content": "", "refusal": None}, "start")]
        calls = []
        for part in turn.parts:
            if isinstance(part, Text):
                out += [({"content": piece}, "text") for piece in part.pieces]
            elif isinstance(part, Refusal):
                out += [({"refusal": piece}, "") for piece in part.pieces]
            elif isinstance(part, Thinking):
                out += self.thoughts(part)
            else:
                calls.append(self.fragments(part, len(calls)))
        self.keep(turn, calls)
        if turn.interleaved:
            longest = max((len(fragments) for fragments in calls), default=0)
            calls = [[fragments[n] for fragments in calls if n < len(fragments)]
                     for n in range(longest)]
        for fragments in calls:
            marks = [""] * (len(fragments) - 1) + ["call"]
            out += [({"tool_calls": [one]}, mark) for one, mark in zip(fragments, marks)]
        return out

    def thoughts(self, part: Thinking) -> list[tuple[dict, str]]:
        where = self.dialect.thinking
        if not where:
            return []
        if where != "tags":
            return [({where: piece, "content": None}, "thought") for piece in part.pieces]
        pieces = ["<thi", "nk>", *part.pieces, "</th", "ink>\n\n"]
        return [({"content": piece}, "thought") for piece in pieces]

    def fragments(self, call: Call, number: int) -> list[dict]:
        way = self.dialect
        pieces: list = ["", *call.fragments()]
        if way.arguments == "whole" or (way.arguments == "absent" and call.raw):
            pieces = [call.raw]
        elif way.arguments == "object":
            pieces = [call.arguments]
        identifier = self.mint("call_")
        out = []
        for place, piece in enumerate(pieces):
            fragment = {"index": 0 if way.index == "zero" else number}
            if way.index == "none":
                fragment = {}
            if way.ids == "every" or (way.ids == "first" and place == 0):
                fragment["id"] = identifier
            function = {} if way.arguments == "absent" and not piece else {"arguments": piece}
            if place == 0:
                fragment["type"] = "function"
                function["name"] = call.name
            out.append(fragment | {"function": function})
        return out

    def keep(self, turn: Turn, calls: list[list[dict]]) -> None:
        """The turn as a message of the next request has it."""
        message = {"role": "assistant", "content": turn.text or None}
        if calls:
            message["tool_calls"] = [
                {"id": fragments[0].get("id", ""), "type": "function",
                 "function": {"name": part.name, "arguments": part.raw}}
                for fragments, part in zip(calls, turn.calls)]
        self.issued.append([message])

    def reason(self, turn: Turn) -> str:
        if turn.stop != "end":
            return STOPS.get(turn.stop, turn.stop)
        return self.dialect.stop_with_calls if turn.calls else "stop"

    @staticmethod
    def usage(turn: Turn) -> dict | None:
        if not turn.usage:
            return None
        return {"prompt_tokens": turn.usage.input, "completion_tokens": turn.usage.output,
                "total_tokens": turn.usage.input + turn.usage.output,
                "prompt_tokens_details": {"cached_tokens": turn.usage.cached, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": turn.usage.thinking}}

    def stream_error(self, failure: Failure, sent: list[Event]) -> Event:
        return Event({"error": error_object(failure)})

    # What it takes.

    def check(self, asked: Asked) -> None:
        body = asked.body
        self.check_path(asked)
        self.check_key(asked)
        require_known(body, FIELDS, "Unknown parameter")
        require(isinstance(body.get("model"), str), "you must provide a model parameter")
        require(body.get("stream") is True, "this fake answers with streams only")
        for number, tool in enumerate(body.get("tools", [])):
            function = tool["function"]
            where = f"tools[{number}].function"
            require(NAME.fullmatch(function["name"]) is not None, f"Invalid '{where}.name'")
            require(function.get("parameters", {}).get("type", "object") == "object",
                    f"Invalid schema for function '{function['name']}'")
            if function.get("strict"):
                require_strict(function["parameters"], where)
        require(not body.get("tool_choice") or bool(body.get("tools")),
                "'tool_choice' is only allowed when 'tools' are specified.")
        self.check_format(body.get("response_format", {"type": "text"}))
        self.check_messages(body.get("messages", []))

    @staticmethod
    def check_format(form: dict) -> None:
        if form["type"] != "json_schema":
            return
        schema = form["json_schema"]
        require(NAME.fullmatch(schema.get("name", "")) is not None,
                "Invalid 'response_format.json_schema.name'")
        if schema.get("strict"):
            require_strict(schema["schema"], "response_format")

    @staticmethod
    def check_messages(messages: list[dict]) -> None:
        require(bool(messages), "Invalid 'messages': empty array.")
        open_calls: list[str] = []
        for number, message in enumerate(messages):
            where = f"messages[{number}]"
            require_known(message, {"role", "content", "name", "tool_calls", "tool_call_id",
                                    "refusal"}, f"Unknown parameter of {where}")
            if message["role"] == "tool":
                require(message.get("tool_call_id") in open_calls,
                        f"{where}: messages with role 'tool' must be a response to a preceding "
                        "message with 'tool_calls'.")
                require(isinstance(message["content"], str | list), f"{where}.content: not text")
                open_calls.remove(message["tool_call_id"])
                continue
            require(not open_calls, "An assistant message with 'tool_calls' must be followed by "
                                    f"tool messages; these have none: {open_calls}")
            require(message["role"] in ("developer", "system", "user", "assistant"),
                    f"Invalid value of {where}.role")
            calls = message.get("tool_calls")
            require(calls != [], f"Invalid '{where}.tool_calls': empty array.")
            require(bool(calls) or isinstance(message.get("content"), str | list),
                    f"Invalid value for {where}.content: null")
            open_calls = [one["id"] for one in calls or []]
            require(all(open_calls), f"{where}.tool_calls: an id is missing")
        require(not open_calls, "An assistant message with 'tool_calls' must be followed by tool "
                                f"messages; these have none: {open_calls}")
