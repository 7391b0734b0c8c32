// Calls a server with Apache Thrift's C++ library and checks what comes back. --test is all
// (every method, then methods and fields that the server does not know), concurrent (8 clients;
// then 8 threads on one connection), idle (the server closes the connection meanwhile) or frames
// (the server takes none of more than 64 KiB). The exit code is a sum: 1 base types, 2 structs, 4
// containers, 8 exceptions, 16 the other tests, 64 no connection.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <thread>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/protocol/THeaderProtocol.h>
#include <thrift/protocol/TMultiplexedProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpClient.h>
#include <thrift/transport/TSocket.h>

#include "SecondService.h"
#include "ThriftTest.h"
#include "Wide.h"
#include "flags.h"

using namespace apache::thrift;
using namespace apache::thrift::protocol;
using namespace apache::thrift::transport;
using namespace thrift::test;
using std::make_shared;
using std::map;
using std::shared_ptr;
using std::string;
using std::vector;

enum { BASETYPES = 1, STRUCTS = 2, CONTAINERS = 4, EXCEPTIONS = 8, OTHERS = 16 };

static void require(bool ok, const string& what) {
  if (!ok) throw std::runtime_error(what.substr(0, 500));
}

// A connection with a client of each service.
struct Connection {
  // Its frames have at most so many bytes.
  explicit Connection(const Flags& flags, int most = TConfiguration::DEFAULT_MAX_FRAME_SIZE) {
    auto socket = make_shared<TSocket>(flags.text("host", "127.0.0.1"), flags.number("port", 9090));
    socket->setRecvTimeout(30000);
    if (flags.framed()) {
      auto config = make_shared<TConfiguration>();
      config->setMaxFrameSize(most);
      transport = make_shared<TFramedTransport>(socket, config);
    } else if (flags.http()) {
      transport = make_shared<THttpClient>(socket, "localhost", "/");
    } else {
      transport = make_shared<TBufferedTransport>(socket);
    }
    if (flags.header()) {
      plain = make_shared<THeaderProtocol>(socket, flags.compact() ? T_COMPACT_PROTOCOL : T_BINARY_PROTOCOL);
    } else if (flags.compact()) {
      plain = make_shared<TCompactProtocol>(transport);
    } else {
      plain = make_shared<TBinaryProtocol>(transport, 0, 0, false, !flags.old());
    }
    test = make_shared<ThriftTestClient>(named("ThriftTest", flags));
    second = make_shared<SecondServiceClient>(named("SecondService", flags));
    wide = make_shared<::wide::WideClient>(named("ThriftTest", flags));
    nobody = make_shared<ThriftTestClient>(named("Nobody", flags));
    transport->open();
  }

  shared_ptr<TProtocol> named(const string& service, const Flags& flags) {
    if (!flags.multiplexed()) return plain;
    return make_shared<TMultiplexedProtocol>(plain, service);
  }

  shared_ptr<TTransport> transport;
  shared_ptr<TProtocol> plain;
  shared_ptr<ThriftTestClient> test;
  shared_ptr<SecondServiceClient> second;
  shared_ptr<::wide::WideClient> wide;
  shared_ptr<ThriftTestClient> nobody;
};

static ::wide::Tree tree(int depth) {
  ::wide::Tree t;
  t.__set_number(depth);
  t.__set_children({});
  if (depth > 1) {
    ::wide::Tree leaf;
    leaf.__set_number(-depth);
    leaf.__set_children({});
    t.children.push_back(tree(depth - 1));
    t.children.push_back(leaf);
  }
  return t;
}

static ::wide::WideXtruct wideXtruct(int depth) {
  ::wide::WideXtruct x;
  x.__set_string_thing("ünknown");
  x.__set_bool_thing(true);
  x.__set_lists({{}, {"a", ""}});
  x.__set_byte_thing(-1);
  x.__set_short_thing(5);
  x.__set_i32_thing(9);
  x.__set_double_thing(-std::numeric_limits<double>::infinity());
  x.__set_i64_thing(1LL << 40);
  x.__set_sets({{"", {}}, {"b", {1, 2}}});
  x.__set_tree(tree(depth));
  x.__set_bytes(string("\0\xff", 2));
  x.__set_last("last");
  return x;
}

static Xtruct xtruct(const string& text, int8_t i8, int32_t i32, int64_t i64) {
  Xtruct x;
  x.__set_string_thing(text);
  x.__set_byte_thing(i8);
  x.__set_i32_thing(i32);
  x.__set_i64_thing(i64);
  return x;
}

