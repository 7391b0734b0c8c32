// What services.thrift extends, in a package of its own.
namespace go services.parent

exception Denied { 1: string why }

service Root {
  void ping()
}

service Middle extends Root {
  i32 count(1: string what) throws (1: Denied denied)
}
