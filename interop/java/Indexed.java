import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TMemoryInputTransport;
import thrift.test.Insanity;
import thrift.test.Xtruct;

/** Reads an Insanity from a file, and prints what is in it. */
public class Indexed {
  public static void main(String[] args) throws Exception {
    TMemoryInputTransport in = new TMemoryInputTransport(Files.readAllBytes(Paths.get(args[0])));
    Insanity v = new Insanity();
    v.read(new TBinaryProtocol(in));
    long sum = 0;
    for (long n : v.getUserMap().values()) {
      sum += n;
    }
    System.out.println(
        v.getUserMapSize() + " " + sum + " " + v.getXtructsSize() + " " + in.getBytesRemainingInBuffer());
    for (Xtruct x : v.getXtructs()) {
      System.out.println(x.string_thing + " " + x.byte_thing + " " + x.i32_thing + " " + x.i64_thing);
    }
  }
}
