// The command line, as Apache's test/README.md has it, with some more flags.
"use strict";
const thrift = require("thrift");

const given = {};
for (const arg of process.argv.slice(2)) {
  const [name, value] = arg.replace(/^--/, "").split("=");
  given[name] = value === undefined ? true : value;
}

// Messages without the strict header's version
function Old(transport) {
  thrift.TBinaryProtocol.call(this, transport, false, false);
}
Object.setPrototypeOf(Old.prototype, thrift.TBinaryProtocol.prototype);

const compact = /^(compact|multic)$/.test(given.protocol);

// What the protocol THeaderProtocol writes to; what it reads tells its protocol itself
function Header(...args) {
  thrift.TBufferedTransport.apply(this, args);
  this.setProtocolId(compact ? 2 : 0);
}
Object.setPrototypeOf(Header.prototype, thrift.TBufferedTransport.prototype);
Header.receiver = thrift.TBufferedTransport.receiver;
Header.DEFAULT_MAX_LENGTH = thrift.TBufferedTransport.DEFAULT_MAX_LENGTH;

const transports = { framed: thrift.TFramedTransport, header: Header };

module.exports = {
  given,
  multiplexed: /^multi/.test(given.protocol),
  http: given.transport === "http",
  options: {
    transport: transports[given.transport] || thrift.TBufferedTransport,
    protocol: given.transport === "header" ? thrift.THeaderProtocol : compact ? thrift.TCompactProtocol : given.old ? Old : thrift.TBinaryProtocol,
    maxLength: given["max-frame"] ? Number(given["max-frame"]) : undefined,
  },
};
