// Package transport receives messages from connections, and knows the bytes that surround them:
// lengths of frames, headers, compression. The two halves of package rpc, its server's connections
// and its client's, call it; it knows neither.
//
// The noun is a Receiver. It holds the bytes of one connection, and its Transport finds the
// messages in them:
//
//	net.Conn ─► memory.Receiver ─► Transport.next ─► message.Header and a Chunk with the struct
//	  fill.go     what arrived       framed.go          │
//	  deadlines   and was not taken  unframed.go        └─► ParseStruct: the struct, what follows
//	                                 theader.go (a frame with headers, perhaps compressed)
//	                                 shared.go (a frame that says where in shared memory)
//
// # A further transport
//
// A transport is a file, such as framed.go, with a type that implements Transport and a variable
// by which clients choose it. Its next takes bytes of r.in, asks r.fill for more, and returns the
// results of message.Parse without the bytes around them. AppendFront and Add put bytes before
// plain requests and replies; an Encoder makes the others. A server recognizes a transport by the
// first bytes of a connection: add a case to transportOf. The servers' and the clients' tests that
// go through all transports cover it.
//
// An encoding other than binary is turned into binary in next (compact.go), and from it when the
// message is sent (encode.go): all between sees binary messages alone.
package transport
