// A Prometheus remote-write request, as Thrift: the schema of bench/idl/prom.thrift.
namespace go prom

struct Label {
  1: string name
  2: string value
}

struct Sample {
  1: double value
  2: i64 timestamp // milliseconds since 1970
}

struct TimeSeries {
  1: list<Label> labels
  2: list<Sample> samples
}

struct WriteRequest {
  1: list<TimeSeries> timeseries
}
