package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

const thriftType = "Content-Type: application/x-thrift"

// thriftText returns a text as a field of a struct in Thrift Binary.
func thriftText(id byte, text string) string {
	return string([]byte{11, 0, id, 0, 0, byte(len(text) >> 8), byte(len(text))}) + text
}

// thriftStruct returns a struct as a field of another one.
func thriftStruct(id byte, fields ...string) string {
	return "\x0c\x00" + string(id) + strings.Join(fields, "") + "\x00"
}

// TestThriftRules: fields that can't be in a JSON body can't be in a Thrift body either: at any
// place, of any type, and even if the same struct comes again without them.
func TestThriftRules(t *testing.T) {
	const idl = `
struct Inner { 1: string note (api.header = "X-Note"), 2: string text, 3: optional Inner next }
union Either { 1: string left (api.header = "X-Left"), 2: Inner right }
struct Request {
  1: string id (api.path = "id")
  2: string query (api.query)
  3: string cookie (api.cookie)
  4: string head (api.header = "X-Head")
  5: string form (api.form)
  6: string none (api.none)
  7: string hidden (go.tag = 'json:"-"')
  8: required string both (api.header = "X-Both", api.body)
  9: string text
  10: optional Inner inner
  11: list<Inner> inners
  12: optional Either either
  13: i32 status (api.http_code)
  14: string raw (api.raw_body)
}
service S {
  Request echo(1: Request r) (api.post = "/echo/:id")
  Inner inner(1: Inner r) (api.any = "/inner")
  string args(1: string user (api.header = "X-User"), 2: string text) (api.put = "/args")
}`
	got := make(chan string, 10)
	schema, err := dynamic.LoadText(map[string]string{"test.thrift": idl})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("S")
	if err != nil {
		t.Fatal(err)
	}
	g := startFor(t, idl, service.Processor(func(_ context.Context, c *dynamic.Call) error {
		got <- c.Args.String()
		r, err := c.Args.GetByID(1)
		if err != nil {
			return err
		}
		return c.Return(r)
	}), time.Minute)

	const evil = "evil"
	both := thriftText(8, "body")
	for _, c := range []struct{ verb, path, body, where string }{
		{"POST", "/echo/7", thriftText(1, evil) + both, "Request.id 0"},
		{"POST", "/echo/7", both + thriftText(2, evil), "Request.query 11"},
		{"POST", "/echo/7", both + thriftText(3, evil), "Request.cookie 11"},
		{"POST", "/echo/7", both + thriftText(4, evil), "Request.head 11"},
		{"POST", "/echo/7", both + thriftText(4, ""), "Request.head 11"},
		{"POST", "/echo/7", both + thriftText(5, evil), "Request.form 11"},
		{"POST", "/echo/7", both + thriftText(6, evil), "Request.none 11"},
		{"POST", "/echo/7", both + thriftText(7, evil), "Request.hidden 11"},
		{"POST", "/echo/7", both + "\x08\x00\x0d\x00\x00\x01\x00", "Request.status 11"},
		{"POST", "/echo/7", both + thriftText(14, evil), "Request.raw 11"},
		{"POST", "/echo/7", both + "\x02\x00\x04\x01", "Request.head 11"}, // another type
		{"POST", "/echo/7", both + thriftStruct(10, thriftText(1, evil)), "Request.inner.note 14"},
		{"POST", "/echo/7", both + thriftStruct(10, thriftStruct(3, thriftStruct(3, thriftText(1, evil)))), "Request.inner.next.next.note 20"},
		{"POST", "/echo/7", both + thriftStruct(10, thriftText(1, evil)) + thriftStruct(10), "Request.inner.note 14"},
		{"POST", "/echo/7", both + thriftStruct(10) + thriftStruct(10, thriftText(1, evil)), "Request.inner.note 18"},
		{"POST", "/echo/7", both + thriftStruct(10, thriftText(2, "x"), thriftText(1, evil), thriftText(1, evil)), "Request.inner.note 22"},
		{"GET", "/inner", thriftText(1, evil), "Inner.note 0"},
		{"PUT", "/args", thriftText(2, "x") + thriftText(1, evil), "args_args.user 8"},
		// Malformed
		{"POST", "/echo/7", both + thriftText(9, "\xff"), "Request.text 18"},
		{"POST", "/echo/7", both + "\x0b\x00", "Request.0 14"},
		{"POST", "/echo/7", both + "\x00", "Request 12"},
	} {
		status, _, text, err := g.send(c.verb, c.path, thriftType+"\nX-Head: true\nX-Note: true", c.body+"\x00")
		var p struct {
			Path   string
			Offset int
		}
		json.Unmarshal([]byte(text), &p)
		if have := fmt.Sprint(p.Path, " ", p.Offset); err != nil || status != 400 || have != c.where {
			t.Errorf("%s %s %q: %d %s, %v; want it refused for %s", c.verb, c.path, c.body, status, text, err, c.where)
		}
	}

	// Fields that JSON can have are sent on, and unknown ones: annotations mean nothing in lists,
	// and on the fields of unions.
	const inList, ofList = "\x0f\x00\x0b\x0c\x00\x00\x00\x01", "\x00"
	for _, c := range []struct{ path, header, body, want string }{
		{"/echo/7?query=q", "X-Head: h\nX-Note: n", both + thriftText(9, "t") + thriftStruct(10, thriftText(2, "i")) + inList + thriftText(1, "l") + ofList + thriftText(99, "u"),
			`id: "7", query: "q", head: "h", both: "body", text: "t", inner: {note: "n", text: "i"}, inners: [{note: "l"}]`},
		{"/echo/7", "X-Both: header", both + both, `id: "7", both: "header"`},
		{"/echo/7", "X-Both: header", "", `id: "7", both: "header"`},
		{"/echo/7", "", both + thriftStruct(12, thriftText(1, "l")), `id: "7", both: "body", either: {left: "l"}`},
	} {
		status, _, text, err := g.send("POST", c.path, thriftType+"\n"+c.header, c.body+"\x00")
		if err != nil || status != 200 {
			t.Errorf("%q: %d %s, %v", c.body, status, text, err)
			continue
		}
		if have, want := <-got, "{r: {"+c.want+", raw: "; !strings.HasPrefix(have, want) {
			t.Errorf("%q: the server got %s, want %s", c.body, have, want)
		}
	}
	// A required field that may be in the body or elsewhere
	g.want("POST", "/echo/7", "", `{"both": "b"}`, 200, `{"both":"b"}`)
	g.want("POST", "/echo/7", "X-Both: h", `{}`, 200, `{"both":"h"}`)
	g.want("POST", "/echo/7", "", `{}`, 400, `{"error":"Bad Request","message":"required field is missing in header X-Both","path":"Request.both"}`)
	g.want("POST", "/echo/7", thriftType, "\x00", 400, `{"error":"Bad Request","message":"required field is missing in header X-Both","path":"Request.both"}`)
}

