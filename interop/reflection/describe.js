// Lets a server on the npm package thrift return its IDL to clients that ask.
//
//   const { describe } = require("./describe.js");
//   const bundle = fs.readFileSync("shop.bundle"); // made by: nocopy bundle shop.thrift -o shop.bundle
//   const processor = describe(new Shop.Processor(handler), bundle);
//   const server = thrift.createMultiplexServer(processor, options);
//   server.on("error", (err) => console.error(err)).listen(9090);
//
// Without the error handler, the server ends at the first byte that it does not expect.
//
// Clients are for example the commands "nocopy describe" and "nocopy call". Whoever can connect to
// the server can then read the IDL, with its comments. docs/reflection.md specifies the method.
"use strict";
const thrift = require("thrift");

const { MessageType, Type } = thrift.Thrift;
const METHOD = "nocopy.describe";

/**
 * Returns a processor that answers METHOD with a bundle, a Buffer, and leaves all other calls to
 * another processor. It goes around all other processors, also around a MultiplexedProcessor. It
 * throws an error if the bytes are no bundle.
 */
function describe(processor, bundle) {
  // struct Result { 0: Description success }
  const result = Buffer.concat([Buffer.from([Type.STRUCT, 0, 0]), bundle, Buffer.from([Type.STOP])]);
  const writeResult = (output) => {
    const bytes = new thrift.TFramedTransport(result);
    copy(new thrift.TBinaryProtocol(bytes), output, Type.STRUCT);
    if (bytes.readPos < result.length) throw new Error("the bundle has more than one description");
  };
  writeResult(new thrift.TBinaryProtocol(new thrift.TFramedTransport()));
  return {
    process(input, output) {
      const begin = input.readMessageBegin();
      if (begin.fname !== METHOD) {
        input.readMessageBegin = () => {
          delete input.readMessageBegin; // the method of the prototype is there again
          return begin;
        };
        return processor.process(input, output);
      }
      input.skip(Type.STRUCT);
      input.readMessageEnd();
      output.writeMessageBegin(METHOD, MessageType.REPLY, begin.rseqid);
      writeResult(output);
      output.writeMessageEnd();
      output.flush();
    },
  };
}

/** Writes a value that it reads in Binary, where the ends of values have no bytes. */
function copy(input, output, type) {
  switch (type) {
    case Type.STRING:
      output.writeString(input.readString());
      break;
    case Type.LIST: {
      const { etype, size } = input.readListBegin();
      output.writeListBegin(etype, size);
      for (let i = 0; i < size; i++) copy(input, output, etype);
      output.writeListEnd();
      break;
    }
    case Type.STRUCT:
      output.writeStructBegin("");
      for (;;) {
        const { ftype, fid } = input.readFieldBegin();
        if (ftype === Type.STOP) break;
        output.writeFieldBegin("", ftype, fid);
        copy(input, output, ftype);
        output.writeFieldEnd();
      }
      output.writeFieldStop();
      output.writeStructEnd();
      break;
    default:
      throw new Error(`a bundle has no type ${type}`);
  }
}

module.exports = { describe };
