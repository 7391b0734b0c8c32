// Lets a server on Apache Thrift's C++ library return its IDL to clients that ask, such as the
// commands "nocopy describe" and "nocopy call". Whoever can connect to the server can then read
// the IDL, with its comments. docs/reflection.md specifies the method.
//
//   // made by: nocopy bundle shop.thrift -o shop.bundle
//   auto shop = std::make_shared<ShopProcessor>(handler);
//   auto processor = std::make_shared<nocopy::DescribeProcessor>(shop, "shop.bundle");
#pragma once
#include <fstream>
#include <memory>
#include <string>
#include <thrift/TProcessor.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TProtocolDecorator.h>
#include <thrift/transport/TBufferTransports.h>

namespace nocopy {
using namespace apache::thrift::protocol;

// Answers the method nocopy.describe with a bundle, and leaves all other calls to another
// processor. It goes around all other processors, also around a TMultiplexedProcessor.
class DescribeProcessor : public apache::thrift::TProcessor {
 public:
  // Reads the file with the bundle. Throws an exception if it is none.
  DescribeProcessor(std::shared_ptr<apache::thrift::TProcessor> processor, const std::string& path)
      : processor_(processor) {
    std::ifstream file(path, std::ios::binary);
    std::string bundle(std::istreambuf_iterator<char>(file), {});
    if (!file) throw apache::thrift::TException("cannot read the bundle " + path);
    result_ = std::string("\x0c\0\0", 3) + bundle + '\0';  // struct Result { 0: Description success }
    TBinaryProtocol nowhere(std::make_shared<apache::thrift::transport::TMemoryBuffer>());
    writeResult(nowhere);
  }

  bool process(std::shared_ptr<TProtocol> in, std::shared_ptr<TProtocol> out, void* context) override {
    auto begun = std::make_shared<Begun>(in);
    in->readMessageBegin(begun->name, begun->type, begun->seqid);
    if (begun->name != "nocopy.describe") return processor_->process(begun, out, context);
    in->skip(T_STRUCT);
    in->readMessageEnd();
    in->getTransport()->readEnd();
    out->writeMessageBegin(begun->name, T_REPLY, begun->seqid);
    writeResult(*out);
    out->writeMessageEnd();
    out->getTransport()->writeEnd();
    out->getTransport()->flush();
    return true;
  }

 private:
  // A protocol that has read the beginning of a message, and returns it again.
  struct Begun : TProtocolDecorator {
    explicit Begun(std::shared_ptr<TProtocol> in) : TProtocolDecorator(in) {}
    uint32_t readMessageBegin_virt(std::string& n, TMessageType& t, int32_t& s) override {
      n = name, t = type, s = seqid;
      return 0;
    }
    std::string name;
    TMessageType type;
    int32_t seqid;
  };

  void writeResult(TProtocol& out) {
    auto bytes = reinterpret_cast<uint8_t*>(&result_[0]);
    TBinaryProtocol in(std::make_shared<apache::thrift::transport::TMemoryBuffer>(bytes, result_.size()));
    copy(in, out, T_STRUCT);
  }

  // Writes a value that it reads in Binary, where the ends of values have no bytes.
  static void copy(TProtocol& in, TProtocol& out, TType type) {
    TInputRecursionTracker depth(in);
    std::string text;
    uint32_t size;
    int16_t id;
    if (type == T_STRING) {
      in.readString(text);
      out.writeString(text);
    } else if (type == T_LIST) {
      in.readListBegin(type, size);
      out.writeListBegin(type, size);
      while (size-- > 0) copy(in, out, type);
      out.writeListEnd();
    } else if (type == T_STRUCT) {
      out.writeStructBegin("");
      while (in.readFieldBegin(text, type, id), type != T_STOP) {
        out.writeFieldBegin("", type, id);
        copy(in, out, type);
        out.writeFieldEnd();
      }
      out.writeFieldStop();
      out.writeStructEnd();
    } else {
      throw TProtocolException(TProtocolException::INVALID_DATA, "a type that no bundle has");
    }
  }

  std::shared_ptr<apache::thrift::TProcessor> processor_;
  std::string result_;
};
}  // namespace nocopy
