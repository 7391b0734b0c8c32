// Package formats explains why bytes can't be parsed: they are a frame, a call, or a message of
// another protocol instead of a struct in Thrift Binary. What the first bytes say, package
// firstbytes knows; here is what needs the expected type, or a parser.
//
// Package engine calls it after parsing has failed, for the text of the error. Broken Thrift
// Binary must not be taken for another format: in doubt, the answer is "".
package formats
