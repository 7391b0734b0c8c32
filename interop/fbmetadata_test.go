// A server on fbthrift's Go library that returns its types, as those with fbthrift's generated
// code do.

package interop_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/facebook/fbthrift/thrift/lib/go/thrift"
)

// Values that fbthrift's protocols write: a struct, by ids, and a map from texts or numbers.
type (
	fbField struct {
		id    int16
		value any
	}
	fbStruct []fbField
	fbPair   struct{ key, value any }
	fbMap    []fbPair
	fbList   []any
)

// fbType returns the type of a value.
func fbType(v any) thrift.Type {
	switch v.(type) {
	case string:
		return thrift.STRING
	case int32:
		return thrift.I32
	case bool:
		return thrift.BOOL
	case fbMap:
		return thrift.MAP
	case fbList:
		return thrift.LIST
	}
	return thrift.STRUCT
}

func fbWrite(p thrift.Protocol, v any) {
	switch v := v.(type) {
	case string:
		p.WriteString(v)
	case int32:
		p.WriteI32(v)
	case bool:
		p.WriteBool(v)
	case fbMap:
		p.WriteMapBegin(fbType(v[0].key), fbType(v[0].value), len(v))
		for _, pair := range v {
			fbWrite(p, pair.key)
			fbWrite(p, pair.value)
		}
		p.WriteMapEnd()
	case fbList:
		p.WriteListBegin(fbType(v[0]), len(v))
		for _, elem := range v {
			fbWrite(p, elem)
		}
		p.WriteListEnd()
	case fbStruct:
		p.WriteStructBegin("")
		for _, f := range v {
			p.WriteFieldBegin("", fbType(f.value), f.id)
			fbWrite(p, f.value)
			p.WriteFieldEnd()
		}
		p.WriteFieldStop()
		p.WriteStructEnd()
	}
}

// Write makes an fbStruct a result for fbthrift's library.
func (s fbStruct) Write(p thrift.Protocol) error {
	fbWrite(p, s)
	return nil
}

// metadataOfInventory is what fbthrift's metadata.thrift has for this IDL:
//
//	enum Color { RED = 1, BLUE = 2 }
//	union Size { 1: i32 pixels, 2: string words }
//	typedef list<string> Tags
//	struct Item {
//	  1: string name, 2: optional Color color, 3: Tags tags, 4: Size size, 5: float weight
//	}
//	exception Missing { 1: string why }
//	service Base { string ping() }
//	service Inventory extends Base {
//	  Item get(1: string key) throws (1: Missing missing)
//	  oneway void note(1: string text)
//	  stream<i32> watch()
//	}
func metadataOfInventory() fbStruct {
	primitive := func(n int32) fbStruct { return fbStruct{{1, n}} }
	named := func(kind int16, name string) fbStruct { return fbStruct{{kind, fbStruct{{1, name}}}} }
	field := func(id int32, t fbStruct, name string, optional bool) fbStruct {
		return fbStruct{{1, id}, {2, t}, {3, name}, {4, optional}}
	}
	float, text, void := primitive(6), primitive(9), primitive(10)
	tags := fbStruct{{8, fbStruct{{1, "inventory.Tags"}, {2, fbStruct{{2, fbStruct{{1, text}}}}}}}}
	return fbStruct{
		{2, fbStruct{
			{2, fbMap{{"inventory.Color", fbStruct{{1, "inventory.Color"}, {2, fbMap{{int32(1), "RED"}, {int32(2), "BLUE"}}}}}}},
			{4, fbMap{
				{"inventory.Item", fbStruct{{1, "inventory.Item"}, {3, false}, {2, fbList{
					field(1, text, "name", false), field(2, named(5, "inventory.Color"), "color", true), field(3, tags, "tags", false),
					field(4, named(7, "inventory.Size"), "size", false), field(5, float, "weight", false),
				}}}},
				{"inventory.Size", fbStruct{{1, "inventory.Size"}, {3, true}, {2, fbList{field(1, primitive(4), "pixels", false), field(2, text, "words", false)}}}},
			}},
			{5, fbMap{{"inventory.Missing", fbStruct{{1, "inventory.Missing"}, {2, fbList{field(1, text, "why", false)}}}}}},
			{6, fbMap{
				{"inventory.Base", fbStruct{{1, "inventory.Base"}, {2, fbList{fbStruct{{1, "ping"}, {2, text}, {5, false}}}}}},
				{"inventory.Inventory", fbStruct{{1, "inventory.Inventory"}, {3, "inventory.Base"}, {2, fbList{
					fbStruct{{1, "get"}, {2, named(6, "inventory.Item")}, {3, fbList{field(1, text, "key", false)}},
						{4, fbList{field(1, named(6, "inventory.Missing"), "missing", false)}}, {5, false}},
					fbStruct{{1, "note"}, {2, void}, {3, fbList{field(1, text, "text", false)}}, {5, true}},
					fbStruct{{1, "watch"}, {2, fbStruct{{9, fbStruct{{1, primitive(4)}}}}}, {5, false}},
				}}}},
			}},
		}},
		{3, fbList{fbStruct{{1, "inventory.Inventory"}, {2, fbStruct{{1, "inventory"}}}}}},
	}
}

