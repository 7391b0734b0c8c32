package nocopyotel

import "github.com/nocopythrift/nocopythrift/nocopy/rpc"

// FieldID is the id of the field that holds a call's context: rpc.HeaderField.
//
// Deprecated: Use rpc.HeaderField.
//
//go:fix inline
const FieldID = rpc.HeaderField

// TimeoutKey is the key of the remaining time of a call when it is sent, see rpc.TimeoutKey. The
// server's context has a deadline that long after the arguments were parsed, unless it ends
// earlier. A value of another form is ignored. Oneway calls have no remaining time, since nobody
// waits for them.
//
// Deprecated: Use rpc.TimeoutKey.
//
//go:fix inline
const TimeoutKey = rpc.TimeoutKey
