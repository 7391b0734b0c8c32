namespace go echo

// The tests of package rpc call these.

exception NotFound { 1: string key, 2: i32 code }
exception Conflict { 1: string what }

struct Item {
  1: string name
  2: binary data
  3: list<i64> numbers
  4: map<string, string> labels
}

service Base {
  void ping()
  string version()
}

service Echo extends Base {
  // Returns the payload after a while.
  binary echo(1: binary payload, 2: i32 delay_ms)
  Item put(1: Item item, 2: required string mode) throws (1: NotFound missing, 2: Conflict conflict)
  oneway void notify(1: string text, 2: i32 delay_ms)
  i64 add(1: i64 a, 2: i64 b)
  void fail(1: string how) throws (1: NotFound missing)
}
