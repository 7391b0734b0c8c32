// Package formats recognises other formats that programs pass to Parse by mistake: a frame, a
// call, or a message of another protocol instead of a struct in Thrift Binary. It knows only the
// bytes and the expected type:
//
//	00 00 00 2a  80 01 00 01 …   a frame with a call
//	16 03 01 …                   TLS
//	{"id":1, …                   JSON
//
// Package engine calls it after parsing has failed, for the text of the error. Broken Thrift
// Binary must not be taken for another format: in doubt, the answer is "".
package formats
