// Package wire has what a single value of Thrift Binary needs: type codes, sizes, headers, and the
// errors for bytes that are not a message. A field is a header and a value. A struct is a sequence
// of fields and a STOP:
//
//	08 00 01 00 00 00 07                  i32      field 1 = 7
//	0b 00 02 00 00 00 02 68 69            string   field 2 = "hi"
//	0f 00 03 08 00 00 00 01 00 00 00 05   list     field 3 = [5]: element type, count, elements
//	0d 00 04 0b 08 00 00 00 00            map      field 4 = {}: key type, value type, count, pairs
//	0c 00 05 00                           struct field 5: no fields, and its STOP
//	00                                    STOP
//
// The first byte of a field is its Type, the next two are its id. Every package of the engine may
// call this one; it imports none of them.
package wire
