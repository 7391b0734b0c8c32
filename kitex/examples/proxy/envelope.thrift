// What the proxy knows of the calls that it forwards, whatever their method: the first argument
// begins with a header, and that has a field for the proxies on the way.
namespace go envelope

struct Header {
  2: string via
}

struct Request {
  1: Header header
}

struct Arguments {
  1: Request request
}
