package shared

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Method is the method that a client calls to ask for shared memory, as the first call on a
// connection. A server that does not know it answers with UnknownMethod. The memory of each side
// is passed with the call and its reply.
const Method = "nocopy.sharedMemory"

// timeout is how long a client waits at most for the reply to that call before it connects
// anew.
const timeout = 5 * time.Second

// version is the first byte of each side's data in the handshake.
const version = 1

// newMessage returns the call or the reply that passes memory, in a frame. It has one field of
// the given id: the version, and how many bytes of the other side's memory this side maps.
func newMessage(typ message.Type, seqid int32, id int16, maps int) []byte {
	head := message.HeaderSize(true, len(Method))
	b := make([]byte, 4+head, 4+head+32)
	message.PutHeader(b[4:], true, typ, "", Method, seqid)
	b = append(b, 11) // a string
	b = binary.BigEndian.AppendUint16(b, uint16(id))
	b = binary.BigEndian.AppendUint32(b, 1+8)
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, uint64(maps))
	b = append(b, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// mapsOf returns how many bytes the other side maps, from the struct of its message.
func mapsOf(s []byte, id int16) (int, error) {
	want := newMessage(message.Call, 0, id, 0)
	want = want[4+message.HeaderSize(true, len(Method)):]
	fixed := len(want) - 8 - 1
	if len(s) != len(want) || !bytes.Equal(s[:fixed], want[:fixed]) || s[fixed+8] != 0 {
		return 0, errors.New("shared memory of another version")
	}
	return int(min(binary.BigEndian.Uint64(s[fixed:]), shm.MaxSize)), nil
}

// errNotShared is why there is none if the server has said so.
var errNotShared = errors.New("the server answers with an exception")

// Ask asks the server at the other end of nc for shared memory, of as many bytes. It returns no
// Link if the server, or this system, has none; why gives the reason. Unless usable is true, the
// connection can't be used any more: it is not known what the server makes of it.
func Ask(ctx context.Context, nc *net.UnixConn, size int) (link *shm.Link, usable bool, why error) {
	link, err := shm.New(size)
	if err != nil {
		return nil, true, err
	}
	wait := timeout
	if t, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(t)/2) // then there is time for another connection
	}
	nc.SetDeadline(time.Now().Add(wait))
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	ok, err := call(nc, link)
	if !stop() {
		err = ctx.Err()
	}
	nc.SetDeadline(time.Time{})
	if err != nil || !ok {
		link.Close()
		return nil, err == nil, cmp.Or(err, errNotShared)
	}
	return link, true, nil
}

// call passes the memory of this side, and attaches the memory that the server's reply passes, of
// the same size. It reports false if the server has answered with an exception.
func call(nc *net.UnixConn, link *shm.Link) (bool, error) {
	size := link.Size()
	if err := shm.SendFD(nc, newMessage(message.Call, 0, 1, size), link.FD()); err != nil {
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
		return false, fmt.Errorf("%w: %d bytes", memory.ErrFrameSize, n)
	}
	reply := make([]byte, n)
	if _, err := io.ReadFull(in, reply); err != nil {
		return false, err
	}
	h, need, err := message.Parse(reply)
	switch {
	case err != nil:
		return false, err
	case need > 0:
		return false, io.ErrUnexpectedEOF
	case h.Type == message.Exception && h.SeqID == 0:
		return false, nil
	case h.Type != message.Reply || string(h.Name) != Method:
		return false, fmt.Errorf("a message of type %d for %.40q", h.Type, h.Name)
	}
	maps, err := mapsOf(reply[h.Size:], 0)
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

// Answer makes and attaches memory of as many bytes, and replies to a client's Ask: a message with
// header h and the struct s, whose descriptor passed has. The write deadline of nc must have been
// set. broken reports that nc can't be used any more: the client may have received a part of the
// reply.
func Answer(nc *net.UnixConn, h message.Header, s []byte, passed *shm.Reader, size int) (_ *shm.Link, broken bool, err error) {
	maps, err := mapsOf(s, 1)
	if err != nil {
		return nil, false, err
	}
	fd, err := passed.TakeFD()
	if err != nil {
		return nil, false, err
	}
	link, err := shm.New(size)
	if err != nil {
		shm.CloseFD(fd)
		return nil, false, err
	}
	mapped, err := link.Attach(fd, link.Size())
	if err != nil {
		link.Close()
		return nil, false, err
	}
	link.Limit(maps)
	if err := shm.SendFD(nc, newMessage(message.Reply, h.SeqID, 0, mapped), link.FD()); err != nil {
		link.Close()
		return nil, true, os.NewSyscallError("sendmsg", err)
	}
	return link, false, nil
}
