// The test service on the npm package thrift. Its first line ends with the port that it listens
// on. --idle is after how many milliseconds without a request it closes a connection. --describe is
// the bundle with which it answers nocopy.describe.
"use strict";
const fs = require("fs");
const thrift = require("thrift");
const { describe } = require("./describe");
const { given, http, multiplexed, options } = require("./flags");
const SecondService = require("./gen/SecondService");
const ThriftTest = require("./gen/ThriftTest");
const { Insanity, Numberz, Xception, Xception2, Xtruct } = require("./gen/ThriftTest_types");

const echo = (thing) => thing;

// A function with fewer parameters than the method has arguments is called with a callback too.
const handler = {
  testVoid() {},
  testMapMap(hello) {
    return { [-4]: { [-4]: -4, [-3]: -3, [-2]: -2, [-1]: -1 }, 4: { 4: 4, 3: 3, 2: 2, 1: 1 } };
  },
  testInsanity(argument) {
    return {
      1: { [Numberz.TWO]: argument, [Numberz.THREE]: argument },
      2: { [Numberz.SIX]: new Insanity() },
    };
  },
  testMulti(i8, i32, i64, arg3, arg4, arg5) {
    return new Xtruct({ string_thing: "Hello2", byte_thing: i8, i32_thing: i32, i64_thing: i64 });
  },
  testException(arg) {
    if (arg === "Xception") throw new Xception({ errorCode: 1001, message: arg });
    if (arg === "TException") throw new thrift.Thrift.TException("This is a TException");
  },
  testMultiException(arg0, arg1) {
    if (arg0 === "Xception") throw new Xception({ errorCode: 1001, message: "This is an Xception" });
    if (arg0 === "Xception2") {
      const struct_thing = new Xtruct({ string_thing: "This is an Xception2" });
      throw new Xception2({ errorCode: 2002, struct_thing });
    }
    return new Xtruct({ string_thing: arg1 });
  },
  testOneway(seconds) {
    return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  },
};
for (const name of [
  "String", "Bool", "Byte", "I32", "I64", "Double", "Binary", "Uuid", "Struct", "Nest", "Map",
  "StringMap", "Set", "List", "Enum", "Typedef",
]) {
  handler["test" + name] = echo;
}

// THeaderProtocol forgets that the call had a header when the answer is not written at once, as it
// is by a function with a callback that is called before it returns.
function atOnce(f) {
  const g = (...args) => {
    const done = args.pop();
    try {
      done(null, f(...args));
    } catch (e) {
      done(e);
    }
  };
  return Object.defineProperty(g, "length", { value: f.length + 1 });
}
const second = { secondtestString: (thing) => `testString("${thing}")` };
if (given.transport === "header") {
  second.secondtestString = atOnce(second.secondtestString);
  for (const name of Object.keys(handler)) {
    if (name !== "testOneway") handler[name] = atOnce(handler[name]);
  }
}

let processor = new ThriftTest.Processor(handler);
if (multiplexed) {
  const both = new thrift.MultiplexedProcessor();
  both.registerProcessor("ThriftTest", processor);
  both.registerProcessor("SecondService", new SecondService.Processor(second));
  processor = both;
}
if (given.describe) processor = describe(processor, fs.readFileSync(given.describe));
const service = multiplexed || given.describe ? { processor, ...options } : { processor: ThriftTest, handler, ...options };
const server = http
  ? thrift.createWebServer({ services: { "/": service } })
  : thrift.createMultiplexServer(processor, options);
server.on("error", (err) => console.log("error:", err.message));
server.on("connection", (socket) => {
  if (given.idle) socket.setTimeout(Number(given.idle), () => socket.destroy());
});
server.listen(Number(given.port || 0), "127.0.0.1", () => {
  console.log("listening on", server.address().port);
});
