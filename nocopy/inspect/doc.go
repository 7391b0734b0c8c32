// Package inspect shows Thrift Binary bytes as rows. [Dump] reads a file or stream, and a [Tap]
// watches live connections. The command thriftdump runs Dump in a shell:
//
//	go get -tool github.com/nocopythrift/nocopythrift/nocopy/inspect/thriftdump@latest
//	go tool thriftdump -idl order.thrift -type Order FILE
//
// # Rows
//
// A dump has a row for each value, with its offset, its bytes, its field id and name, its type and
// its value, indented by nesting. Offsets count bytes from the beginning of the stream, in a Tap
// from the beginning of the connection, for each direction.
//
//	# structs
//	         0                                       Order
//	         0  0a 00 01 00 00 00 00 00 00 12 67       1 id: i64 4711
//	        11  0b 00 02 00 00 00 03 41 64 61          2 customer: string "Ada"
//	        21  0f 00 03 0c 00 00 00 01                3 lines: list<Line> of 1
//	        29                                           [0]: Line
//	        29  08 00 02 00 00 00 02                       2 count: i32 2
//	        36  00                                         STOP
//	        37  00                                     STOP
//
// The first row gives the form of the stream; see [Form]. Dump detects it from the first bytes, at
// most 64 KiB. If these fit several forms, the row says so; Options.Form then decides.
//
// Without an IDL, fields have only ids and wire types, and a string is shown as text if it is
// UTF-8. With an IDL, deviations from it are noted in parentheses. Binaries, and strings that are
// not UTF-8, are shown in hex. Long texts are shortened. Control characters and others that do not
// print are escaped, which protects the terminal.
//
// A fault has a row of its own, after the part of the value that is there:
//
//	# structs
//	         0                                       Order
//	         0  0a 00 01 00 00                         1 id: i64
//	         5                                         FAULT at offset 5, Order.id: unexpected EOF
//
// # JSON
//
// With Options.JSON each row is a JSON object on its own line (JSON Lines). A stream of any length
// can thus be read row by row:
//
//	{"offset":0,"size":11,"hex":"0a00010000000000001267","kind":"field","depth":1,
//	 "path":"Order.id","id":1,"name":"id","type":"i64","value":4711}
//
// kind is input (the stream's form), frame, message, struct (a bare one begins), field, element
// (of a list or set), key, value (of a map), stop, fault or left out; of a Tap also traffic, which
// begins a message. offset, size, kind and depth are always present, others if they apply:
//
//	hex        the row's bytes, as far as they are shown
//	path       of the value, such as "Order.lines[0].count"; only the end of a long one
//	id, name   of a field; name also of a method
//	index      of an element, or of the pair of a key and value
//	type       as the IDL writes it, or the wire type
//	value      a boolean, a number or a text; "NaN", "Infinity" or "-Infinity" of a double
//	enum       the name of an enum's value
//	bytes      instead of value: a binary, or a string that is not UTF-8, in hex
//	length     of a string, binary or frame, in bytes; shortened is true if not all of it is shown
//	count      of the elements of a list or set, or the pairs of a map
//	message    call, reply, exception or oneway, with seqid, and strict for the header's style
//	form       of the stream
//	note       a deviation from the IDL, or something odd
//	error      what is wrong
//	time, from, to   of a Tap: when the message's first byte passed, sender and receiver
//
// # Live connections
//
// A Tap wraps a net.Conn, or a listener, of any library:
//
//	tap, err := inspect.NewTap(os.Stderr, inspect.Options{IDL: idl})
//	srv.Serve(tap.Listener(l))                                 // a server of package rpc
//	rpc.Dial(ctx, "tcp", addr, rpc.Dialer(tap.DialContext))    // a client of package rpc
//	thrift.NewTSocketFromConnConf(tap.Conn(nc), conf)          // Apache's library
//
// # Limits
//
// The input is not trusted. Lengths and counts take no memory until their bytes arrive. Structs
// and containers are followed to 10,000 levels; 32 of them are indented. The size of a dump is a
// bounded multiple of the input's.
package inspect