// raises returns the exception of type E that a call throws.
template <class E>
static E raises(const std::function<void()>& call) {
  try {
    call();
  } catch (E& e) {
    return e;
  }
  throw std::runtime_error("there was no exception");
}

class Suite {
 public:
  explicit Suite(const Flags& flags) : flags_(flags), c_(make_shared<Connection>(flags)) {}

  int run() {
    string test = flags_.text("test", "all");
    if (test == "all") {
      baseTypes();
      structs();
      containers();
      exceptions();
      others();
    } else if (test == "concurrent") {
      check(OTHERS, "8 clients at a time", [this] { concurrent(); });
      check(OTHERS, "8 clients on one connection", [this] { shared(); });
    } else if (test == "idle") {
      check(OTHERS, "a call after a pause", [this] { idle(); });
    } else if (test == "frames") {
      check(OTHERS, "frames that are too large", [this] { frames(); });
      if (flags_.framed()) check(OTHERS, "a reply that is too large for the client", [this] { largeReply(); });
    } else {
      throw std::runtime_error("unknown test");
    }
    return failed_;
  }

 private:
  void check(int bit, const string& what, const std::function<void()>& test) {
    try {
      test();
      std::cout << what << " ok" << std::endl;
    } catch (std::exception& e) {
      std::cout << what << " *** FAILURE ***\n" << e.what() << std::endl;
      failed_ |= bit;
    }
  }

  // goesOn checks that the next call on the connection is answered.
  void goesOn(int32_t number) { require(c_->test->testI32(number) == number, "another reply"); }

  template <class T, class F>
  void echo(int bit, const string& what, F call, vector<T> values) {
    check(bit, what, [&] {
      for (const T& v : values) require(call(v) == v, what + " has returned something else");
    });
  }

  // echoes is echo for methods whose result is an argument.
  template <class T>
  void echoes(int bit, const string& what, void (ThriftTestClient::*call)(T&, const T&), vector<T> values) {
    echo<T>(bit, what, [&](const T& v) {
      T got;
      (c_->test.get()->*call)(got, v);
      return got;
    }, values);
  }

  void baseTypes() {
    auto t = c_->test;
    check(BASETYPES, "testVoid", [&] { t->testVoid(); });
    echoes<string>(BASETYPES, "testString", &ThriftTestClient::testString,
                   {"", "Test", "シープラ, ქართული, 𐍈", string("quote: \" \\ \b\f\n\r\t \0", 18), string(1 << 20, 'x')});
    check(BASETYPES, "testBool", [&] { require(t->testBool(true) && !t->testBool(false), "another value"); });
    echo<int8_t>(BASETYPES, "testByte", [&](int8_t v) { return t->testByte(v); }, {0, -1, -128, 127});
    echo<int32_t>(BASETYPES, "testI32", [&](int32_t v) { return t->testI32(v); }, {0, -1, INT32_MIN, INT32_MAX});
    echo<int64_t>(BASETYPES, "testI64", [&](int64_t v) { return t->testI64(v); }, {0, -1, INT64_MIN, INT64_MAX});
    check(BASETYPES, "testDouble", [&] {
      for (double v : vector<double>{0.0, -0.0, -5.235098235, 5e-324, 1.7e308, std::nan("1"), INFINITY, -INFINITY}) {
        double got = t->testDouble(v);
        require(std::memcmp(&got, &v, sizeof v) == 0, "expected " + std::to_string(v));
      }
    });
    string all;
    for (int i = 0; i < 256; i++) all.push_back(char(i));
    echoes<string>(BASETYPES, "testBinary", &ThriftTestClient::testBinary, {"", all, string(1 << 20, '\xff')});
    echo<int64_t>(BASETYPES, "testTypedef", [&](int64_t v) { return t->testTypedef(v); }, {0, 0xffffffffffffff, -1});
  }

