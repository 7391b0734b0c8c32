// Package plain converts structs of plain values to bytes of Thrift Binary and back, without
// making a message.
//
// Only generated code calls it, by the names in package thriftimpl.
//
// A [Writer] appends. A [Reader] reads bytes of the usual form: known fields, each once, in the
// order of the IDL, some of them absent. Callers pass the position from call to call, which keeps
// it in a register:
//
//	at = w.Text(at, orderName, v.Name)      v.Name, at = r.Text(at, orderName, "")
//	at = w.Int64(at, orderID, v.ID)           v.ID, at = r.Int64(at, orderID, 0)
//	return w.Stop(at)                         return r.Stop(at)
//
// A Reader never reports an error. If it cannot read something, for any reason, the position
// becomes [Failed]. The caller then parses the bytes as a message and fills its struct from the
// getters. Errors, limits and rules are therefore the same as for messages.
package plain
