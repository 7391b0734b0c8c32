import java.util.HashMap;
import java.util.Map;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocolFactory;

/** The command line, as Apache's test/README.md has it, with some more flags. */
final class Flags {
  private final Map<String, String> given = new HashMap<>();

  Flags(String[] args) {
    for (String arg : args) {
      String[] parts = arg.split("=", 2);
      given.put(parts[0], parts.length == 2 ? parts[1] : "true");
    }
  }

  String text(String name, String otherwise) {
    return given.getOrDefault("--" + name, otherwise);
  }

  int number(String name, int otherwise) {
    return Integer.parseInt(text(name, String.valueOf(otherwise)));
  }

  boolean framed() {
    return text("transport", "buffered").equals("framed");
  }

  boolean http() {
    return text("transport", "buffered").equals("http");
  }

  boolean sasl() {
    return text("transport", "buffered").equals("sasl");
  }

  boolean multiplexed() {
    return text("protocol", "binary").startsWith("multi");
  }

  /** Returns the protocol, without what multiplexes. */
  TProtocolFactory protocol() {
    String name = text("protocol", "binary");
    if (name.equals("compact") || name.equals("multic")) {
      return new TCompactProtocol.Factory();
    }
    return new TBinaryProtocol.Factory(false, !old());
  }

  /** Whether messages are sent without the strict header's version. */
  boolean old() {
    return given.containsKey("--old");
  }
}
