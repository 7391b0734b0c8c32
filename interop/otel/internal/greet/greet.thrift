namespace go greet
namespace java greet

// What the tests of this module call, in Go and in Java.

exception Unknown { 1: string name }

service Greeter {
  // Returns a greeting; names that end with "?" are Unknown, "bug" is a failure.
  string hello(1: string name) throws (1: Unknown unknown)
  // Passes the call on to another server, by its port, and returns what that does.
  string relay(1: string name, 2: i32 port, 3: bool framed) throws (1: Unknown unknown)
  oneway void tell(1: string name)
  // Has an argument with the id that contexts travel in.
  string count(1: string name, 8888: i64 n)
}
