// What Zipkin's collector for Scribe reads: spans of Zipkin's first format, each in base64.

enum ResultCode { OK = 0, TRY_LATER = 1 }

struct LogEntry {
  1: string category
  2: string message
}

service Scribe {
  ResultCode Log(1: list<LogEntry> messages)
}

struct Endpoint {
  1: i32 ipv4
  2: i16 port
  3: string service_name
  4: optional binary ipv6
}

struct Annotation {
  1: i64 timestamp // in microseconds, as all times here
  2: string value
  3: optional Endpoint host
}

enum AnnotationType { BOOL = 0, BYTES = 1, I16 = 2, I32 = 3, I64 = 4, DOUBLE = 5, STRING = 6 }

struct BinaryAnnotation {
  1: string key
  2: binary value
  3: AnnotationType annotation_type
  4: optional Endpoint host
}

struct Span {
  1: i64 trace_id
  3: string name
  4: i64 id
  5: optional i64 parent_id
  6: list<Annotation> annotations
  8: list<BinaryAnnotation> binary_annotations
  9: optional bool debug = 0
  10: optional i64 timestamp
  11: optional i64 duration
  12: optional i64 trace_id_high
}
