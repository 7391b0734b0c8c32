// Package formats recognises what else programs give to Parse: bytes that are not a struct in
// Thrift Binary, but a frame, a call, a message of another protocol. It knows bytes and the types
// that were expected:
//
//	00 00 00 2a  80 01 00 01 …   a frame with a call
//	16 03 01 …                   TLS
//	{"id":1, …                   JSON
//
// Package engine asks when parsing has failed, for the text of the error. Broken Thrift Binary
// must not be taken for something else: wherever in doubt, the answer is "".
package formats