// TestThriftAsItCame: fields of a Thrift body are sent as they came, also in any order, with
// fields that the IDL does not know, and with the header in its place.
func TestThriftAsItCame(t *testing.T) {
	got := make(chan string, 1)
	g := startFor(t, idl(t)["orders.thrift"], reply(func(_ context.Context, _ string, args []byte) ([]byte, error) {
		got <- string(args)
		return []byte("\x0c\x00\x01\x00\x00"), nil
	}), time.Minute)
	const (
		unknown = "\x0a\x00\x63\x00\x00\x00\x00\x00\x00\x00\x2a"
		line    = "\x0b\x00\x01\x00\x00\x00\x01x" + unknown + "\x00"
		lines   = "\x0f\x00\x02\x0c\x00\x00\x00\x01"
	)
	customer, request, agent := thriftText(1, "Ada"), thriftText(1, "r-1"), thriftText(2, "test")
	for _, c := range []struct{ body, want string }{
		{unknown + lines + line + customer, unknown + lines + line + customer + thriftStruct(5, request, agent)},
		{thriftStruct(5, unknown) + lines + line + customer, thriftStruct(5, unknown, request, agent) + lines + line + customer},
	} {
		g.want("POST", "/v1/orders", thriftType+"\nX-Request-Id: r-1\nUser-Agent: test", c.body+"\x00", 422, `{"error":"Refused","exception":{}}`)
		if have, want := <-got, "\x0c\x00\x01"+c.want+"\x00\x00"; have != want {
			t.Errorf("the server got\n%q, want\n%q", have, want)
		}
	}
	g.want("POST", "/v1/orders", thriftType, customer+lines, 400, `{"error":"Bad Request","message":"unexpected EOF","path":"Order.lines","offset":18}`)
	large := customer + "\x0b\x00\x63\x00\x08\x00\x00" + strings.Repeat("x", 1<<19) + lines + line
	g.want("POST", "/v1/orders", thriftType+"\nUser-Agent: test", large+"\x00", 422, `{"error":"Refused","exception":{}}`)
	if have := <-got; !strings.HasPrefix(have, "\x0c\x00\x01"+large+"\x0c\x00\x05") {
		t.Errorf("the server got %d bytes of another message than the %d that were sent", len(have), len(large))
	}
}

// TestMalformedHarmsNobody: bodies of Thrift that the server would not accept, and close the
// connection for, don't get there, and cost no other request its answer.
func TestMalformedHarmsNobody(t *testing.T) {
	g := startAll(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			header, body := "", `{"customer": "Ada"}`
			if i%2 == 0 {
				header, body = thriftType, thriftText(1, "Ada")+"\x00"
			}
			g.want("POST", "/v1/orders", header, body, 422, `{"error":"Refused","exception":{"why":"an order without lines"}}`)
		}
	}()
	const aLine = "\x0f\x00\x02\x0c\x00\x00\x00\x01"
	deep := strings.Repeat("\x0c\x00\x63", 70) + strings.Repeat("\x00", 70)
	for i, running := 0, true; running; i++ {
		select {
		case <-done:
			running = false
		default:
			body := thriftText(1, "A") + []string{aLine + "\x00", aLine, "\x0b\x00\x63\xff\xff\xff\xff", deep, thriftText(4, "x")}[i%5] + "\x00"
			if status, _, text, _ := g.send("POST", "/v1/orders", thriftType, body); status != 400 {
				t.Errorf("%d %s for %q", status, text, body)
			}
		}
	}
}
