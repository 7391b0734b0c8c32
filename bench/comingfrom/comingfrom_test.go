package comingfrom

import (
	"bytes"
	"context"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	apache "github.com/nocopythrift/nocopythrift/bench/generated/apache/peer"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
)

var update = flag.Bool("update", false, "write the functions' bodies into docs/coming-from.md")

// decoded returns what Apache's library reads.
func decoded(t *testing.T, wire []byte) *apache.Business {
	t.Helper()
	b := apache.NewBusiness()
	if err := thrift.NewTDeserializer().Read(context.Background(), b, wire); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBuild: all of them build the same message.
func TestBuild(t *testing.T) {
	wires := map[string][]byte{}
	for name, f := range map[string]func() ([]byte, error){"Apache": buildApache, "Kitex": buildKitex, "here": build} {
		wire, err := f()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wires[name] = wire
	}
	for _, name := range []string{"Kitex", "here"} {
		got, want := decoded(t, wires[name]), decoded(t, wires["Apache"])
		if got.Meta.User.Name != want.Meta.User.Name || got.Id != want.Id || !cmp.Equal(got.Items, want.Items) ||
			!cmp.Equal(got.Extra, want.Extra) || !cmp.Equal(got.Nums, want.Nums) {
			t.Errorf("%s builds %v, Apache %v", name, got, want)
		}
	}
	for name, f := range map[string]func() ([]byte, error){"Protobuf": buildProtobuf, "Cap'n Proto": buildCapnp} {
		if wire, err := f(); err != nil || len(wire) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(wire), err)
		}
	}
}

// TestRead: all of them read the same from it.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		build func() ([]byte, error)
		read  func([]byte) (string, int32, error)
	}{
		"Apache": {buildApache, readApache}, "Kitex": {buildApache, readKitex}, "here": {buildApache, read},
		"Protobuf": {buildProtobuf, readProtobuf}, "Cap'n Proto": {buildCapnp, readCapnp},
	} {
		wire, err := c.build()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if user, count, err := c.read(wire); user != "Ada" || count != 2 || err != nil {
			t.Errorf("%s: %q %d, %v", name, user, count, err)
		}
	}
}

func TestForward(t *testing.T) {
	wire, err := buildApache()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func([]byte) ([]byte, error){"Apache": forwardApache, "Kitex": forwardKitex, "here": forward} {
		out, err := f(wire)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := decoded(t, out); got.Meta.User.Name != "Grace" || got.Extra["ship"] != "now" {
			t.Errorf("%s forwards %v", name, got)
		}
	}
	pb, err := buildProtobuf()
	if err != nil {
		t.Fatal(err)
	}
	if pb, err = forwardProtobuf(pb); err != nil || !bytes.Contains(pb, []byte("Grace")) {
		t.Errorf("Protobuf forwards %q, %v", pb, err)
	}
}

func TestPresence(t *testing.T) {
	b := peer.NewBusiness()
	if presenceApache(apache.NewBusiness()) || presenceKitex(kitex.NewBusiness()) || presence(b) {
		t.Error("an owner from nowhere")
	}
	b.NewOwner()
	if !presence(b) {
		t.Error("no owner")
	}
}

// TestJSON: written text is read again, and we also read the text that the others write.
func TestJSON(t *testing.T) {
	a := &apache.Business{Id: 7, Title: "kettle", Nums: []int64{1, 2}}
	text, err := jsonApache(a)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fromJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := fromJSONKitex(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := fromJSONApache(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, title := range map[string]string{"here": b.GetTitle(), "Kitex": k.Title, "Apache": again.Title} {
		if title != "kettle" {
			t.Errorf("%s reads %q", name, title)
		}
	}
	if text, err = jsonHere(b); err != nil || !bytes.Contains(text, []byte(`"Id":"7"`)) {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := jsonKitex(k); err != nil {
		t.Error(err)
	}
	text, err = jsonProtobuf(&pb.Business{Title: "kettle"})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := fromJSONProtobuf(text); err != nil || p.GetTitle() != "kettle" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	b := peer.NewBusiness()
	b.SetTitle("kettle")
	logHere(b)
	if !strings.Contains(out.String(), "business.Title=kettle") {
		t.Error(out.String())
	}
	logApache(apache.NewBusiness())
	logProtobuf(new(pb.Business))
}

// TestEqual: messages that were built alike are equal, and those that differ are not.
func TestEqual(t *testing.T) {
	a, b := peer.NewBusiness(), peer.NewBusiness()
	a.SetTitle("kettle")
	b.SetTitle("kettle")
	check(t, a, b)
	checkApache(t, apache.NewBusiness(), apache.NewBusiness())
	checkProtobuf(t, new(pb.Business), new(pb.Business))
	if !equal(a, b) || !equalApache(apache.NewBusiness(), apache.NewBusiness()) ||
		!equalKitex(kitex.NewBusiness(), kitex.NewBusiness()) || !equalProtobuf(new(pb.Business), new(pb.Business)) {
		t.Error("not equal")
	}
	b.SetStatus(3)
	if equal(a, b) || !equal(b, clone(b)) {
		t.Error("equal")
	}
	if p := cloneProtobuf(&pb.Business{Title: "kettle"}); p.Title != "kettle" {
		t.Error(p)
	}
}

func TestMerge(t *testing.T) {
	a, b := peer.NewBusiness(), peer.NewBusiness()
	b.NewOwner().SetName("Ada")
	if merge(a, b); a.GetOwner().GetName() != "Ada" {
		t.Error(a)
	}
	p := new(pb.Business)
	if mergeProtobuf(p, &pb.Business{Owner: &pb.User{Name: "Ada"}}); p.GetOwner().GetName() != "Ada" {
		t.Error(p)
	}
	if got := rangeHere(a); !slices.Contains(got, "Id=0") || len(rangeProtobuf(p)) != 1 {
		t.Error(got)
	}
}

// marked is a code block of the document with the name of the function whose body it is.
var marked = regexp.MustCompile("(?s)(<!-- (\\S+) -->\n```go\n)(.*?)(```\n)")

// TestDocument: each block of docs/coming-from.md is the body of the function that it names.
func TestDocument(t *testing.T) {
	bodies := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "../rpc/comingfrom/calls.go") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !strings.HasSuffix(name, "_test.go") {
				name := f.Name.Name
				if f.Recv != nil {
					name = f.Recv.List[0].Type.(*ast.Ident).Name + "." + name
				}
				body := string(src[fset.Position(f.Body.Lbrace).Offset+1 : fset.Position(f.Body.Rbrace).Offset])
				bodies[name] = strings.TrimSpace(strings.ReplaceAll(body, "\n\t", "\n")) + "\n"
			}
		}
	}
	const path = "../../docs/coming-from.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	want := marked.ReplaceAllFunc(doc, func(block []byte) []byte {
		m := marked.FindSubmatch(block)
		name := string(m[2])
		if seen[name] = true; bodies[name] == "" {
			t.Errorf("%s: there is no function %s", path, name)
		}
		return []byte(string(m[1]) + bodies[name] + string(m[4]))
	})
	for name := range bodies {
		if !seen[name] {
			t.Errorf("%s does not show %s", path, name)
		}
	}
	if n := bytes.Count(doc, []byte("```go\n")); n != len(seen) {
		t.Errorf("%s has %d blocks of Go, %d with a function's name", path, n, len(seen))
	}
	switch {
	case bytes.Equal(doc, want):
	case *update:
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s (go test -update writes it):\n%s", path, cmp.Diff(string(doc), string(want)))
	}
}
