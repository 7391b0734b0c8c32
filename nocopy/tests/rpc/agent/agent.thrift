namespace go agent

// The agent of Jaeger, which takes spans from UDP packets. Ids and types are those of its IDL.

enum TagType { STRING, DOUBLE, BOOL, LONG, BINARY }

struct Tag {
  1: required string key
  2: required TagType vType
  3: optional string vStr
  4: optional double vDouble
  5: optional bool vBool
  6: optional i64 vLong
  7: optional binary vBinary
}

struct Log {
  1: required i64 timestamp
  2: required list<Tag> fields
}

struct Span {
  1: required i64 traceIdLow
  2: required i64 traceIdHigh
  3: required i64 spanId
  4: required i64 parentSpanId
  5: required string operationName
  7: required i32 flags
  8: required i64 startTime
  9: required i64 duration
  10: optional list<Tag> tags
  11: optional list<Log> logs
}

struct Process {
  1: required string serviceName
  2: optional list<Tag> tags
}

struct Batch {
  1: required Process process
  2: required list<Span> spans
  3: optional i64 seqNo
}

service Agent {
  oneway void emitBatch(1: Batch batch)
}