  void structs() {
    auto t = c_->test;
    Xtruct zero = xtruct("Zero", 1, -3, -5);
    echo<Numberz::type>(STRUCTS, "testEnum", [&](Numberz::type v) { return t->testEnum(v); },
                        {Numberz::ONE, Numberz::FIVE, Numberz::EIGHT, Numberz::type(77)});
    echoes<Xtruct>(STRUCTS, "testStruct", &ThriftTestClient::testStruct, {zero, xtruct("", 0, 0, 0)});
    Xtruct2 nest;
    nest.__set_byte_thing(1);
    nest.__set_struct_thing(zero);
    nest.__set_i32_thing(5);
    echoes<Xtruct2>(STRUCTS, "testNest", &ThriftTestClient::testNest, {nest});
    check(STRUCTS, "testInsanity", [&] {
      Insanity crazy;
      crazy.__set_userMap({{Numberz::FIVE, 5}, {Numberz::EIGHT, 8}});
      crazy.__set_xtructs({zero, zero});
      map<UserId, map<Numberz::type, Insanity>> got;
      t->testInsanity(got, crazy);
      Insanity six = got[2][Numberz::SIX];
      require(six.userMap.empty() && six.xtructs.empty(), "2, 6 is not empty");
      got.erase(2);
      map<UserId, map<Numberz::type, Insanity>> want = {{1, {{Numberz::TWO, crazy}, {Numberz::THREE, crazy}}}};
      require(got == want, "another map");
    });
    check(STRUCTS, "testMulti", [&] {
      Xtruct got;
      t->testMulti(got, 74, 0xff00ff, 0xffffffffd0d0, {{0, "abc"}}, Numberz::FIVE, 0xf0f0f0);
      require(got == xtruct("Hello2", 74, 0xff00ff, 0xffffffffd0d0), "another struct");
    });
  }

  void containers() {
    map<int32_t, int32_t> numbers;
    vector<int32_t> list;
    for (int i = 0; i < 100000; i++) {
      numbers[i] = -i;
      list.push_back(3 * i);
    }
    echoes<map<int32_t, int32_t>>(CONTAINERS, "testMap", &ThriftTestClient::testMap, {{}, {{1, 2}, {-3, INT32_MIN}}, numbers});
    echoes<map<string, string>>(CONTAINERS, "testStringMap", &ThriftTestClient::testStringMap,
                                {{}, {{"a", "2"}, {"", ""}, {"ü", "blah"}}});
    echoes<std::set<int32_t>>(CONTAINERS, "testSet", &ThriftTestClient::testSet,
                              {{}, {8, 1, 42}, std::set<int32_t>(list.begin(), list.end())});
    echoes<vector<int32_t>>(CONTAINERS, "testList", &ThriftTestClient::testList, {{}, {1, 4, 9, -42}, list});
    check(CONTAINERS, "testMapMap", [&] {
      map<int32_t, map<int32_t, int32_t>> got;
      c_->test->testMapMap(got, 1);
      map<int32_t, map<int32_t, int32_t>> want = {{-4, {{-4, -4}, {-3, -3}, {-2, -2}, {-1, -1}}},
                                                  {4, {{4, 4}, {3, 3}, {2, 2}, {1, 1}}}};
      require(got == want, "another map");
    });
  }

  void exceptions() {
    auto t = c_->test;
    check(EXCEPTIONS, "testException", [&] {
      auto x = raises<Xception>([&] { t->testException("Xception"); });
      require(x.errorCode == 1001 && x.message == "Xception", "another exception");
      goesOn(1);
      auto app = raises<TApplicationException>([&] { t->testException("TException"); });
      require(app.getType() == TApplicationException::INTERNAL_ERROR, app.what());
      goesOn(2);
      t->testException("success");
    });
    check(EXCEPTIONS, "testMultiException", [&] {
      Xtruct got;
      auto x = raises<Xception>([&] { t->testMultiException(got, "Xception", ""); });
      require(x.errorCode == 1001 && x.message == "This is an Xception", "another exception");
      goesOn(3);
      auto x2 = raises<Xception2>([&] { t->testMultiException(got, "Xception2", ""); });
      require(x2.errorCode == 2002 && x2.struct_thing.string_thing == "This is an Xception2", "another exception");
      t->testMultiException(got, "success", "foobar");
      require(got.string_thing == "foobar", "another text");
    });
  }

  void unknown(const std::function<void()>& call) {
    auto app = raises<TApplicationException>(call);
    require(app.getType() == TApplicationException::UNKNOWN_METHOD, app.what());
    goesOn(-7);
  }

