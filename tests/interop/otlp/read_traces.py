"""Reads the body of an OTLP request from stdin with OpenTelemetry's own definitions, which refuse
unknown members, and writes the spans as JSON."""

import json
import sys

from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

request = Parse(sys.stdin.read(), ExportTraceServiceRequest())
spans = [span for resource in request.resource_spans for scope in resource.scope_spans
         for span in scope.spans]
json.dump([{"name": span.name, "kind": span.kind, "status": span.status.code,
            "millis": (span.end_time_unix_nano - span.start_time_unix_nano) // 1_000_000,
            "attributes": sorted(item.key for item in span.attributes)} for span in spans],
          sys.stdout)
