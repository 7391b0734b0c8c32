package messages_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// The tests in this file pass messages in all states, above all messages that are still being
// built, to all functions that read messages by their descriptors.

const statesIDL = `
struct D { 1: required string s, 2: i32 n = 7, 3: required list<string> l }
union U { 1: D d, 2: string s }
struct C {
	1: optional i32 x
	2: required map<string, i32> m
	3: required list<i32> l
	4: required string s
	5: required i32 n
	6: required D d
	7: list<D> ds
	8: string text = "default"
	9: map<string, D> md
	10: optional U u
	11: list<list<D>> lld
	12: set<D> sd
	13: required U ru
}
struct R { 1: C c, 2: list<C> cs, 3: map<string, C> mc, 4: string pad }`

// stateTypes has the types of statesIDL; twin is another C, made from the same IDL.
type stateTypes struct{ c, twin, r dynamic.Type }

func newStateTypes() stateTypes {
	idl := map[string]string{"states.thrift": statesIDL}
	s, again := must(dynamic.LoadText(idl)), must(dynamic.LoadText(idl))
	return stateTypes{must(s.Struct("C")), must(again.Struct("C")), must(s.Struct("R"))}
}

func must[X any](x X, err error) X {
	if err != nil {
		panic(err)
	}
	return x
}

// fillState sets some fields of a C and leaves structs open. amount says how many.
func fillState(c reflection.Message, amount int) {
	if amount > 0 {
		must(0, c.Set("x", 1))
		must(c.New("u")) // no arm
	}
	if amount > 1 {
		ds := must(c.New("ds")).List()
		must(0, ds.AppendNew().Message().Set("n", 3))
		ds.AppendNew()
		md := must(c.New("md")).Map()
		must(md.PutNew("k")).Message()
		must(must(c.New("lld")).List().AppendNew().List().AppendNew().Message().New("l"))
	}
	if amount > 2 {
		must(must(c.New("u")).Message().New("d"))
		must(c.New("sd")).List().AppendNew()
		must(c.New("m"))
		must(c.New("d"))
	}
}

// states returns functions that make messages of type C in different states, by name.
func (st stateTypes) states() map[string]func() nocopy.AnyStruct {
	all := map[string]func() nocopy.AnyStruct{}
	for amount := range 4 {
		root := func() reflection.Message {
			c := st.c.New()
			fillState(c, amount)
			return c
		}
		part := func() reflection.Message {
			c := must(st.r.New().New("c")).Message()
			fillState(c, amount)
			return c
		}
		add := func(name string, f func() reflection.Message) {
			all[fmt.Sprintf("%s, %d", name, amount)] = func() nocopy.AnyStruct { return f() }
		}
		parsed := func(opts ...nocopy.Option) reflection.Message {
			return must(st.c.Parse(root().AppendTo(nil), opts...))
		}
		add("being built", root)
		add("part being built", part)
		add("recycled", func() reflection.Message {
			c := st.c.New(nocopy.Recycle)
			fillState(c, amount)
			return c
		})
		add("element", func() reflection.Message {
			cs := must(st.r.New().New("cs")).List()
			c := cs.AppendNew().Message()
			fillState(c, amount)
			return c
		})
		add("element before another that is open", func() reflection.Message {
			cs := must(st.r.New().New("cs")).List()
			c := cs.AppendNew().Message()
			fillState(c, amount)
			cs.AppendNew()
			return c
		})
		add("value", func() reflection.Message {
			c := must(must(st.r.New().New("mc")).Map().PutNew("k")).Message()
			fillState(c, amount)
			return c
		})
		add("finished", func() reflection.Message {
			c := root()
			c.Message().Finish()
			return c
		})
		add("finished part", func() reflection.Message {
			c := part()
			c.Message().Finish()
			return c
		})
		for name, opt := range map[string]nocopy.Option{"parsed": nocopy.Own, "lazy": nocopy.Lazy, "by index": nocopy.ByIndex, "with index": nocopy.WithIndex} {
			add(name, func() reflection.Message { return parsed(opt) })
			add(name+", a large message's part", func() reflection.Message {
				c := part()
				r := st.r.New(nocopy.WithIndex)
				must(0, r.Set("pad", strings.Repeat("p", 5000)))
				must(0, r.Set("c", c))
				return must(must(st.r.Parse(r.AppendTo(nil), opt)).Get("c")).Message()
			})
			add(name+", edited", func() reflection.Message {
				c := parsed(opt)
				must(0, c.Unset("s"))
				must(c.New("d"))
				must(must(c.New("lld")).List().AppendNew().List().AppendNew().Message().New("l"))
				return c
			})
		}
	}
	return all
}

