// Package capture finds the calls in captured packets: in files in the formats pcap and pcapng,
// and on network interfaces.
//
//	packet ─► segment of TCP ─► bytes that one end sends ─► message ─► call and reply
//	file.go     segment.go         side.go, stream.go        wire.go     table.go, conn.go
//	pcap.go, pcapng.go                                       header.go   pair.go
//	live_linux.go                                            skip.go, http.go, sasl.go, find.go
//
// A conn is a connection. It puts the segments of its two sides in the order in which they were
// sent: a reply that was captured before its call comes after it. It also notices bytes that the
// capture lacks. A stream decodes what a side sends: it is a function that reads messages, one
// after the other, and is suspended (iter.Pull) while it waits for the next packet. The conn pairs
// the messages of both sides. Pairs that can't be known are marked as assumed: pair.go says when.
//
// The packets are not trusted. All limits are in limits.go.
//
// gopacket makes the packets of the tests and is their referee, and is not in the tool. Its
// reassembly (v1.5.0) gives wrong bytes where sequence numbers begin anew at 0. Its readers of
// files panic on malformed ones, or take as much memory as they claim. What reads the headers
// would bring all of its protocols along, 1.7 MB.
package capture
