package inspect_test

import (
	"context"
	"net"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// key is a struct of one binary, field 1, for Apache's library.
type key []byte

func (k *key) Write(ctx context.Context, p thrift.TProtocol) error {
	p.WriteStructBegin(ctx, "key")
	p.WriteFieldBegin(ctx, "key", thrift.STRING, 1)
	p.WriteBinary(ctx, *k)
	p.WriteFieldStop(ctx)
	return p.WriteStructEnd(ctx)
}

func (k *key) Read(ctx context.Context, p thrift.TProtocol) error {
	p.ReadStructBegin(ctx)
	for {
		_, t, _, err := p.ReadFieldBegin(ctx)
		if err != nil || t == thrift.STOP {
			return err
		}
		if *k, err = p.ReadBinary(ctx); err != nil {
			return err
		}
	}
}

// deleter is an Apache processor that answers all calls with an empty result.
type deleter struct{}

func (deleter) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	name, _, seqid, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return false, thrift.WrapTException(err)
	}
	if err := new(key).Read(ctx, in); err != nil {
		return false, thrift.WrapTException(err)
	}
	in.ReadMessageEnd(ctx)
	out.WriteMessageBegin(ctx, name, thrift.REPLY, seqid)
	out.WriteStructBegin(ctx, "result")
	out.WriteFieldStop(ctx)
	out.WriteStructEnd(ctx)
	out.WriteMessageEnd(ctx)
	return true, thrift.WrapTException(out.Flush(ctx))
}

func (deleter) ProcessorMap() map[string]thrift.TProcessorFunction { return nil }

func (deleter) AddToProcessorMap(string, thrift.TProcessorFunction) {}

// sockets is a TServerTransport over a listener.
type sockets struct{ net.Listener }

func (s sockets) Listen() error    { return nil }
func (s sockets) Interrupt() error { return s.Close() }

func (s sockets) Accept() (thrift.TTransport, error) {
	nc, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return thrift.NewTSocketFromConnConf(nc, nil), nil
}

// TestTapApache: Apache's client and server over connections with a Tap, framed and buffered,
// strict and old style.
func TestTapApache(t *testing.T) {
	for _, way := range []struct {
		name      string
		transport thrift.TTransportFactory
		strict    bool
	}{
		{"framed", thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil), true},
		{"framed, old style", thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil), false},
		{"buffered", thrift.NewTBufferedTransportFactory(4096), true},
		{"buffered, old style", thrift.NewTBufferedTransportFactory(4096), false},
	} {
		conf := &thrift.TConfiguration{TBinaryStrictRead: &way.strict, TBinaryStrictWrite: &way.strict}
		protocols := thrift.NewTBinaryProtocolFactoryConf(conf)
		var atServer, atClient output
		opt := inspect.Options{IDL: loadKV(t)}
		serverTap, clientTap := newTap(t, &atServer, opt), newTap(t, &atClient, opt)
		l := listen(t)
		srv := thrift.NewTSimpleServer4(deleter{}, sockets{serverTap.Listener(l)}, way.transport, protocols)
		served := make(chan error, 1)
		go func() { served <- srv.Serve() }()

		nc, err := clientTap.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		transport, err := way.transport.GetTransport(thrift.NewTSocketFromConnConf(nc, conf))
		if err != nil {
			t.Fatal(err)
		}
		c := thrift.NewTStandardClient(protocols.GetProtocol(transport), protocols.GetProtocol(transport))
		var want []string
		for range 3 {
			k := key("some key")
			if _, err := c.Call(t.Context(), "delete", &k, new(key)); err != nil {
				t.Errorf("%s: %v", way.name, err)
			}
			want = append(want, `call "delete"`, `reply "delete"`)
		}
		transport.Close()
		srv.Stop()
		<-served
		waitFor(t, clientTap)
		waitFor(t, serverTap)
		for side, out := range map[string]*output{"server": &atServer, "client": &atClient} {
			if diff := cmp.Diff(want, kinds(out.String())); diff != "" {
				t.Errorf("%s, %s:\n%s\n%s", way.name, side, diff, out.String())
			}
		}
	}
}