// rangeText returns everything that Range yields, to any depth.
func rangeText(v reflection.Value) string {
	var b strings.Builder
	switch x := v.Interface().(type) {
	case reflection.Message:
		for f, v := range x.All() {
			fmt.Fprintf(&b, "%s=%s ", f.Name(), rangeText(v))
		}
		return "{" + b.String() + "}"
	case reflection.List:
		for _, v := range x.All() {
			b.WriteString(rangeText(v) + " ")
		}
		return "[" + b.String() + "]"
	case reflection.Map:
		for k, v := range x.All() {
			b.WriteString(rangeText(k) + ":" + rangeText(v) + " ")
		}
		return "<" + b.String() + ">"
	default:
		return fmt.Sprintf("%#v", x)
	}
}

// getText returns everything that Get returns, including unset fields, to any depth.
func getText(v reflection.Value) string {
	var b strings.Builder
	switch x := v.Interface().(type) {
	case reflection.Message:
		for f := range x.Descriptor().Fields() {
			fmt.Fprintf(&b, "%s=%s ", f.Name(), getText(must(x.Get(f.Name()))))
		}
		return "{" + b.String() + "}"
	case reflection.List:
		for _, v := range x.All() {
			b.WriteString(getText(v) + " ")
		}
		return "[" + b.String() + "]"
	}
	return rangeText(v)
}

// reader is a function that reads messages by their descriptors and returns a result for src.
type reader struct {
	name string
	read func(st stateTypes, src nocopy.AnyStruct) (any, error)
}

// sentBy returns the wire bytes of m's whole message. It returns an error if peers would refuse
// them.
func sentBy(typ dynamic.Type, m reflection.Message) (any, error) {
	wire := m.Message().AppendTo(nil)
	again, err := typ.Parse(wire)
	if err != nil {
		return nil, fmt.Errorf("what is sent is refused: %w", err)
	}
	return rangeText(reflection.ValueOf(impl.ValueOfStruct(thriftimpl.StructOf(again.ThriftDesc()), again.ThriftStruct()))), nil
}

var stateMask = []string{"x", "s", "m", "d.l", "ds[*].s", "md[*]", "text", "u", "lld[*][*].l", "ru"}

