"""OpenAI's Responses."""

from support.fake_vendor.openai import OpenAi, error_object
from support.fake_vendor.turn import Call, Failure, Refusal, Text, Thinking, Turn
from support.fake_vendor.wire import (
    CREATED, NAME, Asked, Event, require, require_known, require_strict, signature)

FIELDS = {
    "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls",
    "max_output_tokens", "max_tool_calls", "reasoning", "text", "store", "include",
    "previous_response_id", "conversation", "stream", "stream_options", "prompt_cache_key",
    "prompt_cache_options", "safety_identifier", "service_tier", "metadata", "context_management",
    "background", "truncation", "user", "temperature", "top_p"}
INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}
ROLE_PARTS = {"user": {"input_text", "input_image", "input_file"},
              "system": {"input_text"}, "developer": {"input_text"},
              "assistant": {"output_text", "refusal"}}


class Stream:
    """The events of one answer, numbered."""

    def __init__(self, obfuscates: bool):
        self.events: list[Event] = []
        self.obfuscates = obfuscates

    def add(self, kind: str, mark: str = "", **fields) -> None:
        data = {"type": kind, "sequence_number": len(self.events)} | fields
        if kind.endswith(".delta") and self.obfuscates:
            data["obfuscation"] = "x" * (16 - len(fields["delta"]) % 16)
        self.events.append(Event(data, kind, mark))


