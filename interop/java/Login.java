import java.nio.charset.StandardCharsets;
import java.security.Provider;
import java.security.Security;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;
import org.apache.thrift.transport.TSaslServerTransport;
import org.apache.thrift.transport.TTransportFactory;

/** Logins by SASL: a user's name and password for the mechanisms PLAIN and CRAM-MD5. */
final class Login {
  private Login() {}

  /** Answers what a mechanism asks, on either side. */
  static CallbackHandler as(Flags flags) {
    return callbacks -> {
      for (Callback c : callbacks) {
        if (c instanceof NameCallback) {
          ((NameCallback) c).setName(flags.text("user", "ada"));
        } else if (c instanceof PasswordCallback) {
          ((PasswordCallback) c).setPassword(flags.text("password", "secret").toCharArray());
        } else if (c instanceof AuthorizeCallback) {
          ((AuthorizeCallback) c).setAuthorized(true);
        }
      }
    };
  }

  /** Returns what makes a server's connections demand a login. */
  static TTransportFactory factory(Flags flags) {
    Security.addProvider(new PlainProvider(flags.text("user", "ada"), flags.text("password", "secret")));
    TSaslServerTransport.Factory factory = new TSaslServerTransport.Factory();
    for (String mechanism : new String[] {"PLAIN", "CRAM-MD5"}) {
      factory.addServerDefinition(mechanism, "thrift", "localhost", new HashMap<>(), as(flags));
    }
    return factory;
  }

  /** The JDK has no server's side of PLAIN. */
  private static final class PlainProvider extends Provider {
    static String want;

    PlainProvider(String user, String password) {
      super("Plain", "1", "PLAIN for servers");
      want = user + "\0" + password;
      put("SaslServerFactory.PLAIN", PlainFactory.class.getName());
    }
  }

  public static final class PlainFactory implements SaslServerFactory {
    public SaslServer createSaslServer(
        String mechanism, String protocol, String server, Map<String, ?> props, CallbackHandler h) {
      return new Plain();
    }

    public String[] getMechanismNames(Map<String, ?> props) {
      return new String[] {"PLAIN"};
    }
  }

  private static final class Plain implements SaslServer {
    private boolean complete;

    public byte[] evaluateResponse(byte[] response) throws SaslException {
      String text = new String(response, StandardCharsets.UTF_8);
      if (!text.substring(text.indexOf('\0') + 1).equals(PlainProvider.want)) {
        throw new SaslException("wrong name or password");
      }
      complete = true;
      return null;
    }

    public String getMechanismName() {
      return "PLAIN";
    }

    public boolean isComplete() {
      return complete;
    }

    public String getAuthorizationID() {
      return "";
    }

    public byte[] unwrap(byte[] incoming, int offset, int len) {
      throw new UnsupportedOperationException();
    }

    public byte[] wrap(byte[] outgoing, int offset, int len) {
      throw new UnsupportedOperationException();
    }

    public Object getNegotiatedProperty(String name) {
      return null;
    }

    public void dispose() {}
  }
}
