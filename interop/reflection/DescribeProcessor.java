package nocopy;

import java.io.InputStream;
import org.apache.thrift.TException;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolDecorator;
import org.apache.thrift.protocol.TProtocolException;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryBuffer;
import org.apache.thrift.transport.TMemoryInputTransport;

/**
 * Lets a server on libthrift return its IDL to clients that ask, such as the commands "nocopy
 * describe" and "nocopy call". The bundle is made by: nocopy bundle shop.thrift -o shop.bundle
 *
 * <pre>
 * InputStream bundle = Main.class.getResourceAsStream("/shop.bundle");
 * TProcessor processor = new DescribeProcessor(new Shop.Processor<>(handler), bundle);
 * </pre>
 *
 * <p>It goes around all other processors, also around a TMultiplexedProcessor. Whoever can connect
 * to the server can then read the IDL, with its comments. docs/reflection.md specifies the method.
 */
public final class DescribeProcessor implements TProcessor {
  private static final String METHOD = "nocopy.describe";

  private final TProcessor processor;
  private final TMemoryBuffer result = new TMemoryBuffer(4096);

  /** Reads a bundle, and leaves the stream open. Throws an exception if it is none. */
  public DescribeProcessor(TProcessor processor, InputStream bundle) throws TException {
    this.processor = processor;
    TProtocol out = new TBinaryProtocol(result);
    out.writeFieldBegin(new TField("success", TType.STRUCT, (short) 0));
    copy(new TBinaryProtocol(new TIOStreamTransport(bundle)), out, TType.STRUCT);
    out.writeFieldStop();
  }

  @Override
  public void process(TProtocol in, TProtocol out) throws TException {
    TMessage begin = in.readMessageBegin();
    if (!begin.name.equals(METHOD)) {
      TProtocol again =
          new TProtocolDecorator(in) {
            @Override
            public TMessage readMessageBegin() {
              return begin;
            }
          };
      processor.process(again, out);
      return;
    }
    TProtocolUtil.skip(in, TType.STRUCT);
    in.readMessageEnd();
    out.writeMessageBegin(new TMessage(METHOD, TMessageType.REPLY, begin.seqid));
    TMemoryInputTransport bytes = new TMemoryInputTransport(result.getArray(), 0, result.length());
    copy(new TBinaryProtocol(bytes), out, TType.STRUCT);
    out.writeMessageEnd();
    out.getTransport().flush();
  }

  /** Writes a value that it reads in Binary, where the ends of values have no bytes. */
  private static void copy(TProtocol in, TProtocol out, byte type) throws TException {
    if (type == TType.STRING) {
      out.writeString(in.readString());
    } else if (type == TType.LIST) {
      TList list = in.readListBegin();
      out.writeListBegin(list);
      for (int i = 0; i < list.size; i++) {
        copy(in, out, list.elemType);
      }
      out.writeListEnd();
    } else if (type == TType.STRUCT) {
      out.writeStructBegin(new TStruct());
      for (TField f = in.readFieldBegin(); f.type != TType.STOP; f = in.readFieldBegin()) {
        out.writeFieldBegin(f);
        copy(in, out, f.type);
        out.writeFieldEnd();
      }
      out.writeFieldStop();
      out.writeStructEnd();
    } else {
      throw new TProtocolException(TProtocolException.INVALID_DATA, "no bundle has type " + type);
    }
  }
}
