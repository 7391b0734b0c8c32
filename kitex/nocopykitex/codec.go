package nocopykitex

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cloudwego/gopkg/bufiox"
	"github.com/cloudwego/gopkg/protocol/thrift"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/remote/codec"
	kitexthrift "github.com/cloudwego/kitex/pkg/remote/codec/thrift"
	"github.com/cloudwego/kitex/pkg/serviceinfo"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// NewPayloadCodec returns a codec, for client.WithPayloadCodec and server.WithPayloadCodec, that
// encodes and decodes [Args] and [Result] itself. It leaves everything else to other; nil means
// Kitex's own codec. It is needed only if other, unlike Kitex's codec, does not ask Args and
// Result to encode themselves.
func NewPayloadCodec(other remote.PayloadCodec) remote.PayloadCodec {
	if other == nil {
		other = kitexthrift.NewThriftCodec()
	}
	return payloadCodec{other}
}

type payloadCodec struct{ other remote.PayloadCodec }

// Name implements remote.PayloadCodec.
func (c payloadCodec) Name() string { return serviceinfo.Thrift.String() }

// Marshal implements remote.PayloadCodec.
func (c payloadCodec) Marshal(ctx context.Context, message remote.Message, out remote.ByteBuffer) error {
	data, ours := message.Data().(writer)
	if !ours {
		return c.other.Marshal(ctx, message, out)
	}
	ink := message.RPCInfo().Invocation()
	name := ink.MethodName()
	if name == "" {
		return errors.New("nocopy: a call without a method's name")
	}
	b, err := out.Malloc(thrift.Binary.MessageBeginLength(name))
	if err != nil {
		return err
	}
	thrift.Binary.WriteMessageBegin(b, name, thrift.TMessageType(message.MessageType()), ink.SeqID())
	return data.Write(ctx, name, out)
}

// writer is implemented by Args and Result.
type writer interface {
	Write(ctx context.Context, method string, out bufiox.Writer) error
	Struct() nocopy.Struct
}

// Unmarshal implements remote.PayloadCodec.
func (c payloadCodec) Unmarshal(ctx context.Context, message remote.Message, in remote.ByteBuffer) error {
	ours, err := c.isOurs(ctx, message, in)
	if err != nil || !ours {
		if err == nil {
			err = c.other.Unmarshal(ctx, message, in)
		}
		return err
	}
	r := thrift.NewBufferReader(in)
	defer r.Recycle()
	name, typ, seqid, err := r.ReadMessageBegin()
	if err != nil {
		return remote.NewTransError(remote.ProtocolError, err)
	}
	if err := codec.UpdateMsgType(uint32(typ), message); err != nil {
		return err
	}
	if err := codec.SetOrCheckSeqID(seqid, message); err != nil {
		return err
	}
	if err := codec.SetOrCheckMethodName(ctx, name, message); err != nil {
		return err
	}
	if err := codec.NewDataIfNeeded(name, message); err != nil {
		return err
	}
	n := max(0, message.PayloadLen()-thrift.Binary.MessageBeginLength(name))
	switch d := message.Data().(type) {
	case *Args:
		err = d.Read(ctx, name, n, in)
	case *Result:
		err = d.Read(ctx, name, n, in)
	default:
		err = fmt.Errorf("nocopy: a %T instead of arguments", d)
	}
	if err != nil {
		return remote.NewTransError(remote.ProtocolError, err)
	}
	return nil
}

// isOurs reports whether the next message is for Args or a Result. It consumes nothing.
func (c payloadCodec) isOurs(ctx context.Context, message remote.Message, in remote.ByteBuffer) (bool, error) {
	const fixed = 8 // version and type, and the length of the name
	b, err := in.Peek(fixed)
	if err != nil {
		return false, err
	}
	if thrift.TMessageType(b[3]) == thrift.EXCEPTION {
		return false, nil
	}
	switch message.Data().(type) {
	case *Args, *Result:
		return true, nil
	}
	n := binary.BigEndian.Uint32(b[4:])
	if message.RPCRole() != remote.Server || message.Data() != nil || n > maxName {
		return false, nil
	}
	if b, err = in.Peek(fixed + int(n)); err != nil {
		return false, err
	}
	ri := message.RPCInfo()
	info := remote.GetServiceSearcher(ctx).SearchService(ri.Invocation().ServiceName(), string(b[fixed:]), false, ri.Config().PayloadCodec())
	if info == nil {
		return false, nil
	}
	m := info.MethodInfo(ctx, string(b[fixed:]))
	if m == nil {
		return false, nil
	}
	_, ours := m.NewArgs().(*Args)
	return ours, nil
}

// maxName bounds the bytes of a method's name.
const maxName = 1 << 16
