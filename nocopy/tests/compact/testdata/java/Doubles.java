import java.util.HexFormat;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMap;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.protocol.TSet;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;

/**
 * Prints a struct of doubles in the compact protocol and in Thrift Binary, as libthrift writes it:
 * a field for each of them, then a list, a set and a map of all. doubles.txt was made by
 *
 * <pre>
 * javac -cp 'LIB/*' Doubles.java; java -cp 'LIB/*:.' Doubles >doubles.txt
 * </pre>
 *
 * where LIB has libthrift 0.25.0 and what it needs, as ../../../../../interop/java/pom.xml has it.
 */
public final class Doubles {
  private static final double[] VALUES = {
    1.5, 0, -0.0, 1, -1, Math.PI, Double.MAX_VALUE, Double.MIN_VALUE, Double.MIN_NORMAL,
    Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN,
    Double.longBitsToDouble(0x7ff8000000000123L), Double.longBitsToDouble(0xfff8000000000001L),
    Double.longBitsToDouble(0x0102030405060708L),
  };

  public static void main(String[] args) throws Exception {
    print("compact", new TCompactProtocol.Factory());
    print("binary", new TBinaryProtocol.Factory());
  }

  private static void print(String name, TProtocolFactory protocols) throws Exception {
    TMemoryBuffer out = new TMemoryBuffer(1024);
    TProtocol p = protocols.getProtocol(out);
    p.writeStructBegin(new TStruct("Doubles"));
    short id = 11;
    for (double v : VALUES) {
      p.writeFieldBegin(new TField("", TType.DOUBLE, id++));
      p.writeDouble(v);
      p.writeFieldEnd();
    }
    p.writeFieldBegin(new TField("", TType.LIST, id++));
    p.writeListBegin(new TList(TType.DOUBLE, VALUES.length));
    for (double v : VALUES) {
      p.writeDouble(v);
    }
    p.writeListEnd();
    p.writeFieldEnd();
    p.writeFieldBegin(new TField("", TType.SET, id++));
    p.writeSetBegin(new TSet(TType.DOUBLE, VALUES.length));
    for (double v : VALUES) {
      p.writeDouble(v);
    }
    p.writeSetEnd();
    p.writeFieldEnd();
    p.writeFieldBegin(new TField("", TType.MAP, id));
    p.writeMapBegin(new TMap(TType.DOUBLE, TType.DOUBLE, VALUES.length));
    for (double v : VALUES) {
      p.writeDouble(v);
      p.writeDouble(v);
    }
    p.writeMapEnd();
    p.writeFieldEnd();
    p.writeFieldStop();
    p.writeStructEnd();
    byte[] b = java.util.Arrays.copyOf(out.getArray(), out.length());
    System.out.println(name + " " + HexFormat.of().formatHex(b));
  }
}
