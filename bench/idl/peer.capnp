# The benchmark's messages for Cap'n Proto, which has no maps: lists of pairs.
@0xb1d3f8a2c4e59761;
using Go = import "/go.capnp";
$Go.package("capnp");
$Go.import("github.com/nocopythrift/nocopythrift/bench/generated/capnp");

struct Ano { num @0 :Int64; }
struct MyTest {
  num @0 :Int64;
  ano @1 :Ano;
  nums @2 :List(Int64);
}

struct SmallSub {
  name @0 :Text;
  region @1 :Text;
  id @2 :Int64;
}
struct Small {
  service @0 :Text;
  method @1 :Text;
  caller @2 :Text;
  code @3 :Int32;
  traceId @4 :Int64;
  timestamp @5 :Int64;
  sampled @6 :Bool;
  weight @7 :Float64;
  sub @8 :SmallSub;
}

struct Pair {
  key @0 :Text;
  value @1 :Text;
}
struct Item {
  id @0 :Int64;
  name @1 :Text;
  desc @2 :Text;
  count @3 :Int32;
  price @4 :Float64;
  ok @5 :Bool;
}
struct User {
  uid @0 :Int64;
  name @1 :Text;
  email @2 :Text;
  age @3 :Int32;
  vip @4 :Bool;
}
struct Meta {
  region @0 :Text;
  cluster @1 :Text;
  user @2 :User;
  tags @3 :List(Pair);
}
struct Business {
  id @0 :Int64;
  title @1 :Text;
  status @2 :Int32;
  meta @3 :Meta;
  items @4 :List(Item);
  extra @5 :List(Pair);
  nums @6 :List(Int64);
  words @7 :List(Text);
  score @8 :Float64;
  flag @9 :Bool;
  owner @10 :User;
  ts @11 :Int64;
  trailer @12 :Text;
}

struct Blob {
  id @0 :Int64;
  name @1 :Text;
  data @2 :Data;
  code @3 :Int32;
  ok @4 :Bool;
}

struct Row {
  lengths @0 :List(Int64);
  values @1 :Data;
}
struct VStreamRowsResponse {
  gtid @0 :Text;
  rows @1 :List(Row);
}

struct Label {
  name @0 :Text;
  value @1 :Text;
}
struct Sample {
  value @0 :Float64;
  timestamp @1 :Int64;
}
struct TimeSeries {
  labels @0 :List(Label);
  samples @1 :List(Sample);
}
struct WriteRequest { timeseries @0 :List(TimeSeries); }
