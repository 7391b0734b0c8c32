// Package capnp is Cap'n Proto, by capnproto.org/go/capnp: accessors on the message's bytes, as
// ours, in a format made for that. Text is read as bytes, which does not allocate.
package capnp

import (
	"io"

	"capnproto.org/go/capnp/v3"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/capnp"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - capnp: a new message each time, its memory from the library's pool but not given back;
//     Unmarshal
//   - capnp/reuse (build, read, partial): the application keeps the message and a buffer that is
//     large enough
//   - capnp/in-place (edit): the received message itself is changed. Its buffer happens to have
//     room for the new text at its end; the old text stays in it as garbage
func Peer() peer.Peer {
	return peer.Peer{
		Name:   "capnp",
		Format: "capnp",
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			m := of(in.Value)
			if m.fill == nil || op == peer.Edit && m.edit == nil {
				return nil
			}
			return m.rows(op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) {
			msg, err := capnp.Unmarshal(b)
			if err != nil {
				return nil, err
			}
			return of(in.Value).values(must(msg.Root()).Struct()), nil
		},
	}
}

// message holds the operations on one message type, whose root is an R. Operations that the type
// does not have are nil.
type message struct {
	fill    func(*capnp.Segment)
	sum     func(capnp.Struct) uint64
	partial func(capnp.Struct) uint64
	edit    func(capnp.Struct)
	room    int // what edit needs at the message's end, if that is more than a kilobyte
	values  func(capnp.Struct) any
}

func of(v any) message {
	switch v := v.(type) {
	case *data.MyTest:
		return myTest(v)
	case *data.Small:
		return small(v)
	case *data.Business:
		return business(v)
	case *data.Blob:
		return blob(v)
	case *data.VStreamRows:
		return vstreamRows(v)
	case *data.WriteRequest:
		return writeRequest(v)
	case *data.Wide:
		return wideRows(v)
	}
	return message{}
}

// head is the size of the framing of a message of one segment.
const head = 8

// segment returns the message as one segment of exactly its size, without framing.
func (m message) segment() []byte {
	msg, first := capnp.NewSingleSegmentMessage(nil)
	m.fill(first)
	b := append([]byte(nil), must(msg.Marshal())...)
	return b[head:]
}

func (m message) rows(op peer.Op) []peer.Row {
	switch op {
	case peer.Build:
		return []peer.Row{
			{Peer: "capnp", Make: func() peer.Step {
				return func(w io.Writer) uint64 {
					msg, first := capnp.NewSingleSegmentMessage(nil)
					m.fill(first)
					return send(w, msg)
				}
			}},
			{Peer: "capnp/reuse", Make: func() peer.Step {
				msg, buf := new(capnp.Message), m.segment()
				return func(w io.Writer) uint64 {
					clear(buf) // objects are made in memory that is zero
					m.fill(must(msg.Reset(capnp.SingleSegment(buf[:0]))))
					return send(w, msg)
				}
			}},
		}
	case peer.Read:
		return reading(m.segment, m.sum)
	case peer.Partial:
		return reading(m.segment, m.partial)
	case peer.Edit:
		return []peer.Row{{Peer: "capnp/in-place", Make: func() peer.Step {
			room := max(m.room, 1<<10)
			s := m.segment()
			received := append(make([]byte, 0, len(s)+room), s...)
			msg := new(capnp.Message)
			return func(w io.Writer) uint64 {
				// Clearing the room undoes the last step's edit: this step makes the same one
				// again.
				clear(received[len(s) : len(s)+room])
				must(msg.Reset(capnp.SingleSegment(received)))
				m.edit(must(msg.Root()).Struct())
				return send(w, msg)
			}
		}}}
	}
	return nil
}

func reading(segment func() []byte, read func(capnp.Struct) uint64) []peer.Row {
	return []peer.Row{
		{Peer: "capnp", Make: func() peer.Step {
			s := segment()
			wire := append(make([]byte, 0, head+len(s)), 0, 0, 0, 0, byte(len(s)/8), byte(len(s)/8>>8), byte(len(s)/8>>16), byte(len(s)/8>>24))
			wire = append(wire, s...)
			return func(io.Writer) uint64 {
				msg := must(capnp.Unmarshal(wire))
				return read(must(msg.Root()).Struct())
			}
		}},
		{Peer: "capnp/reuse", Make: func() peer.Step {
			s := segment()
			msg, arena := new(capnp.Message), capnp.NewReadOnlySingleSegment(nil)
			return func(io.Writer) uint64 {
				arena.Release()
				arena.ReplaceData(s)
				msg.Arena = nil
				must(msg.Reset(arena))
				return read(must(msg.Root()).Struct())
			}
		}},
	}
}

// send writes the message as the library's Encoder does, one segment after its framing, without
// allocating an Encoder.
func send(w io.Writer, msg *capnp.Message) uint64 {
	b := must(msg.Segment(0)).Data()
	words := len(b) / 8
	framing := [head]byte{4: byte(words), byte(words >> 8), byte(words >> 16), byte(words >> 24)}
	return uint64(must(w.Write(framing[:])) + must(w.Write(b)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func myTest(v *data.MyTest) message {
	return message{
		fill: func(s *capnp.Segment) {
			m := must(gen.NewRootMyTest(s))
			m.SetNum(v.Num)
			must(m.NewAno()).SetNum(v.Ano)
			nums := must(m.NewNums(int32(len(v.Nums))))
			for i, n := range v.Nums {
				nums.Set(i, n)
			}
		},
		sum: func(root capnp.Struct) uint64 {
			m := gen.MyTest(root)
			s := uint64(m.Num()) + uint64(must(m.Ano()).Num())
			nums := must(m.Nums())
			for i := range nums.Len() {
				s += uint64(nums.At(i))
			}
			return s
		},
		values: func(root capnp.Struct) any {
			m := gen.MyTest(root)
			return &data.MyTest{Num: m.Num(), Ano: must(m.Ano()).Num(), Nums: int64s(must(m.Nums()))}
		},
	}
}

func int64s(l capnp.Int64List) []int64 {
	var v []int64
	for i := range l.Len() {
		v = append(v, l.At(i))
	}
	return v
}

func small(v *data.Small) message {
	return message{
		fill: func(s *capnp.Segment) {
			m := must(gen.NewRootSmall(s))
			check(m.SetService(v.Service))
			check(m.SetMethod(v.Method))
			check(m.SetCaller(v.Caller))
			m.SetCode(v.Code)
			m.SetTraceId(v.TraceID)
			m.SetTimestamp(v.Timestamp)
			m.SetSampled(v.Sampled)
			m.SetWeight(v.Weight)
			sub := must(m.NewSub())
			check(sub.SetName(v.SubName))
			check(sub.SetRegion(v.SubRegion))
			sub.SetId(v.SubID)
		},
		sum: func(root capnp.Struct) uint64 {
			m := gen.Small(root)
			sub := must(m.Sub())
			return data.Str(must(m.ServiceBytes())) + data.Str(must(m.MethodBytes())) + data.Str(must(m.CallerBytes())) + uint64(m.Code()) + uint64(m.TraceId()) +
				uint64(m.Timestamp()) + data.Bool(m.Sampled()) + data.F64(m.Weight()) +
				data.Str(must(sub.NameBytes())) + data.Str(must(sub.RegionBytes())) + uint64(sub.Id())
		},
		partial: func(root capnp.Struct) uint64 {
			m := gen.Small(root)
			return uint64(m.Timestamp()) + data.F64(m.Weight()) + data.Str(must(must(m.Sub()).NameBytes()))
		},
		edit: func(root capnp.Struct) {
			m := gen.Small(root)
			check(must(m.Sub()).SetName(data.EditText))
			m.SetTimestamp(data.EditInt)
		},
		values: func(root capnp.Struct) any {
			m := gen.Small(root)
			sub := must(m.Sub())
			return &data.Small{
				Service: must(m.Service()), Method: must(m.Method()), Caller: must(m.Caller()), Code: m.Code(), TraceID: m.TraceId(), Timestamp: m.Timestamp(),
				Sampled: m.Sampled(), Weight: m.Weight(), SubName: must(sub.Name()), SubRegion: must(sub.Region()), SubID: sub.Id(),
			}
		},
	}
}

func blob(v *data.Blob) message {
	return message{
		fill: func(s *capnp.Segment) {
			m := must(gen.NewRootBlob(s))
			m.SetId(v.ID)
			check(m.SetName(v.Name))
			check(m.SetData(v.Data))
			m.SetCode(v.Code)
			m.SetOk(v.OK)
		},
		sum: func(root capnp.Struct) uint64 {
			m := gen.Blob(root)
			return uint64(m.Id()) + data.Str(must(m.NameBytes())) + data.Str(must(m.Data())) + uint64(m.Code()) + data.Bool(m.Ok())
		},
		values: func(root capnp.Struct) any {
			m := gen.Blob(root)
			return &data.Blob{ID: m.Id(), Name: must(m.Name()), Data: must(m.Data()), Code: m.Code(), OK: m.Ok()}
		},
	}
}
