import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import nocopy.DescribeProcessor;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.TMultiplexedProcessor;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.server.AbstractNonblockingServer.AbstractNonblockingServerArgs;
import org.apache.thrift.server.THsHaServer;
import org.apache.thrift.server.TNonblockingServer;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.server.TThreadedSelectorServer;
import org.apache.thrift.transport.TNonblockingServerSocket;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;
import org.apache.thrift.transport.layered.TFramedTransport;
import thrift.test.Insanity;
import thrift.test.Numberz;
import thrift.test.SecondService;
import thrift.test.ThriftTest;
import thrift.test.Xception;
import thrift.test.Xception2;
import thrift.test.Xtruct;
import thrift.test.Xtruct2;

/**
 * The test service on libthrift. --kind is threadpool, nonblocking, hsha or selector; over HTTP,
 * it is TServlet whatever --kind is. Its first line ends with the port that it listens on. --idle
 * is after how many milliseconds without a request it closes a connection; threadpool only.
 * --describe is the bundle with which it answers nocopy.describe.
 */
public final class Server {
  public static void main(String[] args) throws Exception {
    Flags flags = new Flags(args);
    TProcessor processor = new ThriftTest.Processor<>(new Handler());
    if (flags.multiplexed()) {
      TMultiplexedProcessor both = new TMultiplexedProcessor();
      both.registerDefault(processor);
      both.registerProcessor("ThriftTest", processor);
      SecondService.Iface second = thing -> "testString(\"" + thing + "\")";
      both.registerProcessor("SecondService", new SecondService.Processor<>(second));
      processor = both;
    }
    if (!flags.text("describe", "").isEmpty()) {
      try (InputStream bundle = new FileInputStream(flags.text("describe", ""))) {
        processor = new DescribeProcessor(processor, bundle);
      }
    }
    if (flags.http()) {
      Web.serve(flags, processor, flags.protocol());
      return;
    }
    TServer server = server(flags, processor);
    Thread announcer = new Thread(() -> announce(server));
    announcer.setDaemon(true);
    announcer.start();
    server.serve();
  }

  private static int port;

  private static void announce(TServer server) {
    while (!server.isServing()) {
      Thread.onSpinWait();
    }
    System.out.println("listening on " + port);
  }

  private static TServer server(Flags flags, TProcessor processor) throws Exception {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), flags.number("port", 0));
    TProtocolFactory protocols = flags.protocol();
    int most = flags.number("max-frame", TConfiguration.DEFAULT_MAX_FRAME_SIZE);
    String kind = flags.text("kind", "threadpool");
    if (kind.equals("threadpool")) {
      TServerSocket socket = new TServerSocket(address, flags.number("idle", 0));
      port = socket.getServerSocket().getLocalPort();
      TTransportFactory transports =
          flags.framed() ? new TFramedTransport.Factory(most) : new TTransportFactory();
      if (flags.sasl()) {
        transports = Login.factory(flags);
      }
      return new TThreadPoolServer(
          new TThreadPoolServer.Args(socket)
              .processor(processor)
              .protocolFactory(protocols)
              .transportFactory(transports)
              .minWorkerThreads(1)
              .maxWorkerThreads(100));
    }
    TNonblockingServerSocket socket = new TNonblockingServerSocket(address);
    port = socket.getPort();
    switch (kind) {
      case "nonblocking":
        return new TNonblockingServer(
            configure(new TNonblockingServer.Args(socket), processor, protocols, most));
      case "hsha":
        return new THsHaServer(configure(new THsHaServer.Args(socket), processor, protocols, most));
      case "selector":
        return new TThreadedSelectorServer(
            configure(new TThreadedSelectorServer.Args(socket), processor, protocols, most));
      default:
        throw new IllegalArgumentException("unknown kind " + kind);
    }
  }

  private static <A extends AbstractNonblockingServerArgs<A>> A configure(
      A args, TProcessor processor, TProtocolFactory protocols, int most) {
    args.maxReadBufferBytes = most;
    return args.processor(processor)
        .protocolFactory(protocols)
        .transportFactory(new TFramedTransport.Factory(most));
  }

  private static final class Handler implements ThriftTest.Iface {
    public void testVoid() {}

    public String testString(String thing) {
      return thing;
    }

    public boolean testBool(boolean thing) {
      return thing;
    }

    public byte testByte(byte thing) {
      return thing;
    }

    public int testI32(int thing) {
      return thing;
    }

    public long testI64(long thing) {
      return thing;
    }

    public double testDouble(double thing) {
      return thing;
    }

    public ByteBuffer testBinary(ByteBuffer thing) {
      return thing;
    }

    public UUID testUuid(UUID thing) {
      return thing;
    }

    public Xtruct testStruct(Xtruct thing) {
      return thing;
    }

    public Xtruct2 testNest(Xtruct2 thing) {
      return thing;
    }

    public Map<Integer, Integer> testMap(Map<Integer, Integer> thing) {
      return thing;
    }

    public Map<String, String> testStringMap(Map<String, String> thing) {
      return thing;
    }

    public Set<Integer> testSet(Set<Integer> thing) {
      return thing;
    }

    public List<Integer> testList(List<Integer> thing) {
      return thing;
    }

    public Numberz testEnum(Numberz thing) {
      return thing;
    }

    public long testTypedef(long thing) {
      return thing;
    }

    public Map<Integer, Map<Integer, Integer>> testMapMap(int hello) {
      Map<Integer, Integer> negative = new HashMap<>();
      Map<Integer, Integer> positive = new HashMap<>();
      for (int i = 1; i <= 4; i++) {
        negative.put(-i, -i);
        positive.put(i, i);
      }
      return Map.of(-4, negative, 4, positive);
    }

    public Map<Long, Map<Numberz, Insanity>> testInsanity(Insanity argument) {
      return Map.of(
          1L, Map.of(Numberz.TWO, argument, Numberz.THREE, argument),
          2L, Map.of(Numberz.SIX, new Insanity()));
    }

    public Xtruct testMulti(byte i8, int i32, long i64, Map<Short, String> m, Numberz n, long id) {
      return new Xtruct("Hello2", i8, i32, i64);
    }

    public void testException(String arg) throws TException {
      if (arg.equals("Xception")) {
        throw new Xception(1001, arg);
      }
      if (arg.equals("TException")) {
        throw new TException("This is a TException");
      }
    }

    public Xtruct testMultiException(String arg0, String arg1) throws Xception, Xception2 {
      if (arg0.equals("Xception")) {
        throw new Xception(1001, "This is an Xception");
      }
      if (arg0.equals("Xception2")) {
        throw new Xception2(2002, new Xtruct().setString_thing("This is an Xception2"));
      }
      return new Xtruct().setString_thing(arg1);
    }

    public void testOneway(int seconds) {
      try {
        Thread.sleep(seconds * 1000L);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