var readers = []reader{
	{"CopyInto a new one", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		dst := st.c.New()
		messages.CopyInto(dst, src)
		return sentBy(st.c, dst)
	}},
	{"CopyInto a received one", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		full := st.c.New()
		fillState(full, 3)
		dst := must(st.c.Parse(full.AppendTo(nil)))
		messages.CopyInto(dst, src)
		return sentBy(st.c, dst)
	}},
	{"CopyInto a part", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		r := st.r.New()
		messages.CopyInto(must(r.New("c")).Message(), src)
		return sentBy(st.r, r)
	}},
	{"CopyInto another type of the name", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		dst := st.twin.New()
		messages.CopyInto(dst, src)
		return sentBy(st.twin, dst)
	}},
	{"CopyInto itself", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		messages.CopyInto(src, src)
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"Merge", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		dst := st.c.New()
		fillState(dst, 2)
		messages.Merge(dst, src)
		return sentBy(st.c, dst)
	}},
	{"Merge into it", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		more := st.c.New()
		fillState(more, 3)
		messages.Merge(src, more)
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"Mask.Copy", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		dst := st.c.New()
		if err := messages.MustMask(src.ThriftDesc(), stateMask...).Copy(dst, src); err != nil {
			return nil, err
		}
		return sentBy(st.c, dst)
	}},
	{"Mask.Keep", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		messages.MustMask(src.ThriftDesc(), stateMask...).Keep(src)
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"Mask.Drop", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		messages.MustMask(src.ThriftDesc(), stateMask...).Drop(src)
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"Mask.Set", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		if err := messages.MustMask(src.ThriftDesc(), "s", "d.s", "ds[*].s").Set(src, "set"); err != nil {
			return nil, err
		}
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"Mask.Set of it", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		r := st.r.New()
		if err := messages.MustMask(r.ThriftDesc(), "c").Set(r, src); err != nil {
			return nil, err
		}
		return sentBy(st.r, r)
	}},
	{"reflection Set", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		r := st.r.New()
		if err := r.Set("c", src); err != nil {
			return nil, err
		}
		return sentBy(st.r, r)
	}},
	{"reflection Range", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		return rangeText(reflection.ValueOf(impl.ValueOfStruct(thriftimpl.StructOf(src.ThriftDesc()), src.ThriftStruct()))), nil
	}},
	{"reflection Get", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		return getText(reflection.ValueOf(impl.ValueOfStruct(thriftimpl.StructOf(src.ThriftDesc()), src.ThriftStruct()))), nil
	}},
	{"Clone", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		return sentBy(st.c, reflection.Of(src).Clone())
	}},
	{"AppendTo", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		return sentBy(st.c, must(st.c.Parse(reflection.Of(src).AppendTo(nil))))
	}},
	{"nocopyjson", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		text, err := nocopyjson.Marshal(src)
		if err != nil {
			return nil, err
		}
		return sentBy(st.c, must(st.c.FromJSON(text)))
	}},
	{"apachethrift", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		p := thrift.NewTCompactProtocolConf(thrift.NewTMemoryBuffer(), nil)
		if err := apachethrift.Write(context.Background(), p, src); err != nil {
			return nil, err
		}
		s, err := apachethrift.ReadStruct(context.Background(), p, src.ThriftDesc())
		if err != nil {
			return nil, err
		}
		return sentBy(st.c, reflection.OfStruct(src.ThriftDesc(), thriftimpl.Struct(s)))
	}},
	{"dynamic.ToMap", func(st stateTypes, src nocopy.AnyStruct) (any, error) { return dynamic.ToMap(src), nil }},
	{"dynamic.FromMap", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		r, err := st.r.FromMap(map[string]any{"c": src})
		if err != nil {
			return nil, err
		}
		return sentBy(st.r, r)
	}},
	{"sent in a call", func(st stateTypes, src nocopy.AnyStruct) (any, error) {
		m, err := impl.CopyForCall(src.ThriftDesc(), src.ThriftStruct(), 0, nocopy.Limits{}, false)
		if err != nil {
			return nil, err
		}
		return sentBy(st.c, reflection.OfStruct(src.ThriftDesc(), thriftimpl.Struct(m.Root())))
	}},
}

// TestReadersOfStates: functions that read messages by descriptors give the same result for a
// message that is still being built, in any state, as for the message that its receiver gets.
func TestReadersOfStates(t *testing.T) {
	st := newStateTypes()
	for name, build := range st.states() {
		for _, r := range readers {
			sent := must(st.c.Parse(reflection.Of(build()).AppendTo(nil)))
			want, err := r.read(st, sent)
			if err != nil {
				t.Fatalf("%s, when it was received: %v", r.name, err)
			}
			got, err := r.read(st, build())
			if err != nil {
				t.Errorf("%s of one %s: %v", r.name, name, err)
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s of one %s:\n%v\nreceived:\n%v", r.name, name, got, want)
			}
		}
		sent := must(st.c.Parse(reflection.Of(build()).AppendTo(nil)))
		if !messages.Equal(build(), sent) || !messages.Equal(sent, build()) || !messages.Equal(build(), build()) {
			t.Errorf("Equal of one %s: false", name)
		}
		if diff := cmp.Diff(build(), nocopy.AnyStruct(sent), nocopycmp.Transform()); diff != "" {
			t.Errorf("nocopycmp of one %s: %s", name, diff)
		}
	}
}

// TestTextOfStates: texts and logs show the set fields of a message that is being built, and do
// not change it.
func TestTextOfStates(t *testing.T) {
	st := newStateTypes()
	for name, build := range st.states() {
		m, same := reflection.Of(build()), reflection.Of(build())
		text := fmt.Sprintf("%s %v %+v %#v", m, m, m, m)
		slog.New(slog.NewTextHandler(io.Discard, nil)).Info("text", "m", m)
		m.LogValue()
		for f := range m.Descriptor().Fields() {
			if has := m.Has(f.Name()); has && !strings.Contains(text, f.Name()+": ") {
				t.Errorf("%s: no %s in %s", name, f.Name(), text)
			}
		}
		if got, want := m.AppendTo(nil), same.AppendTo(nil); string(got) != string(want) {
			t.Errorf("%s: printing has changed it:\n%s", name, cmp.Diff(hex.Dump(want), hex.Dump(got)))
		}
	}
}

