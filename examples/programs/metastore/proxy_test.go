package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/internal/apache"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

func TestMove(t *testing.T) {
	m := move{"s3://old", "s3://new"}
	for stored, shown := range map[string]string{
		"s3://old": "s3://new", "s3://old/": "s3://new/", "s3://old/a/b": "s3://new/a/b",
		"": "", "s3://": "s3://", "s3://olds/a": "s3://olds/a", "s3a://old/a": "s3a://old/a", "x/s3://old/": "x/s3://old/",
	} {
		if have := m.shown(stored); have != shown {
			t.Errorf("%q is shown as %q, not %q", stored, have, shown)
		}
		if have := m.stored(shown); have != stored {
			t.Errorf("%q is stored as %q, not %q", shown, have, stored)
		}
	}
}

// apacheClient returns a client of Apache's library.
func apacheClient(t *testing.T, addr string, framed bool) *apache.MetastoreClient {
	t.Helper()
	conf := &thrift.TConfiguration{MaxMessageSize: 100 << 20, MaxFrameSize: 100 << 20}
	socket := thrift.NewTSocketConf(addr, conf)
	if err := socket.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	transport := thrift.TTransport(thrift.NewTBufferedTransport(socket, 4096))
	if framed {
		transport = thrift.NewTFramedTransportConf(socket, conf)
	}
	protocol := thrift.NewTBinaryProtocolConf(transport, conf)
	return apache.NewMetastoreClient(thrift.NewTStandardClient(protocol, protocol))
}

// TestProxy: through the proxy Apache's library reads the same values as without it, except
// locations. Its writes go to the right places. Nothing else changes.
func TestProxy(t *testing.T) {
	const n = 3000
	for _, framed := range []bool{false, true} {
		for _, backend := range [][]rpc.Option{nil, {rpc.Unframed}} {
			f := newFake(t, n)
			addr := serveFake(t, f)
			direct, through := apacheClient(t, addr, framed), apacheClient(t, serveProxy(t, addr, backend...), framed)
			ctx := t.Context()

			want, err := direct.GetPartitions(ctx, "logs", "visits", -1)
			if err != nil || len(want) < n/2 {
				t.Fatal(len(want), err)
			}
			have, err := through.GetPartitions(ctx, "logs", "visits", -1)
			if err != nil || len(have) != len(want) {
				t.Fatal(len(have), err)
			}
			for i, p := range want {
				p.Sd.Location = strings.Replace(p.Sd.Location, "s3://old/", "s3://new/", 1)
				if !have[i].Equals(p) {
					t.Fatalf("a partition is\n%v, not\n%v", have[i], p)
				}
			}
			wantTable, err := direct.GetTable(ctx, "logs", "visits")
			if err != nil {
				t.Fatal(err)
			}
			table, err := through.GetTable(ctx, "logs", "visits")
			if err != nil {
				t.Fatal(err)
			}
			wantTable.Sd.Location = "s3://new/warehouse/logs.db/visits"
			wantTable.Sd.SerdeInfo.Parameters["path"] = "s3://new/warehouse/logs.db/visits"
			if !table.Equals(wantTable) {
				t.Errorf("the table is\n%v, not\n%v", table, wantTable)
			}
			if db, err := through.GetDatabase(ctx, "logs"); err != nil || db.LocationUri != "s3://new/warehouse/logs.db" {
				t.Errorf("%v, %v", db, err)
			}

			// A client writes back what it has read: nothing has changed.
			wire := f.tableWire()
			if err := through.AlterTable(ctx, "logs", "visits", table); err != nil {
				t.Error(err)
			}
			stored := apacheOf(t, apache.NewTable(), f.tableWire())
			if want := apacheOf(t, apache.NewTable(), wire); !stored.Equals(want) {
				t.Errorf("the table is stored as\n%v, not\n%v", stored, want)
			}
			p := have[7]
			p.Sd.Location = "s3://new/elsewhere"
			p.Parameters["note"] = "not at s3://new/"
			if err := through.AlterPartition(ctx, "logs", "visits", p); err != nil {
				t.Error(err)
			}
			p.Sd.Location = "s3://old/elsewhere"
			name := "day=" + p.Values[0] + "/hour=" + p.Values[1]
			if have := apacheOf(t, apache.NewPartition(), f.partWire(name)); !have.Equals(p) {
				t.Errorf("the partition is stored as\n%v, not\n%v", have, p)
			}

			_, err = through.GetTable(ctx, "logs", "none")
			var missing *apache.NoSuchObjectException
			if !errors.As(err, &missing) || missing.Message != "none not found" {
				t.Errorf("%v from a table that is not there", err)
			}
		}
	}
}