  void others() {
    check(BASETYPES, "testOneway", [&] {
      auto start = std::chrono::steady_clock::now();
      c_->test->testOneway(1);
      // THttpClient leaves the response unread, for the next call to take
      if (flags_.http()) c_ = make_shared<Connection>(flags_);
      c_->test->testVoid();
      require(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500), "it took half a second");
    });
    string text;
    if (flags_.multiplexed()) {
      check(BASETYPES, "secondtestString", [&] {
        c_->second->secondtestString(text, "foobar");
        require(text == "testString(\"foobar\")", text);
      });
      check(OTHERS, "unknown service", [&] { unknown([&] { c_->nobody->testVoid(); }); });
    } else {
      check(OTHERS, "method of another service", [&] { unknown([&] { c_->second->secondtestString(text, "x"); }); });
    }
    ::wide::WideXtruct got;
    check(OTHERS, "unknown method", [&] {
      unknown([&] { c_->wide->notThere(got, wideXtruct(3)); });
      ::wide::WideXtruct large;
      large.__set_string_thing(string(1 << 20, 'x'));
      unknown([&] { c_->wide->notThere(got, large); });
    });
    check(OTHERS, "unknown fields", [&] {
      for (int depth : {1, 2, 30}) {
        c_->wide->testStruct(got, wideXtruct(depth), tree(depth), "an argument more");
        require(got == wideXtruct(depth), "another struct");
      }
    });
    // Apache's servers answer, and so does this one, which the next call takes for its reply.
    check(OTHERS, "unknown oneway method", [&] {
      c_->wide->tellNobody("hello");
      auto app = raises<TApplicationException>([&] { c_->wide->testI32(5); });
      require(app.getType() == TApplicationException::UNKNOWN_METHOD, app.what());
      c_ = make_shared<Connection>(flags_);
      goesOn(6);
    });
  }

  // calls makes one of several calls, whose reply tells which client's and which call's it is.
  static void calls(ThriftTestIf& test, int client, int call) {
    string text = std::to_string(client) + "/" + std::to_string(call) + " " + string(call * 37 % 5000, 'y');
    Xtruct x;
    string got;
    switch (call % 4) {
      case 0:
        test.testString(got, text);
        require(got == text, "another call's text");
        break;
      case 1:
        test.testStruct(x, xtruct(text, client, call, client * call));
        require(x == xtruct(text, client, call, client * call), "another call's struct");
        break;
      case 2:
        raises<Xception>([&] { test.testException("Xception"); });
        require(test.testI32(1000 * client + call) == 1000 * client + call, "another call's number");
        break;
      default:
        test.testMultiException(x, "success", text);
        require(x.string_thing == text, "another call's text");
    }
  }

  // inThreads runs f in 8 threads; it must make 200 calls in each.
  static void inThreads(const std::function<void(int)>& f) {
    vector<std::thread> threads;
    std::atomic<int> right(0);
    for (int client = 0; client < 8; client++) {
      threads.emplace_back([&f, &right, client] {
        try {
          f(client);
          right++;
        } catch (std::exception& e) {
          std::cout << e.what() << std::endl;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    require(right == 8, "only " + std::to_string(right) + " of 8 have got right answers");
  }

  void concurrent() {
    inThreads([this](int client) {
      Connection mine(flags_);
      for (int call = 0; call < 200; call++) calls(*mine.test, client, call);
    });
  }

  // shared uses a client that tells replies by their sequence ids.
  void shared() {
    auto sync = make_shared<async::TConcurrentClientSyncInfo>();
    ThriftTestConcurrentClient client(c_->named("ThriftTest", flags_), sync);
    inThreads([&client](int number) {
      for (int call = 0; call < 200; call++) calls(client, number, call);
    });
  }

  void idle() {
    goesOn(1);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    raises<TTransportException>([&] { c_->test->testI32(2); });
    c_ = make_shared<Connection>(flags_);
    goesOn(3);
  }

  void frames() {
    goesOn(1);
    string got;
    raises<TException>([&] { c_->test->testString(got, string(100000, 'z')); });
    c_ = make_shared<Connection>(flags_);
    goesOn(2);
  }

  // largeReply gets a reply that has its argument, which the server takes, twice.
  void largeReply() {
    c_ = make_shared<Connection>(flags_, 1 << 16);
    Insanity half;
    half.__set_xtructs({xtruct(string(40000, 'z'), 0, 0, 0)});
    map<UserId, map<Numberz::type, Insanity>> got;
    raises<TTransportException>([&] { c_->test->testInsanity(got, half); });
    c_ = make_shared<Connection>(flags_, 1 << 16);
    goesOn(4);
  }

  const Flags flags_;
  shared_ptr<Connection> c_;
  int failed_ = 0;
};

int main(int argc, char** argv) {
  try {
    return Suite(Flags(argc, argv)).run();
  } catch (TTransportException& e) {
    std::cout << "Connect failed: " << e.what() << std::endl;
    return 64;
  }
}