// TestReadersOfNothing: absent structs, the zero handle and nil.
func TestReadersOfNothing(t *testing.T) {
	st := newStateTypes()
	empty := must(sentBy(st.c, st.c.New()))
	for name, src := range map[string]nocopy.AnyStruct{
		"absent":         must(st.r.New().Get("c")).Message(),
		"absent, parsed": must(must(st.r.Parse([]byte{0})).Get("c")).Message(),
		"zero handle":    reflection.OfStruct(st.c.Desc(), thriftimpl.Struct{}),
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]any{"Merge": nil, "Mask.Copy": nil, "dynamic.ToMap": map[string]any(nil), "reflection Range": "{}"}
			for _, r := range readers {
				switch r.name {
				case "CopyInto itself", "Merge into it", "Mask.Keep", "Mask.Drop", "Mask.Set":
					func() {
						defer func() {
							if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") || !strings.Contains(p, "absent") {
								t.Errorf("%s: %q", r.name, p)
							}
						}()
						r.read(st, src)
					}()
					continue
				case "sent in a call":
					if got, err := r.read(st, src); err == nil {
						t.Errorf("%s: %v", r.name, got)
					}
					continue
				case "nocopyjson":
					if text, err := nocopyjson.Marshal(src); string(text) != "null" || err != nil {
						t.Errorf("%s: %s, %v", r.name, text, err)
					}
					continue
				case "CopyInto a part", "Mask.Set of it", "reflection Set", "dynamic.FromMap", "reflection Get":
					want[r.name] = nil // only the receiver checks it
				}
				got, err := r.read(st, src)
				w, special := want[r.name]
				if !special {
					w = empty
				}
				if err != nil || w != nil && !reflect.DeepEqual(got, w) {
					t.Errorf("%s: %v, %v", r.name, got, err)
				}
			}
			if !messages.Equal(src, src) || messages.Equal(src, st.c.New()) || !cmp.Equal(src, src, nocopycmp.Transform()) {
				t.Error("Equal")
			}
			_ = fmt.Sprintf("%v %+v", src, src)
		})
	}
}

// TestReadersOfVariable: a message of the program can be read while it is being built, and
// handles of its previous contents are detected.
func TestReadersOfVariable(t *testing.T) {
	var m nocopy.Message
	old := nocopy.NewInto[order.Order](&m)
	o := nocopy.NewInto[order.Order](&m)
	o.NewLines(2).At(0).SetCount(3)
	fresh := func() order.Order {
		p := order.NewOrder()
		p.NewLines(2).At(0).SetCount(3)
		return newFrom(t, order.ParseOrder, p.AppendTo(nil))
	}
	for name, f := range map[string]func(dst order.Order, src nocopy.AnyStruct){
		"CopyInto": func(dst order.Order, src nocopy.AnyStruct) { messages.CopyInto(dst, src) },
		"Merge":    func(dst order.Order, src nocopy.AnyStruct) { messages.Merge(dst, src) },
		"Mask.Copy": func(dst order.Order, src nocopy.AnyStruct) {
			messages.MustMask(order.OrderDesc, "id", "lines").Copy(dst, src)
		},
		"SetLines": func(dst order.Order, src nocopy.AnyStruct) { dst.SetLines(src.(order.Order).GetLines()) },
	} {
		dst, want := order.NewOrder(), order.NewOrder()
		f(dst, o)
		f(want, fresh())
		if _, err := order.ParseOrder(dst.Message().Bytes()); err != nil || !messages.Equal(dst, want) {
			t.Errorf("%s: %v, %v, not %v", name, err, dst, want)
		}
		before := dst.AppendTo(nil)
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
					t.Errorf("%s of what was in it before: %q", name, p)
				}
			}()
			f(dst, old)
		}()
		if string(dst.AppendTo(nil)) != string(before) {
			t.Errorf("%s has changed something before it panicked", name)
		}
	}
}

// newOrder returns a message to begin with.
func newOrder() order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.SetCustomer("Ada")
	lines := o.NewLines(2)
	lines.At(0).SetArticle("pencil")
	lines.At(0).SetPrice(1.5)
	lines.At(1).SetArticle("paper")
	lines.At(1).SetPrice(4)
	o.SetLabelsMap(map[string]string{"colour": "red", "size": "A4"})
	return o
}
