namespace go echo

struct Message {
  1: i64 id
  2: string action
  3: binary payload
}

service Echo {
  Message echo(1: Message message)
}

// Large messages of small values.

struct Row {
  1: i64 id
  2: i32 kind
  3: string name
}

service Rows {
  list<Row> get(1: i32 count)
  i64 put(1: list<Row> rows)
}