class Responses(OpenAi):
    path = "/v1/responses"

    def __init__(self, flat_errors: bool = False, **others):
        super().__init__(**others)
        self.flat_errors = flat_errors  # an "error" instead of a response that failed

    # What it says.

    def events(self, turn: Turn, asked: Asked) -> list[Event]:
        items = [self.item(part, asked, turn) for part in turn.parts]
        self.issued.append(items)
        options = asked.body.get("stream_options") or {}
        stream = Stream(options.get("include_obfuscation", True))
        response = self.response(asked)
        stream.add("response.created", "start", response=response)
        stream.add("response.in_progress", response=response)
        pairs = list(enumerate(zip(turn.parts, items)))
        mixed = [(n, pair) for n, pair in pairs if turn.interleaved and isinstance(pair[0], Call)]
        for number, (part, item) in pairs:
            if (number, (part, item)) not in mixed:
                self.add_item(stream, part, item, number)
            if turn.newer:
                stream.add("response.future.hint", output_index=number, hint={"a": 1})
        self.add_mixed_calls(stream, mixed)
        self.add_ending(stream, turn, response, items)
        return stream.events

    def response(self, asked: Asked) -> dict:
        body = asked.body
        return {
            "id": self.mint("resp_"), "object": "response", "created_at": CREATED,
            "status": "in_progress", "background": False, "error": None,
            "incomplete_details": None, "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"), "model": body["model"],
            "output": [], "parallel_tool_calls": True, "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None}, "service_tier": "auto",
            "store": body.get("store", True), "temperature": 1.0,
            "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": body.get("tool_choice", "auto"), "tools": body.get("tools", []),
            "top_p": 1.0, "truncation": "disabled", "usage": None, "user": None, "metadata": {}}

    def item(self, part, asked: Asked, turn: Turn) -> dict:
        """An output item as it is when it is done."""
        if isinstance(part, Thinking):
            summary = [{"type": "summary_text", "text": part.whole}]
            if part.kind != "plain":
                summary = []
            item = self.mint("rs_")
            return {"id": item, "type": "reasoning", "summary": summary,
                    "encrypted_content": signature(asked.body["model"], item, part.whole)}
        if isinstance(part, Call):
            is_cut = turn.stop == "length" and part is turn.parts[-1]
            return {"id": self.mint("fc_"), "type": "function_call",
                    "status": "incomplete" if is_cut else "completed",
                    "arguments": part.raw, "call_id": self.mint("call_"), "name": part.name}
        content = {"type": "refusal", "refusal": part.whole}
        if isinstance(part, Text):
            content = {"type": "output_text", "annotations": [], "logprobs": [],
                       "text": part.whole}
        return {"id": self.mint("msg_"), "type": "message", "status": "completed",
                "content": [content], "phase": "commentary" if turn.calls else "final_answer",
                "role": "assistant"}

    def add_item(self, stream: Stream, part, item: dict, index: int) -> None:
        self.open_item(stream, part, item, index)
        if isinstance(part, Thinking):
            self.add_summary(stream, part, item, index)
        elif isinstance(part, Call):
            for piece in part.fragments():
                self.add_fragment(stream, item, index, piece)
            self.close_arguments(stream, part, item, index)
        else:
            self.add_content(stream, part, item, index)
        self.close_item(stream, part, item, index)

    def add_mixed_calls(self, stream: Stream, calls: list) -> None:
        for index, (part, item) in calls:
            self.open_item(stream, part, item, index)
        for step in range(2):
            for index, (part, item) in calls:
                for piece in part.fragments()[step : step + 1]:
                    self.add_fragment(stream, item, index, piece)
        for index, (part, item) in calls:
            self.close_arguments(stream, part, item, index)
            self.close_item(stream, part, item, index)

    @staticmethod
    def open_item(stream: Stream, part, item: dict, index: int) -> None:
        opened = dict(item)
        if isinstance(part, Thinking):
            # The first copy is not the whole one.
            opened |= {"summary": [], "encrypted_content": item["encrypted_content"][:8]}
        elif isinstance(part, Call):
            opened |= {"arguments": "", "status": "in_progress"}
        else:
            opened |= {"content": [], "status": "in_progress"}
        stream.add("response.output_item.added", output_index=index, item=opened)

    @staticmethod
    def add_fragment(stream: Stream, item: dict, index: int, piece: str) -> None:
        stream.add("response.function_call_arguments.delta", item_id=item["id"],
                   output_index=index, delta=piece)

    @staticmethod
    def close_arguments(stream: Stream, part: Call, item: dict, index: int) -> None:
        stream.add("response.function_call_arguments.done", item_id=item["id"],
                   output_index=index, arguments=part.raw, name=part.name)

    @staticmethod
    def close_item(stream: Stream, part, item: dict, index: int) -> None:
        mark = "call" if isinstance(part, Call) else "block"
        stream.add("response.output_item.done", mark, output_index=index, item=item)

    @staticmethod
    def add_summary(stream: Stream, part: Thinking, item: dict, index: int) -> None:
        if not item["summary"]:
            return
        at = {"item_id": item["id"], "output_index": index, "summary_index": 0}
        empty = {"type": "summary_text", "text": ""}
        stream.add("response.reasoning_summary_part.added", part=empty, **at)
        for piece in part.pieces:
            stream.add("response.reasoning_summary_text.delta", "thought", delta=piece, **at)
        stream.add("response.reasoning_summary_text.done", text=part.whole, **at)
        stream.add("response.reasoning_summary_part.done", part=item["summary"][0], **at)

    @staticmethod
    def add_content(stream: Stream, part: Text | Refusal, item: dict, index: int) -> None:
        at = {"item_id": item["id"], "output_index": index, "content_index": 0}
        content = item["content"][0]
        field = "text" if isinstance(part, Text) else "refusal"
        kind = "output_text" if isinstance(part, Text) else "refusal"
        more = {"logprobs": []} if isinstance(part, Text) else {}
        stream.add("response.content_part.added", part=content | {field: ""}, **at)
        for piece in part.pieces:
            mark = "text" if isinstance(part, Text) else ""
            stream.add(f"response.{kind}.delta", mark, delta=piece, **at, **more)
        stream.add(f"response.{kind}.done", **{field: part.whole}, **at, **more)
        stream.add("response.content_part.done", part=content, **at)

    @staticmethod
    def add_ending(stream: Stream, turn: Turn, response: dict, items: list[dict]) -> None:
        usage = None
        if turn.usage:
            usage = {"input_tokens": turn.usage.input,
                     "input_tokens_details": {"cached_tokens": turn.usage.cached,
                                              "cache_write_tokens": 0},
                     "output_tokens": turn.usage.output,
                     "output_tokens_details": {"reasoning_tokens": turn.usage.thinking},
                     "total_tokens": turn.usage.input + turn.usage.output}
        status, details = "completed", None
        if turn.stop not in ("end", "refusal"):
            status = "incomplete"
            details = {"reason": INCOMPLETE.get(turn.stop, turn.stop)}
        ended = response | {"status": status, "incomplete_details": details, "output": items,
                            "usage": usage}
        stream.add(f"response.{status}", "end", response=ended)

    def stream_error(self, failure: Failure, sent: list[Event]) -> Event:
        error = error_object(failure)
        error["code"] = error["code"] or "server_error"
        data = {"type": "error", "sequence_number": len(sent), "code": error["code"],
                "message": error["message"], "param": None}
        if not self.flat_errors:
            reported = {"code": error["code"], "message": error["message"]}
            response = sent[0].data["response"] | {"status": "failed", "error": reported}
            data = {"type": "response.failed", "sequence_number": len(sent), "response": response}
        return Event(data, data["type"])

    # What it takes.

    def check(self, asked: Asked) -> None:
        body = asked.body
        self.check_path(asked)
        self.check_key(asked)
        require_known(body, FIELDS, "Unknown parameter")
        require(isinstance(body.get("model"), str), "you must provide a model parameter")
        require(body.get("stream") is True, "this fake answers with streams only")
        require(not body.get("previous_response_id"), "Previous response not found.")
        self.check_tools(body)
        form = body.get("text", {}).get("format", {"type": "text"})
        if form["type"] == "json_schema":
            require(NAME.fullmatch(form.get("name", "")) is not None,
                    "Invalid 'text.format.name'")
            if form.get("strict"):
                require_strict(form["schema"], "text.format.schema")
        if isinstance(body["input"], str):
            return
        for number, item in enumerate(body["input"]):
            self.check_item(item, f"input[{number}]")
        self.check_calls(body["input"])
        self.check_reasoning(body["input"], body)

    @staticmethod
    def check_tools(body: dict) -> None:
        for number, tool in enumerate(body.get("tools", [])):
            where = f"tools[{number}]"
            require(tool["type"] == "function", f"{where}.type: not known")
            require_known(tool, {"type", "name", "description", "parameters", "strict"},
                          f"Unknown parameter of {where}")
            require({"name", "parameters", "strict"} <= set(tool),
                    f"Missing required parameter of {where}")
            require(NAME.fullmatch(tool["name"]) is not None, f"Invalid '{where}.name'")
            require(tool["parameters"].get("type") == "object", f"Invalid schema of {where}")
            if tool["strict"]:
                require_strict(tool["parameters"], where)

    @staticmethod
    def check_item(item: dict, where: str) -> None:
        kind = item.get("type", "message")
        needed = {"message": {"role", "content"}, "function_call": {"call_id", "name", "arguments"},
                  "function_call_output": {"call_id", "output"}, "reasoning": {"id", "summary"}}
        require(kind in needed, f"Invalid value of {where}.type")
        missing = sorted(needed[kind] - set(item))
        require(not missing, f"Missing required parameter: '{where}.{''.join(missing[:1])}'")
        if kind == "function_call":
            require(isinstance(item["arguments"], str), f"Invalid type of {where}.arguments")
        if kind != "message" or isinstance(item["content"], str):
            return
        for part in item["content"]:
            require(part["type"] in ROLE_PARTS[item["role"]],
                    f"Invalid value: '{part['type']}' of {where}.content")

    @staticmethod
    def check_calls(items: list[dict]) -> None:
        """Every call has one output, after it; every output has its call."""
        open_calls: list[str] = []
        for item in items:
            kind = item.get("type", "message")
            if kind == "function_call":
                open_calls.append(item["call_id"])
            elif kind == "function_call_output":
                require(item["call_id"] in open_calls, "No tool call found for function call "
                                                       f"output with call_id {item['call_id']}.")
                open_calls.remove(item["call_id"])
            elif kind == "message" and item["role"] == "user":
                require(not open_calls, f"No tool output found for function call {open_calls}.")
        require(not open_calls, f"No tool output found for function call {open_calls}.")

    def check_reasoning(self, items: list[dict], body: dict) -> None:
        """Encrypted reasoning is unedited, and right before what it led to."""
        known = {item["id"]: (turn, number) for turn in self.issued
                 for number, item in enumerate(turn)}
        for number, item in enumerate(items):
            if item.get("type") == "reasoning":
                require("encrypted_content" in item or body.get("store", True),
                        f"Item with id '{item['id']}' not found: it was not stored.")
                turn, place = known.get(item["id"], ([], 0))
                require(bool(turn) and item == turn[place],
                        f"The encrypted content of item {item['id']} could not be verified.")
                after = items[number + 1] if number + 1 < len(items) else {}
                require(after.get("id") == turn[place + 1]["id"],
                        f"Item '{item['id']}' of type 'reasoning' was provided without its "
                        "required following item.")
            elif item.get("id") in known:
                turn, place = known[item["id"]]
                before = turn[place - 1] if place else {}
                is_led = before.get("type") == "reasoning"
                require(not is_led or items[number - 1].get("id") == before["id"],
                        f"Item '{item['id']}' was provided without its required 'reasoning' item: "
                        f"'{before.get('id')}'.")
