package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// SharedMemory lets messages go through memory that client and server share, if both ask for it.
// It needs Linux 5.14, unix sockets, and frames, and does not work with TLS. Its value says how a
// side treats the messages that it receives; the other side may choose differently. With the zero
// value the socket carries all bytes. It also carries them when no memory can be shared or the
// memory is full, and messages smaller than 32 KiB (16 KiB while other calls are under way).
type SharedMemory uint8

const (
	// CopyFromPeer copies a received message out of the shared memory before looking at it. The
	// message therefore stays as it was checked, whatever the peer does.
	CopyFromPeer SharedMemory = 1 + iota

	// TrustPeer uses received messages where they are, for peers that are trusted like this process
	// itself. The peer could change them at any time. It can't make this process read or write other
	// memory, but it can make it see values that were never checked, and panic. Messages to the peer
	// are built where it can see them, including values that are replaced before sending.
	//
	// TrustPeer implies Recycle, for all connections and also for the arguments of a client's calls.
	// Using values that were read from a message after its end may fault and end the process.
	// Messages that are not released keep their room. So do arguments of a call that was not made
	// because the function that fills them panicked.
	TrustPeer
)

func (m SharedMemory) apply(o *options) { o.shared = m }

// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
// the same time. Further messages go over the socket. Memory that was used once stays with the
// connection. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
type MaxShared int

func (n MaxShared) apply(o *options) { o.maxShared = int(n) }

const defaultMaxShared = 32 << 20

// Messages below these sizes go over the socket, which is as fast for them: when no other call of
// the connection is under way, and when some are.
const (
	sharedAlone     = 32 << 10
	sharedPipelined = 16 << 10
)

// sharedMethod is the method that a client calls to ask for shared memory, as the first call on a
// connection. A server that does not know it answers with UnknownMethod. The memory of each side
// is passed with the call and its reply.
const sharedMethod = "nocopy.sharedMemory"

// shareTimeout is how long a client waits at most for the reply to that call before it connects
// anew.
const shareTimeout = 5 * time.Second

// mostLingering is for how many connections that have ended messages may keep the memory before
// new ones copy what they receive, also with TrustPeer.
const mostLingering = 64

// trusts reports whether messages of a new connection are used where they lie.
func (m SharedMemory) trusts() bool { return m == TrustPeer && shm.Lingering() < mostLingering }

// shareVersion is the first byte of what the sides tell each other.
const shareVersion = 1

// shareMessage returns the call or the reply that passes memory, in a frame. It has one field of
// the given id: the version, and how many bytes of the other side's memory this side maps.
func shareMessage(typ messageType, seqid int32, id int16, maps int) []byte {
	head := headerSize(true, len(sharedMethod))
	b := make([]byte, 4+head, 4+head+32)
	putHeader(b[4:], true, typ, "", sharedMethod, seqid)
	b = append(b, 11) // a string
	b = binary.BigEndian.AppendUint16(b, uint16(id))
	b = binary.BigEndian.AppendUint32(b, 1+8)
	b = append(b, shareVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(maps))
	b = append(b, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// mapsOf returns how many bytes the other side maps, from the struct of its message.
func mapsOf(s []byte, id int16) (int, error) {
	want := shareMessage(typeCall, 0, id, 0)
	want = want[4+headerSize(true, len(sharedMethod)):]
	fixed := len(want) - 8 - 1
	if len(s) != len(want) || !bytes.Equal(s[:fixed], want[:fixed]) || s[fixed+8] != 0 {
		return 0, errors.New("shared memory of another version")
	}
	return int(min(binary.BigEndian.Uint64(s[fixed:]), shm.MaxSize)), nil
}

// errNotShared is why there is none if the server has said so.
var errNotShared = errors.New("the server answers with an exception")

// share asks the server for shared memory. Without an error the connection can be used; it is nil
// if the server, or this system, has none.
func (o *options) share(ctx context.Context, nc *net.UnixConn) (*shm.Link, error) {
	link, err := shm.New(orDefault(o.maxShared, defaultMaxShared))
	if err != nil {
		o.debug("no shared memory", "err", err)
		return nil, nil
	}
	wait := shareTimeout
	if t, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(t)/2) // then there is time for another connection
	}
	nc.SetDeadline(time.Now().Add(wait))
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	ok, err := callShare(nc, link)
	if !stop() {
		err = ctx.Err()
	}
	nc.SetDeadline(time.Time{})
	if err != nil || !ok {
		link.Close()
		o.debug("no shared memory", "peer", nc.RemoteAddr(), "err", cmp.Or(err, errNotShared))
		return nil, err
	}
	return link, nil
}

