package migrate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

const idl = `namespace go shop
enum Colour { RED = 1, BLUE = 2 }
struct Item { 1: string name, 2: i64 price }
struct Meta { 1: string region }
struct Order {
  1: i64 id, 2: string customer, 3: list<Item> items, 4: list<i64> nums, 5: map<string, string> extra
  12: optional list<Item> spare
  6: Meta meta, 7: optional string note, 8: Colour colour, 9: optional i32 count, 10: binary data, 11: list<string> words
}
`

// old is the code that Apache's compiler generates of idl, as far as programs see it.
const old = `package shop

type Colour int64

const (
	Colour_RED  Colour = 1
	Colour_BLUE Colour = 2
)

type Item struct {
	Name  string
	Price int64
}

type Meta struct{ Region string }

type Order struct {
	Id       int64
	Customer string
	Items    []*Item
	Nums     []int64
	Extra    map[string]string
	Meta     *Meta
	Note     *string
	Colour   Colour
	Count    *int32
	Data     []byte
	Words    []string
	Spare    []*Item
}

func NewOrder() *Order           { return &Order{} }
func NewMeta() *Meta             { return &Meta{} }
func (p *Order) GetId() int64    { return p.Id }
func (p *Order) IsSetMeta() bool { return p.Meta != nil }
func (p *Order) IsSetSpare() bool { return p.Spare != nil }
func (p *Order) Read(n int) error { return nil }
`

const program = `package main

import (
	"errors"
	"fmt"

	"example.com/shop/old/shop"
)

func ptr[T any](v T) *T { return &v }

func shadowed() string {
	i2 := "tray"
	o := &shop.Order{Items: []*shop.Item{{Name: i2}}}
	return o.Items[0].Name
}

func build(name string) *shop.Order {
	o := &shop.Order{
		Id: 7, Customer: name, // who buys
		Items:  []*shop.Item{{Name: "kettle", Price: 2}, &shop.Item{Name: "pot"}},
		Nums:   []int64{1, 2, 3},
		Extra:  map[string]string{"ship": "now"},
		Meta:   &shop.Meta{Region: "eu"},
		Note:   ptr("a note"),
		Colour: shop.Colour_BLUE,
	}
	o.Count = ptr(int32(4))
	o.Data = []byte("bytes")
	o.Words = append(o.Words, "a", "b")
	o.Items = append(o.Items, &shop.Item{Name: "pan", Price: 3})
	o.Id++
	o.Id += 2
	*o.Count = 5
	if o.Meta == nil {
		o.Meta = shop.NewMeta()
	}
	o.Meta.Region = o.Meta.Region + "1"
	o.Nums[0] = 9
	if _, ok := o.Extra["none"]; ok {
		panic("a key from nowhere")
	}
	return o
}

func pick(names ...string) (items []*shop.Item) {
	for _, name := range names {
		items = append(items, &shop.Item{Name: name})
	}
	return items
}

func lists() {
	o1 := &shop.Order{Items: pick("cup", "tea"), Spare: pick()}
	empty := *ptr(len(o1.Items)) - 2
	o1.Items = append(o1.Items, &shop.Item{Name: o1.Items[1].Name})
	fmt.Println(len(o1.Items)+empty, o1.Items[2].Name, o1.IsSetSpare())
	o1.Spare = pick("spoon")
	fmt.Println(o1.IsSetSpare(), o1.Spare[0].Name, shadowed())
}

func find(o *shop.Order, name string) (*shop.Item, error) {
	if o == nil {
		return nil, errors.New("no order")
	}
	for _, item := range o.Items {
		if item.Name == name {
			return item, nil
		}
	}
	return nil, fmt.Errorf("%s is not one of %d", name, len(o.Items))
}

func main() {
	lists()
	o := build("Ada")
	item, err := find(o, "pan")
	if err != nil {
		panic(err)
	}
	sum := int64(0)
	for i := range o.Nums {
		sum += o.Nums[i]
	}
	fmt.Println(o.GetId(), o.Customer, item.Price, sum, *o.Note, *o.Count, o.Colour == shop.Colour_BLUE,
		string(o.Data), o.Words, o.Meta.Region, o.IsSetMeta(), len(o.Items), o.Items[0].Name)
	if _, err := find(nil, "x"); err == nil {
		panic("no error")
	}
}
`

// workspace makes the working directory a module of these files, in a workspace with the library,
// whose compiled packages all tests then share. The new package is generated of the IDL.
func workspace(t *testing.T, idl string, files map[string]string) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "")
	files["go.work"] = "go 1.26.0\n\nuse (\n\t.\n\t" + root + "\n)\n\nreplace github.com/nocopythrift/nocopythrift v1.0.0-rc.1 => " + root + "\n"
	files["idl.thrift"] = idl
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("new", 0o777); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := nocopyc.Nocopy.Generate([]string{"-o", "new", "idl.thrift"}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
}

const require = "require github.com/nocopythrift/nocopythrift v1.0.0-rc.1\n"

// module makes a module with the old package, the new one, and a program.
func module(t *testing.T, program string) {
	t.Helper()
	workspace(t, idl, map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26\n\n" + require, "old/shop/shop.go": old, "main.go": program,
		"main_test.go": "package main\n", "other.go": "package main\n\nconst ( unformatted=1 )\n",
	})
}

func migrate(c Command) (string, string, int) {
	var out, errs bytes.Buffer
	c.Dir = "."
	if c.Replace == nil {
		c.Replace = []string{"example.com/shop/old/shop=example.com/shop/new/shop"}
	}
	err := c.Run(&shell.Shell{Out: &out, Err: &errs})
	if err != nil && err.Error() != shell.ErrSilent.Error() {
		fmt.Fprintln(&errs, err)
	}
	return out.String(), errs.String(), shell.CodeOf(err)
}

