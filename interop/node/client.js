// Calls a server with the npm package thrift and checks what comes back. --test is all (every
// method, then methods and fields that the server does not know), concurrent (8 clients, then 8
// on one connection), idle (the server closes the connection meanwhile) or frames (the server
// takes none of more than 64 KiB). The exit code is a sum: 1 base types, 2 structs, 4 containers,
// 8 exceptions, 16 the other tests.
"use strict";
const assert = require("assert");
const Int64 = require("node-int64");
const thrift = require("thrift");
const { given, http, multiplexed, options } = require("./flags");
const SecondService = require("./gen/SecondService");
const ThriftTest = require("./gen/ThriftTest");
const { Insanity, Numberz, Xception, Xception2, Xtruct, Xtruct2 } = require("./gen/ThriftTest_types");
const Wide = require("./gen/Wide");
const { Tree, WideXtruct } = require("./gen/wide_types");

const [BASETYPES, STRUCTS, CONTAINERS, EXCEPTIONS, OTHERS] = [1, 2, 4, 8, 16];
const { TApplicationException, TApplicationExceptionType } = thrift.Thrift;

let failed = 0;

async function check(bit, what, test) {
  try {
    await test();
    console.log(what, "ok");
  } catch (e) {
    console.log(what, "*** FAILURE ***");
    console.log(String(e.stack || e).slice(0, 1000));
    failed |= bit;
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Connection has a client of each service. A call fails when the connection does, which is not
// the library's doing: it leaves such a call alone.
class Connection {
  constructor() {
    const connect = http ? thrift.createHttpConnection : thrift.createConnection;
    this.raw = connect(given.host || "127.0.0.1", Number(given.port), { ...options });
    this.ended = new Promise((_, reject) => {
      this.raw.on("error", reject);
      this.raw.on("close", () => reject(new Error("connection closed")));
    });
    this.ended.catch(() => {});
    const named = (name, service) =>
      this.ending(
        multiplexed
          ? new thrift.Multiplexer().createClient(name, service, this.raw)
          : thrift.createClient(service, this.raw),
      );
    // A connection has one client, of one service, unless they are multiplexed
    this.test = named("ThriftTest", ThriftTest);
    this.second = () => named("SecondService", SecondService);
    this.wide = () => named("ThriftTest", Wide);
    this.nobody = () => named("Nobody", ThriftTest);
  }

  ending(client) {
    return new Proxy(client, {
      get: (target, name) =>
        typeof target[name] === "function"
          ? (...args) => Promise.race([target[name](...args), this.ended])
          : target[name],
    });
  }

  close() {
    if (!http) this.raw.end();
  }
}

let c;

// onConnection runs a test on a connection of its own.
async function onConnection(test) {
  const mine = new Connection();
  try {
    await test(mine);
  } finally {
    mine.close();
  }
}

// plain returns a value to compare: i64 as a decimal number's text.
function plain(v) {
  if (v instanceof Int64) return String(v);
  if (Buffer.isBuffer(v)) return v.toString("hex");
  if (Array.isArray(v)) return v.map(plain);
  if (v && typeof v === "object") {
    const all = {};
    for (const name of Object.keys(v)) if (v[name] !== undefined) all[name] = plain(v[name]);
    return all;
  }
  return v;
}

// Of numbers that are no integers of 53 bits the library makes an Int64.
const i64 = (hex) => new Int64(Buffer.from(hex, "hex"));

function same(want, got) {
  assert.deepStrictEqual(plain(got), plain(want));
}

async function echo(bit, method, ...values) {
  await check(bit, method, async () => {
    for (const value of values) same(value, await c.test[method](value));
  });
}

async function raises(kind, call) {
  let got;
  try {
    got = await call();
  } catch (e) {
    if (e instanceof kind) return e;
    throw e;
  }
  throw new Error(`no ${kind.name} but ${got}`);
}

// unknown checks that a method is unknown, and that the connection goes on.
async function unknown(mine, call) {
  const e = await raises(TApplicationException, call);
  assert.strictEqual(e.type, TApplicationExceptionType.UNKNOWN_METHOD);
  await onSame(mine);
}

async function onSame(mine) {
  if (!multiplexed) mine.raw.client = ThriftTestOn(mine);
  same(-7, await mine.ending(ThriftTestOn(mine)).testI32(-7));
}

const ThriftTestOn = (mine) =>
  multiplexed
    ? new thrift.Multiplexer().createClient("ThriftTest", ThriftTest, mine.raw)
    : thrift.createClient(ThriftTest, mine.raw);

async function all() {
  const large = "x".repeat(1 << 20);
  const numbers = {};
  const list = [];
  for (let i = 0; i < 50000; i++) {
    numbers[i] = 7 - i;
    list.push(i * 3);
  }
  await check(BASETYPES, "testVoid", () => c.test.testVoid());
  await echo(BASETYPES, "testString", "", "Test", "ノード, ქართული, 𐍈", 'quote: " \\ \b\f\n\r\t \0', large);
  await echo(BASETYPES, "testBool", true, false);
  await echo(BASETYPES, "testByte", 0, 1, -1, 127, -128);
  await echo(BASETYPES, "testI32", 0, -1, 2 ** 31 - 1, -(2 ** 31));
  await check(BASETYPES, "testI64", async () => {
    for (const hex of ["0000000000000000", "7fffffffffffffff", "8000000000000000", "ffffffffffffffff", "0020000000000001"]) {
      same(i64(hex).toOctetString(), (await c.test.testI64(i64(hex))).toOctetString());
    }
  });
  await echo(BASETYPES, "testDouble", 0, -5.235098235, 1e307, 5e-324, NaN, Infinity, -Infinity);
  await check(BASETYPES, "-0", async () => assert.ok(Object.is(await c.test.testDouble(-0), -0)));
  await echo(BASETYPES, "testBinary", Buffer.alloc(0), Buffer.from([0, 255, 128, 127]), Buffer.alloc(1 << 20, 7));
  await echo(BASETYPES, "testUuid", "00112233-4455-6677-8899-aabbccddeeff", "00000000-0000-0000-0000-000000000000");
  await check(BASETYPES, "testTypedef", async () => same("69069", String(await c.test.testTypedef(69069))));
  await echo(STRUCTS, "testEnum", Numberz.ONE, Numberz.FIVE, Numberz.EIGHT);
  const zero = new Xtruct({ string_thing: "Zero", byte_thing: 1, i32_thing: -3, i64_thing: new Int64(5) });
  await echo(STRUCTS, "testStruct", zero, new Xtruct({ string_thing: "", byte_thing: 0, i32_thing: 0, i64_thing: new Int64(0) }));
  await echo(STRUCTS, "testNest", new Xtruct2({ byte_thing: 1, struct_thing: zero, i32_thing: 5 }));
  await check(STRUCTS, "testInsanity", async () => {
    const crazy = new Insanity({ userMap: { 5: new Int64(5), 8: new Int64(8) }, xtructs: [zero, zero] });
    const got = await c.test.testInsanity(crazy);
    same({ 2: crazy, 3: crazy }, got[1]);
    same(["6"], Object.keys(got[2]));
  });
  await check(STRUCTS, "testMulti", async () => {
    const got = await c.test.testMulti(74, 0xff00ff, 0xffffffffd0d0, { 0: "abc" }, Numberz.FIVE, 0xf0f0f0);
    same({ string_thing: "Hello2", byte_thing: 74, i32_thing: 0xff00ff, i64_thing: "281474976698576" }, got);
  });
  await echo(CONTAINERS, "testMap", {}, { 1: 2, [-3]: -(2 ** 31) }, numbers);
  await echo(CONTAINERS, "testStringMap", {}, { a: "2", "": "", ü: "blah" });
  await echo(CONTAINERS, "testSet", [], [8, 1, 42]);
  await echo(CONTAINERS, "testList", [], [1, 4, 9, -42], list);
  await check(CONTAINERS, "testMapMap", async () => {
    same({ [-4]: { [-4]: -4, [-3]: -3, [-2]: -2, [-1]: -1 }, 4: { 4: 4, 3: 3, 2: 2, 1: 1 } }, await c.test.testMapMap(1));
  });
  await check(EXCEPTIONS, "testException", async () => {
    const x = await raises(Xception, () => c.test.testException("Xception"));
    same([1001, "Xception"], [x.errorCode, x.message]);
    same(1, await c.test.testI32(1));
    const app = await raises(TApplicationException, () => c.test.testException("TException"));
    assert.strictEqual(app.type, TApplicationExceptionType.INTERNAL_ERROR);
    same(2, await c.test.testI32(2));
    await c.test.testException("success");
  });
  await check(EXCEPTIONS, "testMultiException", async () => {
    const x = await raises(Xception, () => c.test.testMultiException("Xception", ""));
    same([1001, "This is an Xception"], [x.errorCode, x.message]);
    const x2 = await raises(Xception2, () => c.test.testMultiException("Xception2", ""));
    same([2002, "This is an Xception2"], [x2.errorCode, x2.struct_thing.string_thing]);
    same("foobar", (await c.test.testMultiException("success", "foobar")).string_thing);
  });
  await check(BASETYPES, "testOneway", async () => {
    const start = Date.now();
    // A oneway call's promise is not settled in all releases
    await Promise.race([c.test.testOneway(1), sleep(100)]);
    await c.test.testVoid();
    assert(Date.now() - start < 600, "a oneway call took too long");
  });
  if (multiplexed) {
    await check(BASETYPES, "secondtestString", async () => {
      same('testString("foobar")', await c.second().secondtestString("foobar"));
      same(3, await c.test.testI32(3));
    });
    await check(OTHERS, "unknown service", () => onConnection((mine) => unknown(mine, () => mine.nobody().testVoid())));
  } else {
    await check(OTHERS, "method of another service", () =>
      onConnection((mine) => unknown(mine, () => mine.second().secondtestString("foobar"))));
  }
  await check(OTHERS, "unknown method", () =>
    onConnection(async (mine) => {
      await unknown(mine, () => mine.wide().notThere(wide(3)));
      await unknown(mine, () => mine.wide().notThere(new WideXtruct({ string_thing: large })));
    }));
  // Apache's servers answer, and so does this one. That is an error of the connection.
  await check(OTHERS, "unknown oneway method", async () => {
    await onConnection(async (mine) => {
      mine.wide().tellNobody("hello").catch(() => {});
      const e = await raises(TApplicationException, () => mine.ended);
      assert.strictEqual(e.type, TApplicationExceptionType.WRONG_METHOD_NAME);
    });
    await onConnection(onSame);
  });
  await check(OTHERS, "unknown fields", () =>
    onConnection(async (mine) => {
      for (const depth of [1, 2, 30]) {
        same(wide(depth), await mine.wide().testStruct(wide(depth), tree(depth), "an argument more"));
      }
    }));
}

function tree(depth) {
  const children = depth > 1 ? [tree(depth - 1), new Tree({ number: -depth, children: [] })] : [];
  return new Tree({ number: depth, children });
}

function wide(depth) {
  return new WideXtruct({
    string_thing: "ünknown", bool_thing: true, lists: [[], ["a", ""]], byte_thing: -1, short_thing: 5,
    i32_thing: 9, double_thing: -Infinity, i64_thing: new Int64(2 ** 40), sets: { "": [], b: [1, 2] },
    tree: tree(depth), bytes: Buffer.from([0, 255]), last: "last",
  });
}

// calls makes one of several calls, whose reply tells which client's and which call's it is.
async function calls(test, client, call) {
  const text = client + "/" + call + " " + "y".repeat((call * 37) % 5000);
  switch (call % 4) {
    case 0:
      return same(text, await test.testString(text));
    case 1: {
      const x = new Xtruct({ string_thing: text, byte_thing: client, i32_thing: call, i64_thing: new Int64(client * call) });
      return same(x, await test.testStruct(x));
    }
    case 2:
      await raises(Xception, () => test.testException("Xception"));
      return same(1000 * client + call, await test.testI32(1000 * client + call));
    default:
      same(text, (await test.testMultiException("success", text)).string_thing);
  }
}

async function concurrent(connection) {
  let right = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      const mine = connection || new Connection();
      for (let call = 0; call < 200; call++) {
        await calls(mine.test, client, call);
        right++;
      }
      if (mine !== connection) mine.close();
    }),
  );
  same(8 * 200, right);
}

async function idle() {
  same(1, await c.test.testI32(1));
  await sleep(1000);
  await raises(Error, () => c.test.testI32(2));
  c = new Connection();
  same(3, await c.test.testI32(3));
}

async function frames() {
  same(1, await c.test.testI32(1));
  await raises(Error, () => c.test.testString("z".repeat(100000)));
  c = new Connection();
  same(2, await c.test.testI32(2));
}

async function main() {
  c = new Connection();
  switch (given.test || "all") {
    case "all":
      await all();
      break;
    case "concurrent":
      await check(OTHERS, "8 clients at a time", () => concurrent());
      await check(OTHERS, "8 clients on one connection", () => concurrent(c));
      break;
    case "idle":
      await check(OTHERS, "a call after a pause", idle);
      break;
    case "frames":
      await check(OTHERS, "frames that are too large", frames);
      break;
    default:
      throw new Error("unknown test");
  }
  process.exit(failed);
}

main();
