namespace go echo

struct Message {
  1: i64 id
  2: string action
  3: binary payload
}

service Echo {
  Message echo(1: Message message)
}