// TestProxyUnknownFields: our client, too, sees and sends fields that no IDL has, as they are.
func TestProxyUnknownFields(t *testing.T) {
	f := newFake(t, 10)
	conn, err := rpc.Dial(t.Context(), "tcp", serveProxy(t, serveFake(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, of := client{hms.NewMetastoreClient(conn)}, place{"logs", "visits", ""}
	for range 2 {
		err = c.edit(t.Context(), of, func(sd hms.StorageDescriptor, params nocopy.StringMap) {
			if at := sd.GetLocation(); at != "s3://new/warehouse/logs.db/visits" {
				t.Errorf("the table is at %s", at)
			}
			params.Put("k", "v")
		})
		if err != nil {
			t.Fatal(err)
		}
		if b := f.tableWire(); !bytes.Contains(b, []byte(unknown)) {
			t.Error("unknown fields have changed")
		}
		if at := apacheOf(t, apache.NewTable(), f.tableWire()).Sd.Location; at != "s3://old/warehouse/logs.db/visits" {
			t.Errorf("the table is stored at %s", at)
		}
	}
}

// fill sets all fields of a message, also in structs and lists in it: marked ones to locations in
// at, other texts to ones that look alike.
func fill(t *testing.T, m reflection.Message, at string) (locations int) {
	t.Helper()
	set := func(f descriptor.Field, v any) {
		if err := m.SetByID(f.ID(), v); err != nil {
			t.Fatal(f.Name(), err)
		}
	}
	for f := range m.Descriptor().Fields() {
		of, isList := f.Type(), f.Type().WireType() == nocopy.WireList
		if isList {
			of = of.Elem()
		}
		key, marked := f.Annotation("location")
		switch {
		case of.WireType() == nocopy.WireStruct && strings.HasSuffix(of.Struct().Name(), "Exception"):
		case of.WireType() == nocopy.WireStruct:
			v, err := m.New(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				s := v.Message()
				if isList {
					s = v.List().AppendNew().Message()
				}
				locations += fill(t, s, at)
				if !isList {
					break
				}
			}
		case of.WireType() == nocopy.WireString && isList:
			v, _ := m.New(f.Name())
			for _, s := range []string{at + "/1", at} {
				if !marked {
					s = "s3://old/ and s3://new/"
				} else {
					locations++
				}
				v.List().Append(s)
			}
		case of.WireType() == nocopy.WireString && marked:
			set(f, at+"/"+f.Name())
			locations++
		case of.WireType() == nocopy.WireString:
			set(f, "s3://old/ and s3://new/")
		case of.WireType() == nocopy.WireMap && of.Key().WireType() == nocopy.WireString:
			v, _ := m.New(f.Name())
			for _, k := range []string{"other", "path"} {
				text := "s3://old/ and s3://new/"
				if marked && (key == "1" || key == k) {
					text = at + "/" + k
					locations++
				}
				v.Map().Put(k, text)
			}
		case of.WireType() == nocopy.WireI32:
			set(f, 7)
		case of.WireType() == nocopy.WireBool:
			set(f, true)
		case of.WireType() == nocopy.WireMap: // its keys are lists
			v, _ := m.New(f.Name())
			for _, k := range []string{"a", "b"} {
				key, err := dynamic.TypeOf(m).FromMap(map[string]any{"skewedColNames": []string{k, "x"}})
				if err != nil {
					t.Fatal(err)
				}
				list, _ := key.Get("skewedColNames")
				if err := v.Map().Put(list, at+"/"+k); err != nil {
					t.Fatal(err)
				}
				locations++
			}
		}
	}
	return locations
}

// TestEveryLocation: of every method of the IDL every marked field is rewritten, in calls and in
// replies, and nothing else.
func TestEveryLocation(t *testing.T) {
	schema, err := dynamic.Loader{FS: idl}.Load("locations.thrift")
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("Locations")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]descriptor.Method{}
	for m := range service.AllMethods() {
		of[m.Name()] = m
	}
	got := make(chan []byte, 1)
	backend := service.Processor(func(ctx context.Context, c *dynamic.Call) error {
		got <- c.Args.AppendTo(nil)
		fill(t, c.Result, "s3://old")
		return nil
	})
	c := service.Client(dial(t, serveProxy(t, serve(t, &rpc.Server{Processor: backend}))))
	methods, locations := 0, 0
	for name, m := range of {
		sent, err := c.NewArgs(name)
		if err != nil {
			t.Fatal(err)
		}
		found := fill(t, sent, "s3://new")
		want, _ := c.NewArgs(name)
		fill(t, want, "s3://old")
		res, err := c.Call(t.Context(), name, sent)
		if err != nil {
			t.Fatal(name, err)
		}
		if have, want := <-got, want.AppendTo(nil); !bytes.Equal(have, want) {
			t.Errorf("%s: the metastore has got\n%q, not\n%q", name, have, want)
		}
		result := dynamic.Type{Struct: m.Result()}.New()
		found += fill(t, result, "s3://new")
		if have, want := res.AppendTo(nil), result.AppendTo(nil); !bytes.Equal(have, want) {
			t.Errorf("%s: the client has got\n%q, not\n%q", name, have, want)
		}
		if found > 0 {
			methods++
			locations += found
		}
	}
	if methods < 59 || locations < 500 {
		t.Errorf("only %d methods have locations, %d in all", methods, locations)
	}
	t.Logf("%d methods with %d locations", methods, locations)
}

// dial returns a client that is closed when the test ends.
func dial(t *testing.T, addr string, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	c, err := rpc.Dial(t.Context(), "tcp", addr, append(opts, rpc.PoolSize(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestOtherMethods: calls that are not in the IDL are forwarded unchanged: arguments, results,
// exceptions, oneway calls.
func TestOtherMethods(t *testing.T) {
	args := "\x0b\x00\x01\x00\x00\x00\x0as3://new/x\x00"
	result := "\x0b\x00\x00\x00\x00\x00\x0as3://old/x\x00"
	told := make(chan string, 1)
	backend := rpc.NewProcessor("", nil).WithFallback(func(ctx context.Context, c *rpc.Call) error {
		switch name := c.Method.WireName(); {
		case c.Method.Oneway():
			told <- name + string(c.Args.Message().Bytes())
			return nil
		case name == "refuse":
			return &rpc.ApplicationException{Type: rpc.InvalidTransform, Message: "no"}
		}
		if have := string(c.Args.Message().Bytes()); have != args {
			t.Errorf("the metastore has got %q, not %q", have, args)
		}
		echo := c.Args.Clone(c.Method.Args) // the same, with the result's id and text
		b := bytes.Replace(echo.Message().Bytes(), []byte("\x00\x01"), []byte("\x00\x00"), 1)
		s, err := nocopy.Read[nocopy.Struct](c.Method.Result, bytes.NewReader(bytes.Replace(b, []byte("new"), []byte("old"), 1)), len(b))
		c.Result = s
		return err
	})
	c := dial(t, serveProxy(t, serve(t, &rpc.Server{Processor: backend})), rpc.Unframed)
	res, err := dynamic.CallRaw(t.Context(), c, "get_role_names", []byte(args))
	if err != nil || string(res) != result {
		t.Errorf("%q, %v, not %q", res, err, result)
	}
	var e *rpc.ApplicationException
	if _, err := dynamic.CallRaw(t.Context(), c, "refuse", []byte(args)); !errors.As(err, &e) || e.Type != rpc.InvalidTransform || e.Message != "no" {
		t.Error(err)
	}
	if err := dynamic.CallRawOneway(t.Context(), c, "shutdown", []byte(args)); err != nil || <-told != "shutdown"+args {
		t.Error(err)
	}
}