// callShare passes the memory of this side and attaches that of the server's reply, as much of it.
// It reports false if the server has answered with an exception.
func callShare(nc *net.UnixConn, link *shm.Link) (bool, error) {
	size := link.Size()
	if err := shm.SendFD(nc, shareMessage(typeCall, 0, 1, size), link.FD()); err != nil {
		return false, err
	}
	in := shm.NewReader(nc)
	defer in.Close()
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return false, err
	}
	const most = 64 << 10
	n := binary.BigEndian.Uint32(length[:])
	if n > most {
		return false, fmt.Errorf("%w: %d bytes", chain.ErrFrameSize, n)
	}
	reply := make([]byte, n)
	if _, err := io.ReadFull(in, reply); err != nil {
		return false, err
	}
	h, need, err := parseHeader(reply)
	switch {
	case err != nil:
		return false, err
	case need > 0:
		return false, io.ErrUnexpectedEOF
	case h.typ == typeException && h.seqid == 0:
		return false, nil
	case h.typ != typeReply || string(h.name) != sharedMethod:
		return false, fmt.Errorf("a message of type %d for %.40q", h.typ, h.name)
	}
	maps, err := mapsOf(reply[h.size:], 0)
	if err != nil {
		return false, err
	}
	fd, err := in.TakeFD()
	if err != nil {
		return false, err
	}
	if _, err := link.Attach(fd, size); err != nil {
		return false, err
	}
	link.Limit(maps)
	return true, nil
}

// debug writes to the logger.
func (o *options) debug(what string, args ...any) {
	writeLog(o.logger, slog.LevelDebug, what, args)
}

// dialShared asks the server at the other end of nc for shared memory. It returns the connection
// to use, which may be another one, and the Link, nil if messages go through the socket.
func (c *Client) dialShared(ctx context.Context, nc net.Conn) (net.Conn, *shm.Link, error) {
	socket, ok := nc.(*net.UnixConn)
	if !ok {
		return nc, nil, nil
	}
	link, err := c.opt.share(ctx, socket)
	if err == nil {
		return nc, link, nil
	}
	// The server has closed the connection, or it is not known what it makes of it: it gets another
	closeConn(nc)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	nc, err = c.connect(ctx)
	return nc, nil, err
}

// share answers the call that asks for shared memory, the first one on the connection, and reports
// whether h and chunk are that and there is some. Else the message is a call like others.
func (c *serverConn) share(h header, chunk chain.Chunk) bool {
	passed := c.passed
	c.passed = nil
	defer passed.Close()
	if string(h.name) != sharedMethod || h.typ != typeCall || !h.strict || c.in.transport != framed {
		return false
	}
	link, err := c.link(h, chunk, passed)
	if err != nil {
		c.srv.log(slog.LevelDebug, "no shared memory", "peer", c.peer, "err", err)
		return false
	}
	chunk.Release()
	c.mu.Lock()
	c.shared = link
	c.mu.Unlock()
	c.in.link, c.in.trusts = link, c.srv.SharedMemory.trusts()
	return true
}

// link makes and attaches memory, and replies.
func (c *serverConn) link(h header, chunk chain.Chunk, passed *shm.Reader) (_ *shm.Link, err error) {
	maps, err := mapsOf(chunk.Mem, 1)
	if err != nil {
		return nil, err
	}
	fd, err := passed.TakeFD()
	if err != nil {
		return nil, err
	}
	link, err := shm.New(orDefault(c.srv.MaxShared, defaultMaxShared))
	if err != nil {
		shm.CloseFD(fd)
		return nil, err
	}
	mapped, err := link.Attach(fd, link.Size())
	if err != nil {
		link.Close()
		return nil, err
	}
	link.Limit(maps)
	c.setWriteDeadline()
	if err := shm.SendFD(c.raw.(*net.UnixConn), shareMessage(typeReply, h.seqid, 0, mapped), link.FD()); err != nil {
		c.mu.Lock()
		c.abort() // the client may have received some of it
		c.mu.Unlock()
		link.Close()
		return nil, os.NewSyscallError("sendmsg", err)
	}
	return link, nil
}

