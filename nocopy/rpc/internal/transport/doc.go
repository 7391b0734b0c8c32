// Package transport receives messages from connections, in whichever way they follow one another
// there, and says what is sent with them. The two halves of package rpc, its server's connections
// and its client's, call it; it knows neither.
//
// The noun is a Receiver, which has the bytes of one connection, and what its Transport makes of
// them:
//
//	net.Conn ─► chain.Receiver ─► Transport.next ─► message.Header and a Chunk with the struct
//	  fill.go     what arrived       framed.go          │
//	  deadlines   and was not taken  unframed.go        └─► TakeStruct: the struct, what follows
//	                                 theader.go (a frame with headers, perhaps compressed)
//	                                 shared.go (a frame that says where in shared memory)
//
// # A further transport
//
// It is a file with a type that implements Transport, such as framed.go, and a variable that
// clients choose it by. Its next takes bytes of r.in, asks r.fill for more, and returns what
// message.Parse gives, whatever it has around it. AppendFront and Add say what is sent before a
// plain request and reply; an Encoder makes the others. A server tells it by its first bytes:
// transportOf gets a case for it. It is tested by the servers' and the clients' tests that go
// through all transports.
//
// An encoding other than binary is turned into binary in next (compact.go), and from it when the
// message is sent (encode.go): all between sees binary messages alone.
package transport
