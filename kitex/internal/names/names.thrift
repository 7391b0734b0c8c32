// Names that Go, Kitex or generated code use themselves. The code must compile.
namespace go names.context

struct context { 1: string ctx }
struct Handler { 1: context service }
exception Client { 1: string message }

service client {
  context NewClient(1: context ctx, 2: string opts) throws (1: Client err)
  void Close()
  void with_args_result(1: i32 args)
  oneway void Register()
}

service Internal {
  Handler select(1: Handler handler)
  set<string> bytes(1: map<string, binary> k)
  uuid id(1: uuid u, 2: bool b, 3: i8 c, 4: double d)
  binary raw(1: i16 s)
}

service select extends client {
  context chat(1: context server) (streaming.mode = "bidirectional")
  context up(1: context server) (streaming.mode = "client")
  Handler down(1: context server) (streaming.mode = "server")
  Handler one(1: context server) (streaming.mode = "unary")
}

service Empty {}
service OnlyStreams {
  context chat(1: context server) (streaming.mode = "bidirectional")
}
