import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.Sasl;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TSaslClientTransport;
import org.apache.thrift.transport.TSaslServerTransport;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportFactory;

/**
 * Apache's library for Java with a login by Kerberos. It knows two methods of examples/kv, create
 * and retrieve.
 *
 * <pre>
 * Peer server KEYTAB PRINCIPAL QOP             prints its port
 * Peer client KEYTAB PRINCIPAL QOP PORT MUTUAL prints "ok" after calls
 * </pre>
 */
public class Peer {
  public static void main(String[] args) throws Exception {
    Subject subject = login(args[1], args[2], args[0].equals("client"));
    Map<String, String> properties = new HashMap<>();
    properties.put(Sasl.QOP, args[3]);
    Subject.doAs(
        subject,
        (PrivilegedExceptionAction<Void>)
            () -> {
              if (args[0].equals("server")) {
                serve(properties);
              } else {
                properties.put(Sasl.SERVER_AUTH, args[5]);
                call(properties, Integer.parseInt(args[4]));
              }
              return null;
            });
  }

  private static Subject login(String keytab, String principal, boolean client) throws Exception {
    Map<String, String> options = new HashMap<>();
    options.put("useKeyTab", "true");
    options.put("keyTab", keytab);
    options.put("principal", principal);
    options.put("storeKey", "true");
    options.put("doNotPrompt", "true");
    options.put("isInitiator", String.valueOf(client));
    Configuration configuration =
        new Configuration() {
          @Override
          public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
            return new AppConfigurationEntry[] {
              new AppConfigurationEntry(
                  "com.sun.security.auth.module.Krb5LoginModule",
                  AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                  options)
            };
          }
        };
    LoginContext context = new LoginContext("peer", new Subject(), null, configuration);
    context.login();
    return context.getSubject();
  }

  private static void call(Map<String, String> properties, int port) throws Exception {
    TSaslClientTransport transport =
        new TSaslClientTransport(
            "GSSAPI", null, "store", "localhost", properties, null, new TSocket("localhost", port));
    transport.open();
    TProtocol protocol = new TBinaryProtocol(transport);
    for (int size : new int[] {0, 1, 1000, 100_000, 2_000_000}) {
      byte[] value = new byte[size];
      Arrays.fill(value, (byte) 'x');
      byte[] key = ("key " + size).getBytes();
      protocol.writeMessageBegin(new TMessage("create", TMessageType.CALL, size));
      write(protocol, 1, key, value);
      receive(protocol);
      protocol.writeMessageBegin(new TMessage("retrieve", TMessageType.CALL, size));
      write(protocol, 1, key, null);
      byte[] got = receive(protocol);
      if (!Arrays.equals(got, value)) {
        throw new Exception("another value came back for " + size);
      }
    }
    transport.close();
    System.out.println("ok");
  }

  /** Writes the rest of a message: a struct of one or two fields. */
  private static void write(TProtocol protocol, int id, byte[] first, byte[] second)
      throws Exception {
    protocol.writeStructBegin(new TStruct());
    for (byte[] b : new byte[][] {first, second}) {
      if (b != null) {
        protocol.writeFieldBegin(new TField("", TType.STRING, (short) id++));
        protocol.writeBinary(ByteBuffer.wrap(b));
        protocol.writeFieldEnd();
      }
    }
    protocol.writeFieldStop();
    protocol.writeStructEnd();
    protocol.writeMessageEnd();
    protocol.getTransport().flush();
  }

  /** Receives a reply, and returns its result, if it has one. */
  private static byte[] receive(TProtocol protocol) throws Exception {
    TMessage message = protocol.readMessageBegin();
    if (message.type != TMessageType.REPLY) {
      throw new Exception("an exception in place of a reply");
    }
    return read(protocol)[0];
  }

  /** Reads a struct of texts with the ids 0 to 2, and the end of the message. */
  private static byte[][] read(TProtocol protocol) throws org.apache.thrift.TException {
    byte[][] fields = new byte[3][];
    protocol.readStructBegin();
    for (TField f = protocol.readFieldBegin();
        f.type != TType.STOP;
        f = protocol.readFieldBegin()) {
      if (f.type == TType.STRING && f.id >= 0 && f.id < 3) {
        ByteBuffer b = protocol.readBinary();
        fields[f.id] = new byte[b.remaining()];
        b.get(fields[f.id]);
      } else {
        TProtocolUtil.skip(protocol, f.type);
      }
      protocol.readFieldEnd();
    }
    protocol.readStructEnd();
    protocol.readMessageEnd();
    return fields;
  }

  private static void serve(Map<String, String> properties) throws Exception {
    TSaslServerTransport.Factory factory = new TSaslServerTransport.Factory();
    factory.addServerDefinition(
        "GSSAPI",
        "store",
        "localhost",
        properties,
        callbacks -> {
          for (Callback c : callbacks) {
            if (c instanceof AuthorizeCallback) {
              AuthorizeCallback authorize = (AuthorizeCallback) c;
              authorize.setAuthorized(
                  authorize.getAuthenticationID().equals(authorize.getAuthorizationID()));
            }
          }
        });
    TServerSocket socket =
        new TServerSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Map<String, byte[]> store = new HashMap<>();
    Subject subject = Subject.getSubject(java.security.AccessController.getContext());
    TThreadPoolServer.Args args =
        new TThreadPoolServer.Args(socket)
            .transportFactory(
                new TTransportFactory() {
                  @Override
                  public TTransport getTransport(TTransport t) {
                    try { // the pool's threads have no subject
                      return Subject.doAs(
                          subject,
                          (PrivilegedExceptionAction<TTransport>) () -> factory.getTransport(t));
                    } catch (java.security.PrivilegedActionException e) {
                      throw new RuntimeException(e);
                    }
                  }
                })
            .protocolFactory(new TBinaryProtocol.Factory())
            .processor(
                (in, out) -> {
                  TMessage message = in.readMessageBegin();
                  byte[][] fields = read(in);
                  byte[] result = null;
                  synchronized (store) {
                    if (message.name.equals("create")) {
                      store.put(new String(fields[1]), fields[2]);
                    } else {
                      result = store.get(new String(fields[1]));
                    }
                  }
                  out.writeMessageBegin(
                      new TMessage(message.name, TMessageType.REPLY, message.seqid));
                  try {
                    write(out, 0, result, null);
                  } catch (Exception e) {
                    throw new org.apache.thrift.TException(e);
                  }
                });
    System.out.println(socket.getServerSocket().getLocalPort());
    new TThreadPoolServer(args).serve();
  }
}
