package rpc

import (
	"context"
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file brings headers from contexts into requests and replies, and back.

// hasHeaderField reports whether structs of type d may have headers in a field.
func hasHeaderField(d *thriftimpl.Desc) bool { return d.NumberByID(HeaderField) < 0 }

// fieldOf returns the headers in the field of s, a root of type d.
func fieldOf(s nocopy.Struct, d *thriftimpl.Desc) header.List {
	if !hasHeaderField(d) {
		return nil
	}
	v, _ := thriftimpl.Struct(s).FindField(HeaderField)
	return header.OfField(nocopy.Value(v))
}

// requestHeaders are the headers of a received request, and the facts that decide its reply's
// headers.
type requestHeaders struct {
	list   header.List
	inArgs bool        // they are in the arguments, and the reply's are in the result
	maybe  bool        // there may be some in the arguments
	reply  *replyState // nil if the reply can't have headers
}

// headersIn returns the headers of a request: l, from the transport's place for them, or, if it is
// nil, those in the arguments. c begins with these, which are of type d.
func headersIn(l *header.List, c memory.Chunk, d *thriftimpl.Desc) (r requestHeaders) {
	switch {
	case l != nil:
		r.list = *l
	case hasHeaderField(d):
		r.list, r.maybe = header.In(c)
		r.inArgs = true
	}
	return r
}

// complete finds the headers that are in the arguments of a call of m.
func (r *requestHeaders) complete(m *Method, args *nocopy.Message) {
	if r.maybe {
		r.list, r.maybe = fieldOf(args.Root(), m.Args), false
	}
}

// contextFor returns the context for the handler of a call of m: ctx, unless the request has
// headers or the reply may have some.
func (r *requestHeaders) contextFor(ctx context.Context, m *Method, args *nocopy.Message) context.Context {
	r.complete(m, args)
	replies := !m.Oneway() && (!r.inArgs || r.list.Has(ReplyHeadersKey))
	if len(r.list) == 0 && !replies {
		return ctx
	}
	c := newHeaderContext(ctx)
	c.h.received, c.h.inArgs, c.h.passedOn = r.list, r.inArgs, false
	if c.h.reply = nil; replies {
		r.reply = new(replyState)
		c.h.reply = r.reply
	}
	return c
}

// place returns the headers of the reply for the place that the transport has for them.
func (r *requestHeaders) place() (l header.List) {
	if r.reply != nil && !r.inArgs {
		l, _ = r.reply.close()
	}
	return l
}

// addTo adds the headers of the reply to it, a message of type d that the server has made, if the
// transport has no place for them.
func (r *requestHeaders) addTo(reply *nocopy.Message, d *thriftimpl.Desc) {
	if r.reply != nil && r.inArgs {
		list, _ := r.reply.close()
		putHeaders(thriftimpl.Struct(reply.Root()), d, list)
	}
}

// addToCopy is addTo for a result that the server has not made. It returns a copy with the
// headers, which the caller must end, or result itself.
func (r *requestHeaders) addToCopy(result nocopy.Struct, d *thriftimpl.Desc) (nocopy.Struct, error) {
	if r.reply == nil || !r.inArgs {
		return result, nil
	}
	list, own := r.reply.close()
	if len(list) == 0 || !own && thriftimpl.Struct(result).Is(d) && len(fieldOf(result, d)) > 0 {
		return result, nil // what Forward has received is in it
	}
	c, err := thriftimpl.Struct(result).ClaimCopy(d)
	if err == nil {
		putHeaders(c, d, list)
	}
	return nocopy.Struct(c), err
}

// putHeaders puts headers into the field of s, a root of type d, unless there are none.
func putHeaders(s thriftimpl.Struct, d *thriftimpl.Desc, l header.List) {
	if len(l) > 0 && hasHeaderField(d) {
		s.RemoveFields(HeaderField)
		s.AppendUnknown(d, HeaderField, impl.WireValue(impl.ValueOfWire(nocopy.WireMap, l.AppendMap(nil))))
	}
}

// extras are what a client's call sends with its arguments, and the headers that it receives with
// its result.
type extras struct {
	fields []client.Field  // set by interceptors, or with headers
	list   header.List     // headers in the transport's own place
	wanted []*ReplyHeaders // who wants the headers of the reply
	got    header.List
}

// addHeaders adds the headers of ctx to those that a call of m sends. hasPlace says that the
// transport has a place for them.
func (x *extras) addHeaders(ctx context.Context, m *Method, hasPlace bool) error {
	h := headersOf(ctx)
	if h == nil {
		return nil
	}
	x.wanted = h.wanted
	if h.err != nil {
		return h.err
	}
	var received header.List
	if h.passedOn {
		received = h.received
	}
	asks := len(x.wanted) > 0 && !m.Oneway()
	if hasPlace {
		x.list = header.Merge(received, h.set)
		return nil
	}
	inArgs := h.passedOn && h.inArgs && (!asks || received.Has(ReplyHeadersKey))
	if len(h.set) == 0 && (inArgs || len(received) == 0 && !asks) || !hasHeaderField(m.Args) {
		return nil
	}
	own := h.set
	if asks {
		own = own.With(ReplyHeadersKey, "1")
	}
	list := header.Merge(received, own)
	if err := tooLarge(list); err != nil {
		return err
	}
	x.fields = withHeaders(x.fields, list)
	return nil
}

// withHeaders returns fields, with headers instead of those that they have. If there are none, it
// is a field that is left out.
func withHeaders(fields []client.Field, list header.List) []client.Field {
	with := make([]client.Field, 0, len(fields)+1)
	for _, f := range fields {
		if f.ID != HeaderField {
			with = append(with, f)
		}
	}
	field := client.Field{ID: HeaderField}
	if len(list) > 0 {
		const head = "\x0d\x22\xb8" // the type and the id
		field.Wire = list.AppendMap([]byte(head))
	}
	return append(with, field)
}

// deliver gives the headers of the reply to those who want them.
func (x *extras) deliver() { deliverHeaders(x.wanted, x.got) }

func deliverHeaders(to []*ReplyHeaders, l header.List) {
	for _, r := range to {
		r.mu.Lock()
		r.list = l
		r.mu.Unlock()
	}
}

// forClient returns ctx without the headers of the request that is being handled, unless they are
// passed on: a client's interceptors see the headers that are sent, and no others.
func forClient(ctx context.Context) context.Context {
	if h := headersOf(ctx); h != nil && len(h.received) > 0 && !h.passedOn {
		c := newHeaderContext(ctx)
		c.h.received = nil
		return c
	}
	return ctx
}

// passHeaders returns a context for a call of Forward: the call passes on the headers of the
// request under way. The returned function passes on the reply's headers.
func passHeaders(ctx context.Context) (context.Context, func()) {
	h := headersOf(ctx)
	if h == nil || len(h.received) == 0 && h.reply == nil {
		return ctx, nil
	}
	c := newHeaderContext(ctx)
	c.h.passedOn = true
	if h.reply == nil {
		return c, nil
	}
	var got ReplyHeaders
	c.h.wanted = append(c.h.wanted[:len(c.h.wanted):len(c.h.wanted)], &got)
	return c, func() { h.reply.pass(got.list) }
}

// These functions are for Callers and servers of a program, and for packages that carry
// calls by other means than this one, such as another transport.

// SentHeaders returns the headers that a call with ctx sends. ReplyHeadersKey is among them if the
// reply's headers are wanted. On error, the call must return the error.
func SentHeaders(ctx context.Context) (iter.Seq2[string, string], error) {
	var x extras
	err := x.addHeaders(ctx, rawTwoWay, true)
	if err != nil {
		return nil, err
	}
	if len(x.wanted) > 0 {
		x.list = x.list.With(ReplyHeadersKey, "1")
	}
	if len(x.list) == 0 {
		return noHeaders, nil
	}
	return x.list.All(), nil
}

func noHeaders(func(string, string) bool) {}

// DeliverReplyHeaders gives the headers of the reply to a call with ctx to those who want them;
// see ReceiveHeaders. If nobody does, it does not iterate. Headers beyond the limits are dropped.
func DeliverReplyHeaders(ctx context.Context, reply iter.Seq2[string, string]) {
	if h := headersOf(ctx); h != nil && len(h.wanted) > 0 {
		deliverHeaders(h.wanted, listOf(reply))
	}
}

// WithRequestHeaders returns a context for the handler of a call, with the headers that the
// request has. Headers beyond the limits are dropped. closeReply returns those that
// SetReplyHeader has set for the reply; later ones are refused.
func WithRequestHeaders(ctx context.Context, request iter.Seq2[string, string]) (_ context.Context, closeReply func() iter.Seq2[string, string]) {
	r := requestHeaders{list: listOf(request)}
	ctx = r.contextFor(ctx, rawTwoWay, nil)
	return ctx, func() iter.Seq2[string, string] {
		list, _ := r.reply.close()
		return list.All()
	}
}

var rawTwoWay = RawMethod("", false)

// listOf returns the headers of seq as far as there is room for them.
func listOf(seq iter.Seq2[string, string]) (l header.List) {
	if seq != nil {
		for key, value := range seq {
			if !l.Add(key, value) {
				break
			}
		}
	}
	return l
}
