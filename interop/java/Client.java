import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.async.AsyncMethodCallback;
import org.apache.thrift.async.TAsyncClientManager;
import org.apache.thrift.protocol.TMultiplexedProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.transport.THttpClient;
import org.apache.thrift.transport.TNonblockingSocket;
import org.apache.thrift.transport.TNonblockingTransport;
import org.apache.thrift.transport.TSaslClientTransport;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;
import thrift.test.Insanity;
import thrift.test.Numberz;
import thrift.test.SecondService;
import thrift.test.ThriftTest;
import thrift.test.Xception;
import thrift.test.Xception2;
import thrift.test.Xtruct;
import thrift.test.Xtruct2;
import wide.Tree;
import wide.Wide;
import wide.WideXtruct;

/**
 * Calls a server with libthrift and checks what comes back. --kind is sync or async. --test is
 * all (every method, then methods and fields that the server does not know), concurrent (8
 * clients), idle (the server closes the connection meanwhile) or frames (the server takes none of
 * more than 64 KiB). The exit code is a sum: 1 base types, 2 structs, 4 containers, 8 exceptions,
 * 16 the other tests, 64 no connection.
 */
public final class Client {
  static final int BASETYPES = 1, STRUCTS = 2, CONTAINERS = 4, EXCEPTIONS = 8, OTHERS = 16;

  private final Flags flags;
  private int failed;
  private Connection c;

  private Client(Flags flags) {
    this.flags = flags;
  }

  public static void main(String[] args) throws Exception {
    Client client = new Client(new Flags(args));
    try {
      client.c = new Connection(client.flags);
    } catch (TTransportException e) {
      System.out.println("Connect failed: " + e);
      System.exit(64);
    }
    switch (client.flags.text("test", "all")) {
      case "all":
        client.all();
        break;
      case "concurrent":
        client.check(OTHERS, "8 clients at a time", client::concurrent);
        break;
      case "idle":
        client.check(OTHERS, "a call after a pause", client::idle);
        break;
      case "frames":
        client.check(OTHERS, "frames that are too large", client::frames);
        if (client.flags.framed() && client.flags.text("kind", "sync").equals("sync")) {
          client.check(OTHERS, "a reply that is too large for the client", client::largeReply);
        }
        break;
      default:
        throw new IllegalArgumentException("unknown test");
    }
    System.exit(client.failed); // asynchronous clients leave a thread
  }

  /** A connection with a client of each service. */
  static final class Connection {
    final ThriftTest.Iface test;
    final SecondService.Iface second;
    final Wide.Iface wide;
    final ThriftTest.Iface nobody; // a service that no server has
    private final Flags flags;
    private final String host;
    private final int port;
    private TTransport transport;
    private int opened; // by asynchronous clients: how often

    Connection(Flags flags) throws Exception {
      this(flags, TConfiguration.DEFAULT_MAX_FRAME_SIZE);
    }

    /** Makes a connection whose frames have at most so many bytes. */
    Connection(Flags flags, int most) throws Exception {
      this.flags = flags;
      host = flags.text("host", "127.0.0.1");
      port = flags.number("port", 9090);
      if (flags.text("kind", "sync").equals("async")) {
        test = waiting(ThriftTest.Iface.class, "ThriftTest", ThriftTest.AsyncClient::new);
        second = waiting(SecondService.Iface.class, "SecondService", SecondService.AsyncClient::new);
        wide = waiting(Wide.Iface.class, "ThriftTest", Wide.AsyncClient::new);
        nobody = waiting(ThriftTest.Iface.class, "Nobody", ThriftTest.AsyncClient::new);
        return;
      }
      TTransport socket = new TSocket(host, port, 30_000);
      transport = flags.framed() ? new TFramedTransport(socket, most) : socket;
      if (flags.http()) {
        transport = new THttpClient("http://" + host + ":" + port + "/");
      } else if (flags.sasl()) {
        String mechanism = flags.text("mechanism", "PLAIN");
        transport = new TSaslClientTransport(
            mechanism, null, "thrift", "localhost", new HashMap<>(), Login.as(flags), socket);
      }
      transport.open();
      test = new ThriftTest.Client(protocol("ThriftTest").getProtocol(transport));
      second = new SecondService.Client(protocol("SecondService").getProtocol(transport));
      wide = new Wide.Client(protocol("ThriftTest").getProtocol(transport));
      nobody = new ThriftTest.Client(protocol("Nobody").getProtocol(transport));
    }

    void close() {
      transport.close();
    }