// nextShared receives the next message in shared memory, whose position comes next, and returns
// its header and the bytes after that.
func (r *receiver) nextShared() (header, chain.Chunk, error) {
	for len(r.in.Bytes()) < shm.PositionSize {
		if err := r.fill(shm.PositionSize); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	t, err := r.link.Take(r.in.Bytes())
	if err != nil {
		return header{}, chain.Chunk{}, fmt.Errorf("%w: %w", chain.ErrFrameSize, err)
	}
	r.in.Skip(shm.PositionSize)
	n, held := len(t.Mem), false
	defer func() { // also when a function of Stats ends the goroutine
		if !held {
			t.Return()
		}
	}()
	if n > r.limits.frame {
		return r.headerOf(t.Mem), chain.Chunk{}, r.tooLarge(n)
	}
	r.stats.received(n)
	if r.trusts {
		held = true
		return splitHeader(chain.HoldReadOnly(t.Mem, t))
	}
	return splitHeader(r.in.Copy(t.Mem))
}

// headerOf returns the header of a message in shared memory, or a zero one if it has none.
func (r *receiver) headerOf(mem []byte) header {
	h, need, err := parseHeader(bytes.Clone(mem[:min(len(mem), maxHeader)]))
	if need > 0 || err != nil {
		return header{}
	}
	return h
}

// place puts the bytes of a call into shared memory, unless they were built there, if it has that
// many and there is room: then their position is sent in their place.
func (c *clientConn) place(p *pending) {
	const length = 4 // of the frame
	if c.in.trusts {
		c.opt.sizes.note(p.method.Args, p.size)
	}
	if p.size < sharedAlone {
		if p.size < sharedPipelined {
			return
		}
		c.mu.Lock()
		alone := len(c.calls)+len(c.queue) == 0
		c.mu.Unlock()
		if alone {
			return
		}
	}
	head := p.head[length:]
	if slot, at, n := ownSlot(p.args.Message(), c.link); slot.Placed() && at >= len(head) && p.tail == nil && slot.Claim() {
		p.slot, p.placed, p.inPlace = slot, len(head)+n, true
		p.setHead(head, at-len(head))
		return
	}
	slot, ok := c.link.Place(p.size - length)
	if !ok {
		return
	}
	defer func() {
		if !p.slot.Placed() {
			slot.Return()
		}
	}()
	p.placing.AddBytes(head)
	p.addArgs(&p.placing)
	p.placing.MoveTo(slot.Bytes())
	p.slot, p.placed = slot, p.size-length
	p.setHead(head, 0)
}

// setHead copies head to byte at of the call's slot, and puts the slot's position in its place.
func (p *pending) setHead(head []byte, at int) {
	mem := p.slot.Bytes()[at:]
	n := copy(mem, head)
	p.id = mem[n-4 : n]
	p.head = p.slot.AppendPosition(p.head[:0], at, p.placed)
	p.size = len(p.head)
}

// place puts a reply into shared memory, unless it was built there, if it has that many bytes and
// there is room, and adds its position to the batch. It reports whether it has.
func (c *serverConn) place(r *request) bool {
	n := r.reply.Len()
	if c.in.trusts && r.method != nil {
		c.srv.sizes.note(r.method.Result, n)
	}
	if n < sharedPipelined || n < sharedAlone && !c.pipelined {
		return false
	}
	if slot, at, n := ownSlot(r.reply, c.shared); slot.Placed() && slot.Claim() {
		c.addPosition(slot, at, n)
		return true
	}
	slot, ok := c.shared.Place(n)
	if !ok {
		return false
	}
	defer slot.Return()
	thriftimpl.AddTo(r.reply, &c.placing, false)
	c.placing.MoveTo(slot.Bytes())
	c.addPosition(slot, 0, n)
	return true
}

// addPosition adds the position of n bytes of a slot to the batch.
func (c *serverConn) addPosition(slot shm.Slot, at, n int) {
	from := len(c.positions)
	c.positions = slot.AppendPosition(c.positions, at, n)
	c.batch.AddBytes(c.positions[from:len(c.positions):len(c.positions)])
	slot.Sent()
	c.placed += n
}
