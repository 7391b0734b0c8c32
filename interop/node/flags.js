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

module.exports = {
  given,
  multiplexed: /^multi/.test(given.protocol),
  options: {
    transport: given.transport === "framed" ? thrift.TFramedTransport : thrift.TBufferedTransport,
    protocol: /^(compact|multic)$/.test(given.protocol) ? thrift.TCompactProtocol : given.old ? Old : thrift.TBinaryProtocol,
    maxLength: given["max-frame"] ? Number(given["max-frame"]) : undefined,
  },
};