func goRun(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "run", ".").CombinedOutput()
	if err != nil {
		text, _ := os.ReadFile("main.go")
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	return string(out)
}

// TestProgram: a program compiles and prints the same after it was rewritten, without anything
// left to do.
func TestProgram(t *testing.T) {
	module(t, program)
	before := goRun(t)
	if strings.Contains(before, "\n\n") || !strings.HasPrefix(before, "3 tea false\ntrue spoon tray\n") {
		t.Fatal(before)
	}
	diff, errs, code := migrate(Command{Packages: []string{"."}})
	if code != 0 || errs != "" || !strings.Contains(diff, "+\t\"example.com/shop/new/shop\"") {
		t.Fatalf("exit code %d\n%s\n%s", code, errs, diff)
	}
	if !strings.Contains(diff, "+\t// who buys") {
		t.Errorf("a comment is lost\n%s", diff)
	}
	if text, _ := os.ReadFile("main.go"); string(text) != program {
		t.Error("without -w the file was changed")
	}
	if out, errs, code := migrate(Command{Packages: []string{"."}, Write: true}); code != 0 || out != "main.go\n" {
		t.Fatalf("exit code %d %s\n%s", code, out, errs)
	}
	if after := goRun(t); after != before {
		t.Errorf("before %s after %s", before, after)
	}
}

// TestStore: of a key-value store for Apache's library, the package with the exceptions is
// rewritten and compiles. The handler and the client do not, and both TODOs and errors say so.
// Once these are written anew, the program prints the same.
func TestStore(t *testing.T) {
	files := map[string]string{}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const dir = "testdata/kvstore/"
	for _, name := range []string{
		"main.go", "service.go", "store/store.go", "apache/kv/kvstore.go", "apache/kv/kvstore-consts.go", "apache/kv/GoUnusedProtection__.go",
	} {
		files[name] = read(dir + name)
	}
	after := read(dir + "service.go.after")
	files["go.mod"] = "module example.com/kvstore\n\ngo 1.26\n\nrequire github.com/apache/thrift v0.25.0\n\n" + require
	files["go.sum"] = read("../../../../interop/go.sum")
	workspace(t, read("../../../../examples/kv/kvstore.thrift"), files)
	before := goRun(t)
	if !strings.Contains(before, "exists: lamp") || !strings.Contains(before, "missing: no lamp") {
		t.Fatal(before)
	}
	replace := []string{"example.com/kvstore/apache/kv=example.com/kvstore/new/kv"}
	out, errs, code := migrate(Command{Packages: []string{".", "./store"}, Replace: replace, Write: true})
	if code != shell.Findings || out != "service.go\nstore/store.go\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, line := range strings.Split(strings.TrimSpace(errs), "\n") {
		// The details of an error are indented.
		if !strings.Contains(line, "service.go") && !strings.HasPrefix(line, "\t") {
			t.Errorf("unexpected: %s", line)
		}
	}
	for _, want := range []string{"TODO", "the new package has no NewKeyValueClientFactory", "cannot use handler{…}"} {
		if strings.Count(errs, want) != 1 {
			t.Errorf("%s is not once in\n%s", want, errs)
		}
	}
	if err := os.WriteFile("service.go", []byte(after), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := goRun(t); got != before {
		t.Errorf("before %s after %s", before, got)
	}
	if out, errs, code := migrate(Command{Packages: []string{".", "./store"}, Replace: replace, Write: true}); code != 0 || out != "" {
		t.Errorf("a second time: exit code %d %s\n%s", code, out, errs)
	}
}

// TestLeft: code that can't be rewritten stays, with a reason, and the compiler's errors are
// printed.
func TestLeft(t *testing.T) {
	module(t, `package main

import "example.com/shop/old/shop"

func take(items []*shop.Item, p *int64) {}

func main() {
	o := shop.NewOrder()
	take(o.Items, &o.Id)
	o.Id, o.Customer = 1, "x"
	copied := *o
	_ = copied
	if err := o.Read(1); err != nil {
		panic(err)
	}
}
`)
	diff, errs, code := migrate(Command{Packages: []string{"."}})
	if code != shell.Findings {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	for _, want := range []string{
		"GetItems returns a nocopy.StructList", "a field has no address: use SetId", "assign to a variable first", "a copy is made by Clone",
		"Order has no method Read", "does not compile:",
	} {
		if n := strings.Count(errs, want); n == 0 || n > 1 && want != "does not compile:" {
			t.Errorf("%s is there %d times in\n%s", want, n, errs)
		}
	}
	if n := strings.Count(diff, "+\t// TODO(nocopy migrate): "); n < 5 {
		t.Errorf("%d TODOs\n%s", n, diff)
	}
}

// TestMistakes: mistakes in command lines are reported.
func TestMistakes(t *testing.T) {
	module(t, program)
	for want, c := range map[string]Command{
		"-replace is OLD=NEW":   {Packages: []string{"."}, Replace: []string{"x"}},
		"there is no package":   {Packages: []string{"."}, Replace: []string{"example.com/shop/old/shop=example.com/none"}},
		"example.com/shop/none": {Packages: []string{"./none"}},
	} {
		if out, errs, code := migrate(c); code == 0 || code == shell.Findings || !strings.Contains(errs, want) && want != "example.com/shop/none" {
			t.Errorf("%s: exit code %d %s %s", want, code, out, errs)
		}
	}
}
