import java.util.HashMap;
import java.util.Map;

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

  boolean multiplexed() {
    return text("protocol", "binary").equals("multi");
  }

  /** Whether messages are sent without the strict header's version. */
  boolean old() {
    return given.containsKey("--old");
  }
}
