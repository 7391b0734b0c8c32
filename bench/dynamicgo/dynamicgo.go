// Package dynamicgo is cloudwego's dynamicgo, for gateways that know a message only by its IDL: it
// looks fields up in the bytes and copies the message around the changed values.
package dynamicgo

import (
	"io"

	"github.com/cloudwego/dynamicgo/thrift"
	"github.com/cloudwego/dynamicgo/thrift/generic"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - dynamicgo/GetMany (partial): all fields of a struct that are wanted are looked up in one
//     pass
//   - dynamicgo/SetByPath (edit): one field after the other
//   - dynamicgo/SetMany (edit): fields of one struct at a time, which copies the whole message
//     once instead of twice
func Peer() peer.Peer { return peer.Peer{Name: "dynamicgo", Rows: rows} }

func rows(in *peer.Input, op peer.Op) []peer.Row {
	var u use
	switch v := in.Value.(type) {
	case *data.Small:
		u = use{num: 6, double: 8, sub: 9, text: 1}
	case *data.Business:
		u = use{num: 12, double: 9, sub: 11, text: 2}
	case *data.WriteRequest:
		u = use{num: 2, double: 1, text: 2, last: len(v.Series) - 1, inList: true}
	default:
		return nil
	}
	switch op {
	case peer.Partial:
		return []peer.Row{{Peer: "dynamicgo/GetMany", Make: func() peer.Step { return u.partial(in.Wire) }}}
	case peer.Edit:
		rows := []peer.Row{{Peer: "dynamicgo/SetByPath", Make: func() peer.Step { return u.setByPath(in.Wire) }}}
		if !u.inList {
			rows = append(rows, peer.Row{Peer: "dynamicgo/SetMany", Make: func() peer.Step { return u.setMany(in.Wire) }})
		}
		return rows
	}
	return nil
}

// use names the fields of a message that the partial and edit operations use: an i64, a double and
// a struct of the root, and a string of that struct; or, with inList, fields of the first label
// and the first sample of the last element of the root's list.
type use struct {
	num, double, sub, text thrift.FieldID
	inList                 bool
	last                   int
}

func field(id thrift.FieldID) generic.Path { return generic.NewPathFieldId(id) }

func fields(ids ...thrift.FieldID) []generic.PathNode {
	n := make([]generic.PathNode, len(ids))
	for i, id := range ids {
		n[i].Path = field(id)
	}
	return n
}

func (u use) partial(wire []byte) peer.Step {
	opts := new(generic.Options)
	root := fields(u.num, u.double, u.sub)
	if !u.inList {
		return func(io.Writer) uint64 {
			check(generic.NewNode(thrift.STRUCT, wire).GetMany(root, opts))
			text := must(root[2].Node.Field(u.text).Binary())
			return uint64(must(root[0].Node.Int())) + data.F64(must(root[1].Node.Float64())) + data.Str(text)
		}
	}
	series := []generic.Path{field(1), generic.NewPathIndex(u.last)}
	label, sample := []generic.Path{field(1), generic.NewPathIndex(0), field(u.text)}, []generic.Path{field(2), generic.NewPathIndex(0)}
	inSample := fields(u.num, u.double)
	return func(io.Writer) uint64 {
		t := generic.NewNode(thrift.STRUCT, wire).GetByPath(series...)
		check(t.GetByPath(sample...).GetMany(inSample, opts))
		return uint64(must(inSample[0].Node.Int())) + data.F64(must(inSample[1].Node.Float64())) + data.Str(must(t.GetByPath(label...).Binary()))
	}
}

func (u use) setByPath(wire []byte) peer.Step {
	text, num := []generic.Path{field(u.sub), field(u.text)}, []generic.Path{field(u.num)}
	if u.inList {
		series := []generic.Path{field(1), generic.NewPathIndex(u.last)}
		text = append(series[:2:2], field(1), generic.NewPathIndex(0), field(u.text))
		num = append(series[:2:2], field(2), generic.NewPathIndex(0), field(u.num))
	}
	return func(w io.Writer) uint64 {
		m := generic.NewNode(thrift.STRUCT, wire)
		must(m.SetByPath(generic.NewNodeString(data.EditText), text...))
		must(m.SetByPath(generic.NewNodeInt64(data.EditInt), num...))
		return uint64(must(w.Write(m.Raw())))
	}
}

func (u use) setMany(wire []byte) peer.Step {
	opts := new(generic.Options)
	sub := []generic.PathNode{{Path: field(u.sub)}}
	var set []generic.PathNode
	return func(w io.Writer) uint64 {
		m := generic.NewNode(thrift.STRUCT, wire)
		check(m.GetMany(sub, opts))
		s := sub[0].Node
		must(s.SetByPath(generic.NewNodeString(data.EditText), field(u.text)))
		// It is made each time, since SetMany sorts it.
		set = append(set[:0], generic.PathNode{Path: field(u.num), Node: generic.NewNodeInt64(data.EditInt)}, generic.PathNode{Path: field(u.sub), Node: s})
		check(m.SetMany(set, opts))
		return uint64(must(w.Write(m.Raw())))
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
