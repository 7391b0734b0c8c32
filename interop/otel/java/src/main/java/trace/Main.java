package trace;

import greet.Greeter;
import greet.Unknown;
import java.util.concurrent.CountDownLatch;
import org.apache.thrift.TException;
import org.apache.thrift.async.AsyncMethodCallback;
import org.apache.thrift.async.TAsyncClientManager;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TMultiplexedProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.server.TNonblockingServer;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TNonblockingServerSocket;
import org.apache.thrift.transport.TNonblockingSocket;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;

/** A server and clients of Greeter on libthrift, which know nothing of traces. */
public final class Main {
  private static final class Handler implements Greeter.Iface {
    @Override
    public String hello(String name) throws TException {
      if (name.endsWith("?")) {
        throw new Unknown(name);
      }
      if (name.equals("bug")) {
        throw new IllegalStateException("a bug");
      }
      return "java says hello " + name;
    }

    @Override
    public String relay(String name, int port, boolean framed) throws TException {
      try (TTransport transport = open("127.0.0.1", port, framed)) {
        return new Greeter.Client(new TBinaryProtocol(transport)).hello(name);
      }
    }

    @Override
    public void tell(String name) {}

    @Override
    public String count(String name, long n) {
      return name + n;
    }
  }

  private static TTransport open(String host, int port, boolean framed) throws TException {
    TTransport transport = new TSocket(host, port);
    if (framed) {
      transport = new TFramedTransport(transport);
    }
    transport.open();
    return transport;
  }

  /** serve FRAMED: prints the port that it listens on, and serves until it is killed. */
  private static void serve(boolean framed) throws Exception {
    Greeter.Processor<Handler> processor = new Greeter.Processor<>(new Handler());
    TServer server;
    if (framed) {
      TNonblockingServerSocket socket = new TNonblockingServerSocket(0);
      System.out.println("port " + socket.getPort());
      server =
          new TNonblockingServer(
              new TNonblockingServer.Args(socket)
                  .processor(processor)
                  .protocolFactory(new TBinaryProtocol.Factory()));
    } else {
      TServerSocket socket = new TServerSocket(0);
      System.out.println("port " + socket.getServerSocket().getLocalPort());
      server = new TThreadPoolServer(new TThreadPoolServer.Args(socket).processor(processor));
    }
    System.out.flush();
    server.serve();
  }

  private interface Call {
    String make() throws Exception;
  }

  private static void report(String what, Call call) {
    String result;
    try {
      result = call.make();
    } catch (Exception e) {
      result = e.getClass().getSimpleName();
    }
    System.out.println(what + ": " + result);
  }

  /** call FRAMED PORT BACKEND BACKENDFRAMED: makes calls and prints what they return. */
  private static void call(boolean framed, int port, int backend, boolean backendFramed)
      throws Exception {
    try (TTransport transport = open("127.0.0.1", port, framed)) {
      Greeter.Client client = new Greeter.Client(new TBinaryProtocol(transport));
      report("relay", () -> client.relay("ada", backend, backendFramed));
      report("relay?", () -> client.relay("who?", backend, backendFramed));
      report("hello", () -> client.hello("ada"));
      report("hello?", () -> client.hello("who?"));
      report("bug", () -> client.hello("bug"));
      client.tell("ada");
      report("after", () -> client.hello("ada again"));
    }
    try (TTransport transport = open("127.0.0.1", port, framed)) {
      TProtocol protocol = new TMultiplexedProtocol(new TBinaryProtocol(transport), "greeter");
      Greeter.Client client = new Greeter.Client(protocol);
      report("multiplexed", () -> client.hello("ada"));
    }
    if (framed) {
      CountDownLatch done = new CountDownLatch(1);
      TAsyncClientManager manager = new TAsyncClientManager();
      Greeter.AsyncClient client =
          new Greeter.AsyncClient(
              new TBinaryProtocol.Factory(), manager, new TNonblockingSocket("127.0.0.1", port));
      client.hello(
          "async",
          new AsyncMethodCallback<String>() {
            @Override
            public void onComplete(String text) {
              report("async", () -> text);
              done.countDown();
            }

            @Override
            public void onError(Exception e) {
              report("async", () -> e.toString());
              done.countDown();
            }
          });
      done.await();
      manager.stop();
    }
  }

  public static void main(String[] args) throws Exception {
    boolean framed = Boolean.parseBoolean(args[1]);
    if (args[0].equals("serve")) {
      serve(framed);
    } else {
      call(framed, Integer.parseInt(args[2]), Integer.parseInt(args[3]), Boolean.parseBoolean(args[4]));
    }
    System.exit(0);
  }
}
