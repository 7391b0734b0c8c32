// Package plain turns structs of plain values into the bytes of Thrift Binary, and such bytes into
// structs of plain values. No message is made on the way.
//
// Only generated code calls it, by the names that package thriftimpl gives to its types.
//
// A [Writer] appends; a [Reader] reads what has the usual form: known fields, each once, in the
// order of the IDL, some of them absent. Both hand the position from call to call, so that it
// stays in a register:
//
//	at = w.Text(at, orderName, v.Name)      v.Name, at = r.Text(at, orderName, "")
//	at = w.Int64(at, orderID, v.ID)           v.ID, at = r.Int64(at, orderID, 0)
//	return w.Stop(at)                         return r.Stop(at)
//
// A Reader never reports an error. What it does not read, for whatever reason, moves the position
// to [Failed]. The caller then parses the bytes as a message and fills its struct from the
// getters, so that errors, limits and rules are those of messages.
package plain
