namespace go api

include "prom.thrift"

// Why samples are refused. Sending them again does not help.
enum Reason {
  OUT_OF_ORDER = 1 // older than the newest sample of its series
  DUPLICATE = 2 // another value for the time of the newest sample of its series
  TOO_OLD = 3 // older than what the store still takes
  TOO_NEW = 4 // more than ten minutes ahead of the server's clock
  NO_METRIC_NAME = 5 // no label __name__
  EMPTY_LABEL_NAME = 6
  DUPLICATE_LABEL = 7 // two labels of one name
  INVALID_UTF8 = 8 // in the name or value of a label
  LABELS_TOO_LONG = 9
  TOO_MANY_SERIES = 10 // the series is new, and the store has as many as it may
}

// Some samples of a request were refused. All others are stored.
exception Refused {
  1: i32 taken // how many samples are stored
  2: i32 refused // how many are not
  3: Reason reason // why the first was refused; the others may have other reasons
  4: i32 series // the index of the series that was refused first, in the request
  5: i32 sample // the index of the sample that was refused first, in its series
  6: string message
}

exception BadQuery {
  1: string message
}

service Ingester {
  // write stores the samples of a request. They are in the write-ahead log before the reply.
  void write(1: prom.WriteRequest request) throws (1: Refused refused)
  // query evaluates PromQL at a time, in milliseconds since 1970; at 0 it is now. A scalar is a
  // series without labels.
  list<prom.TimeSeries> query(1: string promql, 2: i64 time) throws (1: BadQuery bad)
}
