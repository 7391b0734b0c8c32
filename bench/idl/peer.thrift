// The benchmark's messages, one group per workload; README.md says what each stands for.
namespace go peer

// ---- workload A ----

struct Ano {
  1: i64 Num
}
struct MyTest {
  1: i64 Num
  2: Ano Ano
  3: list<i64> Nums
}

// ---- workload B ----

struct SmallSub {
  1: string Name
  2: string Region
  3: i64 Id
}
struct Small {
  1: string Service
  2: string Method
  3: string Caller
  4: i32 Code
  5: i64 TraceId
  6: i64 Timestamp
  7: bool Sampled
  8: double Weight
  9: SmallSub Sub
}

// ---- workload C ----

struct Item {
  1: i64 Id
  2: string Name
  3: string Desc
  4: i32 Count
  5: double Price
  6: bool Ok
}
struct User {
  1: i64 Uid
  2: string Name
  3: string Email
  4: i32 Age
  5: bool Vip
}
struct Meta {
  1: string Region
  2: string Cluster
  3: User User
  4: map<string,string> Tags
}
struct Business {
  1: i64 Id
  2: string Title
  3: i32 Status
  4: Meta Meta
  5: list<Item> Items
  6: map<string,string> Extra
  7: list<i64> Nums
  8: list<string> Words
  9: double Score
  10: bool Flag
  11: User Owner
  12: i64 Ts
  13: string Trailer
}
// ---- workload D ----

struct Blob {
  1: i64 Id
  2: string Name
  3: binary Data
  4: i32 Code
  5: bool Ok
}

// ---- workload E (Vitess VStreamRows) ----

struct Row {
  1: list<i64> Lengths
  2: binary Values
}
struct VStreamRowsResponse {
  1: string Gtid
  2: list<Row> Rows
}

// ---- workload H: lists of numbers, one of them filled at a time ----

struct Bulk {
  1: list<i64> Longs
  2: list<i32> Ints
  3: list<i16> Shorts
  4: list<double> Doubles
}

// ---- workload I: what is set in an order of its own ----

struct Catalog {
  1: list<Item> Items
  2: list<string> Words
}
