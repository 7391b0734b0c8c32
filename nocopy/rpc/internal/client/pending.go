package client

import (
	"slices"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// pending is a call of a client on a connection. states.md has its states as a table: they say
// who refers to it. The connection's last step is finish, which gives it back to the goroutine
// that makes the call. That goroutine recycles it. If it has given up the call, the goroutine that
// writes does.
type pending struct {
	method  Method
	args    nocopy.Struct // retained until written
	head    []byte        // the bytes before args on the wire
	id      []byte        // the part of head that is the sequence id
	seqid   int32         // set from state writing on, or, if the style is not plain, before
	tail    []byte        // replaces the STOP of args; nil: args are sent as they are
	cuts    []impl.Cut    // the parts of args that are not sent, if there is a tail
	size    int           // of head, args and tail, in bytes; with a slot of head alone
	end     int64         // of the call in the bytes of the connection; set from state writing on
	state   callState
	slot    shm.Slot          // in which the bytes are, if there is one; head has their position
	placed  int               // how many bytes are in it
	inPlace bool              // args were built there, and hold it
	placing chain.Batch       // the bytes, while they are copied there, or are encoded
	encoded transport.Encoded // all bytes on the wire, if the style is not in place
	list    header.List       // sent in the transport's place for headers
	began   time.Time         // when the call began, if stats wants to know
	done    chan struct{}     // finish sends to it
	pool    *sync.Pool        // the client's; channels of one test's bubble are no other's
	reply   Reply
	err     error
}

// callState says which of the connection's lists hold a pending, and the steps that remain. The
// connection's mutex guards it.
type callState uint8

const (
	callQueued   callState = iota // in queue: no byte was written, and it has no sequence id
	callWriting                   // in batched; in calls too, unless it is oneway
	callAnswered                  // in batched only: its reply or error has been set
	callDropped                   // in batched only: it was given up
	callWritten                   // in calls only
	callFinished                  // in none of them
)

// maxKeptHead bounds the head that recycle keeps for another call, in bytes.
const maxKeptHead = 1 << 10

// newPending returns a pending for a call, whose arguments must be retained; the connection drops
// them when they are written. putHead or encode must be called next.
func (o *Config) newPending(call *Call) *pending {
	p := o.pendings.Get().(*pending)
	p.method, p.args, p.state = call.Method, call.Args, callQueued
	p.list, p.began = call.Headers, call.Began
	if len(call.Fields) > 0 {
		p.cuts, p.tail = tailOf(call.Args, call.Fields)
	}
	return p
}

// tailOf returns how to send args, which are finished, with these fields: all bytes of args except
// the cuts and the STOP, and then the tail.
func tailOf(args nocopy.Struct, fields []Field) (cuts []impl.Cut, tail []byte) {
	for _, f := range fields {
		_, all := thriftimpl.Struct(args).FindFields(f.ID)
		cuts = append(cuts, all...)
		tail = append(tail, f.Wire...)
	}
	if thriftimpl.Struct(args).CarriesIndex() { // of bytes that are others now
		_, all := thriftimpl.Struct(args).FindFields(entry.IndexID)
		cuts = append(cuts, all...)
	}
	slices.SortFunc(cuts, func(a, b impl.Cut) int { return a.From - b.From })
	return cuts, append(tail, byte(nocopy.WireStop))
}

// putHead makes the bytes before the arguments on a connection of transport t. The sequence id is
// set later.
func (p *pending) putHead(t transport.Transport) {
	p.size = p.plainSize()
	p.head = t.AppendFront(p.head, p.size)
	p.size += len(p.head)
	p.addHeader(0)
}

// plainSize returns the size of the message in Thrift Binary.
func (p *pending) plainSize() int {
	n := message.HeaderSize(true, len(p.method.Prefix)+len(p.method.Name)) + p.args.Message().Len()
	if p.tail != nil {
		n += len(p.tail) - 1
		for _, cut := range p.cuts {
			n -= cut.To - cut.From
		}
	}
	return n
}

// addHeader adds the message's header in Thrift Binary to p.head.
func (p *pending) addHeader(seqid int32) {
	m := &p.method
	at, size := len(p.head), message.HeaderSize(true, len(m.Prefix)+len(m.Name))
	p.head = slices.Grow(p.head, size)[:at+size]
	p.id = message.PutHeader(p.head[at:], true, m.messageType(), m.Prefix, m.Name, seqid)
}

// encode makes the bytes that are sent with this sequence id in a style that is not plain. If the
// style is in place, they are the bytes before the arguments, else the whole message.
func (p *pending) encode(e transport.Encoder, seqid int32) {
	p.seqid = seqid
	if e.Style.IsInPlace() {
		n := p.plainSize()
		p.head = e.AppendFront(p.head[:0], p.list, seqid, n)
		p.size = len(p.head) + n
		p.addHeader(seqid)
		return
	}
	p.addArgs(&p.placing)
	p.encoded = e.Call(&p.placing, p.method.messageType(), p.method.Prefix, p.method.Name, seqid, p.list)
	p.size = len(p.encoded.Bytes())
}

// encodeAlone adds to b the bytes of a call that has no other call beside it, in Thrift Binary or
// the compact protocol, without a frame. Its sequence id is aloneID.
func (p *pending) encodeAlone(b *chain.Batch, form message.Form, s *stats.Hook) {
	if form == message.Compact {
		p.encode(transport.Encoder{Transport: transport.Unframed, Style: message.Style{Form: form}, Stats: s}, aloneID)
		b.AddBytes(p.encoded.Bytes())
		return
	}
	p.putHead(transport.Unframed)
	p.id[3] = aloneID
	b.AddBytes(p.head)
	p.addArgs(b)
}

// aloneID is the sequence id of calls that are alone.
const aloneID = 1

// setHead copies head to byte at of the call's slot, and replaces it by the slot's position.
func (p *pending) setHead(head []byte, at int) {
	mem := p.slot.Bytes()[at:]
	n := copy(mem, head)
	p.id = mem[n-4 : n]
	p.head = p.slot.AppendPosition(p.head[:0], at, p.placed)
	p.size = len(p.head)
}

// recycle puts p into the pool. Nothing may refer to it.
func (p *pending) recycle() {
	if p.slot.Placed() && !p.inPlace {
		p.slot.Return()
	}
	p.encoded.Free()
	head := p.head[:0]
	if cap(head) > maxKeptHead {
		head = nil
	}
	*p = pending{done: p.done, pool: p.pool, head: head, placing: p.placing}
	p.pool.Put(p)
}

// finish gives p back to the goroutine that makes the call. Nothing else may use it any more.
func (p *pending) finish() {
	p.state = callFinished
	p.done <- struct{}{}
}

const (
	// inlineBytes bounds the calls that goroutines write themselves. Up to so many bytes of calls
	// without a reply, including the calls to be written, the goroutine that makes a call writes
	// it: sockets take as many without blocking.
	inlineBytes = 16 << 10

	// inlineCalls bounds their number. A unix socket may hold no more than 208 KiB, and each
	// write takes up to 1 KiB of that, however small it is.
	inlineCalls = 100

	// batchBytes bounds batches: once a batch has so many bytes, no further call is added to it.
	// All calls of a batch are therefore small, except the last. If the server takes the bytes
	// slowly, few calls count as begun before a byte of them has been sent.
	batchBytes = 64 << 10
)

// addArgs adds the bytes after the header to a batch.
func (p *pending) addArgs(b *chain.Batch) {
	if p.tail == nil {
		impl.AddTo(p.args.Message(), b, false)
		return
	}
	thriftimpl.Struct(p.args).AddOpen(b, p.cuts)
	b.AddBytes(p.tail)
}