// fbInventory is a service of fbthrift's library. Each method gets its first argument, a text.
type fbInventory map[string]func(text string) fbStruct

func (s fbInventory) GetProcessorFunction(name string) (thrift.ProcessorFunction, error) {
	if f := s[name]; f != nil {
		return fbMethod{name, f}, nil
	}
	return nil, nil
}

type fbMethod struct {
	name string
	f    func(text string) fbStruct
}

// fbArguments are the arguments that a method gets.
type fbArguments struct {
	fbStruct
	text string
}

func (a *fbArguments) Read(p thrift.Protocol) error {
	for {
		_, typ, _, err := p.ReadFieldBegin()
		switch {
		case err != nil || typ == thrift.STOP:
			return err
		case typ == thrift.STRING:
			a.text, err = p.ReadString()
		default:
			err = p.Skip(typ)
		}
		if err != nil {
			return err
		}
	}
}

func (m fbMethod) Read(p thrift.Protocol) (thrift.Struct, thrift.Exception) {
	a := &fbArguments{}
	if err := a.Read(p); err != nil {
		return nil, err
	}
	return a, p.ReadMessageEnd()
}

func (m fbMethod) Run(args thrift.Struct) (thrift.WritableStruct, thrift.ApplicationException) {
	if result := m.f(args.(*fbArguments).text); result != nil {
		return result, nil
	}
	return nil, nil // oneway
}

func (m fbMethod) Write(seqid int32, result thrift.WritableStruct, p thrift.Protocol) thrift.Exception {
	p.WriteMessageBegin(m.name, thrift.REPLY, seqid)
	result.Write(p)
	p.WriteMessageEnd()
	return p.Flush()
}

// TestFbthriftMetadata: the tool describes and calls a server on fbthrift's library without IDL,
// in each way that its header transport speaks. Types that Apache's IDL lacks are left out: float
// and streams. fbthrift's compiler is not at hand here. The metadata are written by its library,
// and their values are those that its metadata.thrift gives for the IDL.
func TestFbthriftMetadata(t *testing.T) {
	t.Parallel()
	socket, err := thrift.NewServerSocket("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Listen(); err != nil {
		t.Fatal(err)
	}
	addr := socket.Addr().String()
	noted := make(chan string, 10)
	server := thrift.NewSimpleServer(fbInventory{
		"getThriftServiceMetadata": func(string) fbStruct { return fbStruct{{0, metadataOfInventory()}} },
		"ping":                     func(string) fbStruct { return fbStruct{{0, "pong"}} },
		"note":                     func(text string) fbStruct { noted <- text; return nil },
		"get": func(key string) fbStruct {
			if key == "none" {
				return fbStruct{{1, fbStruct{{1, "sold"}}}}
			}
			return fbStruct{{0, fbStruct{{1, key}, {2, int32(2)}, {3, fbList{"a", "b"}}, {4, fbStruct{{1, int32(7)}}}}}}
		},
	}, socket, thrift.TransportFactories(thrift.NewHeaderTransportFactory(thrift.NewTransportFactory())), thrift.ProtocolFactories(thrift.NewHeaderProtocolFactory()))
	served := make(chan struct{})
	go func() { server.AcceptLoop(); close(served) }()
	t.Cleanup(func() { socket.Close(); <-served })

	nocopy := func(args ...string) string {
		out, err := runTool(t.Context(), args...)
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return out
	}
	const services = `service Inventory extends Base {
  Item get(1: string key) throws (1: optional Missing missing)
  oneway void note(1: string text)
  string ping()
}
`
	if out := nocopy("describe", addr); !strings.HasSuffix(out, services) {
		t.Errorf("describe:\n%s", out)
	}
	if out := nocopy("describe", addr, "Item"); out != "struct Item {\n  1: string name\n  2: optional Color color\n  3: list<string> tags\n  4: Size size\n}\n" {
		t.Errorf("describe Item:\n%s", out)
	}
	for _, way := range [][]string{{"auto", "auto"}, {"framed", "compact"}, {"theader", "binary"}, {"theader", "compact"}} {
		call := func(args ...string) string {
			return nocopy(append([]string{"call", addr, "-transport", way[0], "-protocol", way[1]}, args...)...)
		}
		if out := strings.Join(strings.Fields(call("get", "key=lamp")), ""); out != `{"name":"lamp","color":"BLUE","tags":["a","b"],"size":{"pixels":7}}` {
			t.Errorf("%v: get: %s", way, out)
		}
		if out := call("get", "key=none"); !strings.Contains(out, `"exception": "Missing"`) || !strings.Contains(out, `"why": "sold"`) {
			t.Errorf("%v: get of what is not there: %s", way, out)
		}
		if out := call("Inventory.ping"); out != "\"pong\"\n" {
			t.Errorf("%v: ping: %s", way, out)
		}
		out := call("note", "text=x")
		select {
		case text := <-noted:
			if text != "x" {
				t.Errorf("%v: note: %s", way, text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: note does not arrive: %s", way, out)
		}
	}
}