    private TProtocolFactory protocol(String service) {
      TProtocolFactory plain = flags.protocol();
      if (!flags.multiplexed()) {
        return plain;
      }
      return transport -> {
        TProtocol protocol = plain.getProtocol(transport);
        return new TMultiplexedProtocol(protocol, service);
      };
    }

    interface AsyncClient {
      Object on(TProtocolFactory protocols, TAsyncClientManager manager, TNonblockingTransport socket);
    }

    /**
     * Returns a synchronous client that waits for each call of an asynchronous one. All share one
     * socket; there is another one after each exception, since libthrift closes the socket of an
     * asynchronous client then.
     */
    private <I> I waiting(Class<I> type, String service, AsyncClient constructor) throws IOException {
      TAsyncClientManager manager = new TAsyncClientManager();
      Object[] client = new Object[1];
      int[] of = {0};
      return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
          (proxy, method, args) -> {
            if (transport == null || !transport.isOpen()) {
              transport = new TNonblockingSocket(host, port, 30_000);
              opened++;
            }
            if (of[0] != opened) {
              client[0] = constructor.on(protocol(service), manager, (TNonblockingTransport) transport);
              of[0] = opened;
            }
            List<Object> all = new ArrayList<>(args == null ? List.of() : Arrays.asList(args));
            CompletableFuture<Object> done = new CompletableFuture<>();
            all.add(new AsyncMethodCallback<Object>() {
              public void onComplete(Object response) {
                done.complete(response);
              }

              public void onError(Exception e) {
                done.completeExceptionally(e);
              }
            });
            for (Method m : client[0].getClass().getMethods()) {
              if (m.getName().equals(method.getName()) && m.getParameterCount() == all.size()) {
                try {
                  m.invoke(client[0], all.toArray());
                  return done.get(30, TimeUnit.SECONDS);
                } catch (InvocationTargetException | ExecutionException e) {
                  Throwable cause = e.getCause();
                  throw cause instanceof TException ? cause : new TException(cause);
                }
              }
            }
            throw new IllegalStateException("no " + method);
          }));
    }
  }

  interface Check {
    void run() throws Exception;
  }

  interface Call<T> {
    T with(T value) throws Exception;
  }

  private void check(int bit, String what, Check test) {
    try {
      test.run();
      System.out.println(what + " ok");
    } catch (Exception | AssertionError e) {
      System.out.println(what + " *** FAILURE ***");
      e.printStackTrace(System.out);
      failed |= bit;
    }
  }

  static void same(Object want, Object got) {
    if (!Objects.equals(want, got)) {
      String text = "expected " + want + " but got " + got;
      throw new AssertionError(text.substring(0, Math.min(500, text.length())));
    }
  }

  @SafeVarargs
  private <T> void echo(int bit, String name, Call<T> call, T... values) {
    check(bit, name, () -> {
      for (T value : values) {
        same(value, call.with(value));
      }
    });
  }

  private static <E extends Exception> E raises(Class<E> type, Check call) throws Exception {
    try {
      call.run();
    } catch (Exception e) {
      if (type.isInstance(e)) {
        return type.cast(e);
      }
      throw e;
    }
    throw new AssertionError("no " + type.getSimpleName());
  }

  private void all() {
    String large = "x".repeat(1 << 20);
    byte[] bytes = new byte[1 << 20];
    Map<Integer, Integer> numbers = new HashMap<>();
    List<Integer> list = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      bytes[i] = (byte) i;
      numbers.put(i, -i);
      list.add(i * i);
    }
    ThriftTest.Iface t = c.test;
    check(BASETYPES, "testVoid", t::testVoid);
    echo(BASETYPES, "testString", t::testString,
        "", "Test", "ジャワ, ქართული, 𐍈", "quote: \" \\ \b\f\n\r\t \0", large);
    echo(BASETYPES, "testBool", t::testBool, true, false);
    echo(BASETYPES, "testByte", t::testByte, (byte) 0, (byte) -1, Byte.MAX_VALUE, Byte.MIN_VALUE);
    echo(BASETYPES, "testI32", t::testI32, 0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE);
    echo(BASETYPES, "testI64", t::testI64, 0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE);
    // Double.equals compares bits, except that all NaNs are equal
    echo(BASETYPES, "testDouble", t::testDouble, 0., -0., -5.235098235, Double.MIN_VALUE,
        Double.MAX_VALUE, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
    echo(BASETYPES, "testBinary", t::testBinary,
        ByteBuffer.allocate(0), ByteBuffer.wrap(new byte[] {0, -1, -128, 127}), ByteBuffer.wrap(bytes));
    echo(BASETYPES, "testUuid", t::testUuid,
        new UUID(0, 0), UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
    echo(BASETYPES, "testTypedef", t::testTypedef, 0L, 0xFFFFFFFFFFFFFFL, -1L);
    Xtruct zero = new Xtruct("Zero", (byte) 1, -3, -5);
    echo(STRUCTS, "testEnum", t::testEnum, Numberz.ONE, Numberz.FIVE, Numberz.EIGHT);
    echo(STRUCTS, "testStruct", t::testStruct, zero, new Xtruct());
    echo(STRUCTS, "testNest", t::testNest, new Xtruct2((byte) 1, zero, 5));
    check(STRUCTS, "testInsanity", this::insanity);
    check(STRUCTS, "testMulti", () -> same(new Xtruct("Hello2", (byte) 74, 0xFF00FF, 0xFFFFFFFFD0D0L),
        t.testMulti((byte) 74, 0xFF00FF, 0xFFFFFFFFD0D0L, Map.of((short) 0, "abc"), Numberz.FIVE, 0xF0F0F0)));
    echo(CONTAINERS, "testMap", t::testMap, Map.of(), Map.of(1, 2, -3, Integer.MIN_VALUE), numbers);
    echo(CONTAINERS, "testStringMap", t::testStringMap, Map.of(), Map.of("a", "2", "", "", "ü", "blah"));
    echo(CONTAINERS, "testSet", t::testSet, Set.of(), Set.of(8, 1, 42), new HashSet<>(list));
    echo(CONTAINERS, "testList", t::testList, List.of(), List.of(1, 4, 9, -42), list);
    check(CONTAINERS, "testMapMap", () -> same(Map.of(-4, Map.of(-4, -4, -3, -3, -2, -2, -1, -1),
        4, Map.of(4, 4, 3, 3, 2, 2, 1, 1)), t.testMapMap(1)));
    check(EXCEPTIONS, "testException", this::exception);
    check(EXCEPTIONS, "testMultiException", this::multiException);
    check(EXCEPTIONS, "the connection after an exception", () -> {
      c.test.testVoid();
      int before = c.opened;
      raises(Xception.class, () -> c.test.testException("Xception"));
      c.test.testVoid();
      same(before, c.opened);
    });
    check(BASETYPES, "testOneway", () -> {
      long start = System.nanoTime();
      t.testOneway(1);
      if (System.nanoTime() - start > 500_000_000) {
        throw new AssertionError("a oneway call took more than half a second");
      }
      t.testVoid();
    });
    if (flags.multiplexed()) {
      check(BASETYPES, "secondtestString", () -> same("testString(\"foobar\")", c.second.secondtestString("foobar")));
      check(OTHERS, "unknown service", () -> unknown(c.nobody::testVoid));
    } else {
      check(OTHERS, "method of another service", () -> unknown(() -> c.second.secondtestString("foobar")));
    }
    check(OTHERS, "unknown method", () -> {
      unknown(() -> c.wide.notThere(wide(3)));
      unknown(() -> c.wide.notThere(new WideXtruct().setString_thing(large)));
    });
    check(OTHERS, "unknown oneway method", this::unknownOneway);
    check(OTHERS, "unknown fields", () -> {
      for (int depth : new int[] {1, 2, 30}) {
        WideXtruct thing = wide(depth);
        same(thing, c.wide.testStruct(thing, tree(depth), "an argument more"));
      }
    });
  }

  private void insanity() throws TException {
    Insanity crazy = new Insanity(Map.of(Numberz.FIVE, 5L, Numberz.EIGHT, 8L),
        List.of(new Xtruct("Goodbye4", (byte) 4, 4, 4), new Xtruct("Hello2", (byte) 2, 2, 2)));
    Map<Long, Map<Numberz, Insanity>> got = c.test.testInsanity(crazy);
    same(Map.of(Numberz.TWO, crazy, Numberz.THREE, crazy), got.get(1L));
    Insanity six = got.get(2L).get(Numberz.SIX);
    same(0, six.getUserMapSize() + six.getXtructsSize());
    same(2, got.size());
  }

  private void exception() throws Exception {
    Xception x = raises(Xception.class, () -> c.test.testException("Xception"));
    same(List.of(1001, "Xception"), List.of(x.errorCode, x.message));
    same(1, c.test.testI32(1));
    TApplicationException app =
        raises(TApplicationException.class, () -> c.test.testException("TException"));
    same(TApplicationException.INTERNAL_ERROR, app.getType());
    same(2, c.test.testI32(2));
    c.test.testException("success");
  }

  private void multiException() throws Exception {
    Xception x = raises(Xception.class, () -> c.test.testMultiException("Xception", ""));
    same(List.of(1001, "This is an Xception"), List.of(x.errorCode, x.message));
    same(1, c.test.testI32(1));
    Xception2 x2 = raises(Xception2.class, () -> c.test.testMultiException("Xception2", ""));
    same(List.of(2002, "This is an Xception2"), List.of(x2.errorCode, x2.struct_thing.string_thing));
    same("foobar", c.test.testMultiException("success", "foobar").string_thing);
  }

  /** Checks that a method is unknown, and that the connection goes on. */
  private void unknown(Check call) throws Exception {
    TApplicationException app = raises(TApplicationException.class, call);
    same(TApplicationException.UNKNOWN_METHOD, app.getType());
    same(-7, c.test.testI32(-7));
  }

  /**
   * Calls a oneway method that the server does not know. Apache's servers answer, and so does
   * this one, which the next call takes for its reply.
   */
  private void unknownOneway() throws Exception {
    c.wide.tellNobody("hello");
    try {
      same(5, c.wide.testI32(5));
      System.out.println("an unknown oneway method has no answer");
    } catch (TApplicationException e) {
      same(TApplicationException.UNKNOWN_METHOD, e.getType());
    }
    c.close();
    c = new Connection(flags);
    same(6, c.wide.testI32(6));
  }

  private static Tree tree(int depth) {
    Tree t = new Tree(depth, new ArrayList<>());
    if (depth > 1) {
      t.addToChildren(tree(depth - 1));
      t.addToChildren(new Tree(-depth, List.of()));
    }
    return t;
  }

  private static WideXtruct wide(int depth) {
    return new WideXtruct("ünknown", true, List.of(List.of(), List.of("a", "")), (byte) -1, (short) 5,
        9, Double.NEGATIVE_INFINITY, 1L << 40, Map.of("", Set.of(), "b", Set.of(1, 2)), tree(depth),
        ByteBuffer.wrap(new byte[] {0, -1}), "last");
  }

  private void concurrent() throws Exception {
    AtomicInteger right = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int number = i;
      Thread thread = new Thread(() -> {
        try {
          Connection mine = new Connection(flags);
          for (int j = 0; j < 200; j++) {
            calls(mine.test, number, j);
            right.incrementAndGet();
          }
          mine.close();
        } catch (Exception | AssertionError e) {
          e.printStackTrace(System.out);
        }
      });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    same(8 * 200, right.get());
  }

  /** Makes one of several calls, whose reply tells which client's and which call's it is. */
  private static void calls(ThriftTest.Iface test, int client, int call) throws Exception {
    String text = client + "/" + call + " " + "y".repeat(call * 37 % 5000);
    switch (call % 4) {
      case 0:
        same(text, test.testString(text));
        break;
      case 1:
        Xtruct x = new Xtruct(text, (byte) client, call, (long) client * call);
        same(x, test.testStruct(x));
        break;
      case 2:
        raises(Xception.class, () -> test.testException("Xception"));
        same(1000 * client + call, test.testI32(1000 * client + call));
        break;
      default:
        same(text, test.testMultiException("success", text).string_thing);
    }
  }

  private void idle() throws Exception {
    same(1, c.test.testI32(1));
    Thread.sleep(flags.number("pause", 1000));
    raises(Exception.class, () -> c.test.testI32(2));
    c.close();
    c = new Connection(flags);
    same(3, c.test.testI32(3));
  }

  private void frames() throws Exception {
    String large = "z".repeat(100_000);
    same(1, c.test.testI32(1));
    Exception e = raises(Exception.class, () -> c.test.testString(large));
    System.out.println("a request that is too large: " + e);
    c.close();
    c = new Connection(flags);
    same(2, c.test.testI32(2));
  }

  /** Gets a reply that has its argument, which the server takes, twice. */
  private void largeReply() throws Exception {
    c = new Connection(flags, 1 << 16);
    Insanity half = new Insanity(Map.of(), List.of(new Xtruct("z".repeat(40_000), (byte) 0, 0, 0)));
    TTransportException e = raises(TTransportException.class, () -> c.test.testInsanity(half));
    same(TTransportException.CORRUPTED_DATA, e.getType());
    c = new Connection(flags, 1 << 16);
    same(4, c.test.testI32(4));
  }
}
