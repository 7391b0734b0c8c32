package documents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fromSource are the messages of docs/troubleshooting.md that no test here provokes, since only a
// data race gives the first, and only the garbage collector the second. Their words are looked for
// in the code instead.
var fromSource = map[string]string{
	"nocopy: message never released, made at":             "nocopy/internal/engine/debug.go",
	"nocopy: … was changed by several goroutines at once": "nocopy/internal/engine/message.go",
}

// TestTroubleshooting provokes the messages of docs/troubleshooting.md. Those of the tool are in
// TestTroubleshooting of cmd/nocopy, those of Kitex and Hive in that of these modules.
func TestTroubleshooting(t *testing.T) {
	page, err := os.ReadFile("docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newScratch(t)
	provoked := strings.Split(provokedByGenerator(t, s), "\x00")
	debug := "debug"
	if runtime.GOOS == "linux" {
		debug = "fault"
	}
	for _, flags := range [][]string{{"./provoke"}, {"-tags=nocopydebug", "./provoke", debug}} {
		out, err := s.run("go", append([]string{"run", quick, "-ldflags=-s -w"}, flags...)...)
		if (err != nil) != (flags[len(flags)-1] == "fault") {
			t.Fatalf("%v: %v\n%s", flags, err, out)
		}
		provoked = append(provoked, strings.Split(out, "\x00")...)
	}

	total := 0
	for section := range strings.SplitSeq(string(page), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]*\\|[^|]*\\|$").FindAllStringSubmatch(section, -1) {
			total++
			if title == "The tool" || title == "Kitex" || title == "Hive and Spark" {
				continue
			}
			if m[1] == "unexpected fault address …" && debug != "fault" {
				continue
			}
			texts := provoked
			if file := fromSource[m[1]]; file != "" {
				source, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				texts = []string{strings.NewReplacer(`"nocopy: " + name + "`, "nocopy: name").Replace(string(source))}
			}
			pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(m[1], " … ", "…")), "…", ".*?"))
			if !slices.ContainsFunc(texts, pattern.MatchString) {
				t.Errorf("%s: nothing gives %q", title, m[1])
			}
		}
	}
	if total < 60 {
		t.Errorf("only %d messages", total)
	}
	if t.Failed() {
		t.Logf("provoked:\n%s", strings.Join(provoked, "\n"))
	}
}

// provokedByGenerator writes the program that provokes errors into s, and returns what the
// generator and the compiler say about mistakes, separated by zero bytes.
func provokedByGenerator(t *testing.T, s scratch) string {
	t.Helper()
	page, err := os.ReadFile("docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range named.FindAllStringSubmatch(string(page), -1) {
		if block[1] == "order.thrift" {
			s.write(block[1], block[2])
		}
	}
	program, err := os.ReadFile("docs/testdata/provoke/main.go")
	if err != nil {
		t.Fatal(err)
	}
	s.file("provoke/main.go", string(program))

	var said []string
	say := func(name string, args ...string) {
		out, _ := s.run(name, args...)
		said = append(said, out)
	}
	s.file("bad/missing.thrift", "include \"nowhere.thrift\"\n")
	s.file("bad/a.thrift", "include \"b.thrift\"\nstruct A { 1: b.B b }\n")
	s.file("bad/b.thrift", "include \"a.thrift\"\nstruct B { 1: a.A a }\n")
	s.file("bad/type.thrift", "struct A { 1: Amount b }\n")
	s.file("bad/names.thrift", "struct User {}\nstruct user {}\nunion U { 1: i32 a }\nstruct V { 1: U u }\n")
	for _, file := range []string{"missing", "a", "type", "names"} {
		say(s.nocopyc, "-fields", "-o", "bad", "bad/"+file+".thrift")
	}
	say(s.nocopyc, "order.thrift")

	outside := scratch{t, t.TempDir(), s.nocopyc} // a folder without go.mod
	outside.file("money.thrift", "struct Amount {}\n")
	outside.file("order.thrift", "include \"money.thrift\"\nstruct Order { 1: money.Amount a }\n")
	out, _ := outside.run(s.nocopyc, "-o", ".", "order.thrift")
	said = append(said, out)

	code, err := os.ReadFile(filepath.Join(s.dir, "order", "order.go"))
	if err != nil {
		t.Fatal(err)
	}
	needed := regexp.MustCompile(`(?m)^const _ = impl\.\w+`)
	s.file("newer/order.go", needed.ReplaceAllString(string(code), "const _ = impl.NotYetInThisVersion"))
	s.file("older/order.go", needed.ReplaceAllString(string(code), "const _ = impl.GeneratedV2"))
	s.file("user/user.go", `package user

import "example.com/shop/order"

var (
	_ = order.NewOrderOf
	_ order.ShopHandler = struct{}{}
)
`)
	for _, dir := range []string{"newer", "older", "user"} {
		say("go", "build", quick, "./"+dir)
		if err := os.RemoveAll(filepath.Join(s.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(said, "\x00")
}
