// The test service on Apache Thrift's C++ library. --kind is threaded, threadpool or nonblocking.
// Its first line ends with the port that it listens on. --idle is after how many milliseconds
// without a request it closes a connection; not of nonblocking. --describe is the bundle with which
// it answers nocopy.describe.
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>
#include <thrift/concurrency/ThreadFactory.h>
#include <thrift/concurrency/ThreadManager.h>
#include <thrift/processor/TMultiplexedProcessor.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/protocol/THeaderProtocol.h>
#include <thrift/server/TNonblockingServer.h>
#include <thrift/server/TThreadPoolServer.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpServer.h>
#include <thrift/transport/TNonblockingServerSocket.h>
#include <thrift/transport/TServerSocket.h>

#include "SecondService.h"
#include "ThriftTest.h"
#include "flags.h"
#include "nocopy_describe.h"

using namespace apache::thrift;
using namespace apache::thrift::protocol;
using namespace apache::thrift::server;
using namespace apache::thrift::transport;
using namespace thrift::test;
using std::make_shared;
using std::map;
using std::shared_ptr;
using std::string;

class Handler : public ThriftTestNull {
 public:
  void testString(string& r, const string& v) override { r = v; }
  bool testBool(const bool v) override { return v; }
  int8_t testByte(const int8_t v) override { return v; }
  int32_t testI32(const int32_t v) override { return v; }
  int64_t testI64(const int64_t v) override { return v; }
  double testDouble(const double v) override { return v; }
  void testBinary(string& r, const string& v) override { r = v; }
  void testStruct(Xtruct& r, const Xtruct& v) override { r = v; }
  void testNest(Xtruct2& r, const Xtruct2& v) override { r = v; }
  void testMap(map<int32_t, int32_t>& r, const map<int32_t, int32_t>& v) override { r = v; }
  void testStringMap(map<string, string>& r, const map<string, string>& v) override { r = v; }
  void testSet(std::set<int32_t>& r, const std::set<int32_t>& v) override { r = v; }
  void testList(std::vector<int32_t>& r, const std::vector<int32_t>& v) override { r = v; }
  Numberz::type testEnum(const Numberz::type v) override { return v; }
  UserId testTypedef(const UserId v) override { return v; }

  void testMapMap(map<int32_t, map<int32_t, int32_t>>& r, const int32_t) override {
    for (int32_t i = 1; i <= 4; i++) {
      r[-4][-i] = -i;
      r[4][i] = i;
    }
  }

  void testInsanity(map<UserId, map<Numberz::type, Insanity>>& r, const Insanity& v) override {
    r[1][Numberz::TWO] = v;
    r[1][Numberz::THREE] = v;
    r[2][Numberz::SIX] = Insanity();
  }

  void testMulti(Xtruct& r, const int8_t arg0, const int32_t arg1, const int64_t arg2,
                 const map<int16_t, string>&, const Numberz::type, const UserId) override {
    r.__set_string_thing("Hello2");
    r.__set_byte_thing(arg0);
    r.__set_i32_thing(arg1);
    r.__set_i64_thing(arg2);
  }

  void testException(const string& arg) override {
    if (arg == "Xception") fail(arg);
    if (arg == "TException") throw TException("This is a TException");
  }

  void testMultiException(Xtruct& r, const string& arg0, const string& arg1) override {
    if (arg0 == "Xception") fail("This is an Xception");
    if (arg0 == "Xception2") {
      Xception2 x;
      x.__set_errorCode(2002);
      x.struct_thing.__set_string_thing("This is an Xception2");
      x.__isset.struct_thing = true;
      throw x;
    }
    r.__set_string_thing(arg1);
  }

  void testOneway(const int32_t seconds) override {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  }

 private:
  void fail(const string& message) {
    Xception x;
    x.__set_errorCode(1001);
    x.__set_message(message);
    throw x;
  }
};

class SecondHandler : public SecondServiceNull {
 public:
  void secondtestString(string& r, const string& v) override { r = "testString(\"" + v + "\")"; }
};

// Prints the port once the server listens.
class Announcer : public TServerEventHandler {
 public:
  explicit Announcer(std::function<int()> port) : port_(port) {}
  void preServe() override { std::cout << "listening on " << port_() << std::endl; }

 private:
  std::function<int()> port_;
};

// Makes framed transports that take frames of a limited size.
class FramedFactory : public TTransportFactory {
 public:
  explicit FramedFactory(int most) : config_(make_shared<TConfiguration>()) { config_->setMaxFrameSize(most); }
  shared_ptr<TTransport> getTransport(shared_ptr<TTransport> t) override {
    return make_shared<TFramedTransport>(t, config_);
  }

 private:
  shared_ptr<TConfiguration> config_;
};

int main(int argc, char** argv) {
  Flags flags(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  GlobalOutput.setOutputFunction([](const char* line) { std::cerr << line << std::endl; });

  shared_ptr<TProcessor> processor = make_shared<ThriftTestProcessor>(make_shared<Handler>());
  if (flags.multiplexed()) {
    auto both = make_shared<TMultiplexedProcessor>();
    both->registerDefault(processor);
    both->registerProcessor("ThriftTest", processor);
    both->registerProcessor("SecondService", make_shared<SecondServiceProcessor>(make_shared<SecondHandler>()));
    processor = both;
  }
  string bundle = flags.text("describe", "");
  if (!bundle.empty()) processor = make_shared<nocopy::DescribeProcessor>(processor, bundle);
  shared_ptr<TProtocolFactory> protocols = make_shared<TCompactProtocolFactory>();
  if (flags.header()) {
    protocols = make_shared<THeaderProtocolFactory>();
  } else if (!flags.compact()) {
    auto binary = make_shared<TBinaryProtocolFactory>();
    binary->setStrict(false, !flags.old());
    protocols = binary;
  }
  int most = flags.number("max-frame", TConfiguration::DEFAULT_MAX_FRAME_SIZE);

  shared_ptr<TServer> server;
  string kind = flags.text("kind", "threaded");
  if (kind == "nonblocking") {
    auto socket = make_shared<TNonblockingServerSocket>("127.0.0.1", flags.number("port", 0));
    auto manager = concurrency::ThreadManager::newSimpleThreadManager(4);
    manager->threadFactory(make_shared<concurrency::ThreadFactory>());
    manager->start();
    auto nonblocking = make_shared<TNonblockingServer>(processor, protocols, socket, manager);
    nonblocking->setMaxFrameSize(most);
    nonblocking->setServerEventHandler(make_shared<Announcer>([socket] { return socket->getListenPort(); }));
    server = nonblocking;
  } else {
    auto socket = make_shared<TServerSocket>("127.0.0.1", flags.number("port", 0));
    socket->setRecvTimeout(flags.number("idle", 0));
    shared_ptr<TTransportFactory> transports;
    if (flags.framed()) {
      transports = make_shared<FramedFactory>(most);
    } else if (flags.http()) {
      transports = make_shared<THttpServerTransportFactory>();
    } else {
      transports = make_shared<TBufferedTransportFactory>();
    }
    if (kind == "threadpool") {
      auto manager = concurrency::ThreadManager::newSimpleThreadManager(20);
      manager->threadFactory(make_shared<concurrency::ThreadFactory>());
      manager->start();
      server = make_shared<TThreadPoolServer>(processor, socket, transports, protocols, manager);
    } else {
      server = make_shared<TThreadedServer>(processor, socket, transports, protocols);
    }
    server->setServerEventHandler(make_shared<Announcer>([socket] { return socket->getPort(); }));
  }
  server->serve();
}
