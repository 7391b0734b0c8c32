package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// completionProject writes a project whose target is a server that tells its IDL, and another one
// whose IDL the project has.
func completionProject(t *testing.T) string {
	t.Helper()
	addr, _ := start(t, "mock", "-idl", write(t, "shop.thrift", shopIDL), "-listen", "127.0.0.1:0")
	return newProject(t, map[string]string{"idl/shop.thrift": shopIDL, "nocopy.yaml": "targets:\n  files: {address: \"files.invalid:1\", idl: idl, headers: {x: \"${NOCOPY_UNSET}\"}}\n  server: {address: \"" + addr + "\"}\n"})
}

// TestComplete: each kind of word is completed.
func TestComplete(t *testing.T) {
	completionProject(t)
	want(t, 0, "", "", "bundle", "idl/shop.thrift", "-service", "bills:Shop", "-o", "idl.bundle")
	if err := os.WriteFile("nocopy.yaml", []byte(readFile(t, "nocopy.yaml")+"  bundled: {address: \"files.invalid:1\", idl: idl.bundle}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"", "call describe mock record replay bench compare console lint lsp bundle doc openapi migrate gen check audit fmt dump config completion help version"},
		{"-", "-help -version"},
		{"ca", "call"},
		{"help des", "describe"},
		{"help call ", ""},
		{"nonsense ", ""},
		{"call s", "server"},
		{"call ", "bundled files server"},
		{"replay x.jsonl ", "bundled files server"},
		{"call files j", "join"},
		{"call files ", "ping get add echo join tell"},
		{"call files Shop.a", "Shop.add"},
		{"call files Shop:a", "Shop:add"},
		{"call server Base.", "Base.ping"},
		{"call server add ", "a= b="},
		{"call server add a=1 ", "b="},
		{"call server -timeout 1s add a=1 ", "b="},
		{"call server echo order.", "order.id= order.email= order.lines.0. order.payment= order.blob= order.stock. order.tags= order.code= order.status= order.few= order.three= order.next."},
		{"call server echo order.lines.0.", "order.lines.0.article= order.lines.0.count= order.lines.0.price="},
		{"call server echo order.next.next.pay", "order.next.next.payment="},
		{"call server echo order.payment=", "order.payment=CARD order.payment=CASH"},
		{"call server echo order.payment=CAS", "order.payment=CASH"},
		{"call server join on=", "on=true on=false"},
		{"call server join nonsense.", ""},
		{"call server none ", ""},
		{"call nonsense ", ""},
		{"call server add -tim", "-timeout"},
		{"call server add -transport ", "auto framed unframed theader http"},
		{"call server add -transport=th", "-transport=theader"},
		{"call -idl ", ":files"},
		{"call -idl idl/shop.thrift 127.0.0.1:1 te", "tell"},
		{"bench server Shop.get -rate 5 ", "id="},
		{"compare old.json ", ":files"},
		{"record server -methods Shop.a", "Shop.add"},
		{"record server -bandw", "-bandwidth"},
		{"replay x.jsonl files -only j", "join"},
		{"dump -idl idl/shop.thrift -only Shop.a", "Shop.add"},
		{"call bundled bills:ad", "bills:add"},
		{"call bundled bil", "bills:get bills:add bills:echo bills:join bills:tell bills:ping"},
		{"describe files Pay", "Payment"},
		{"describe server Shop.a", "Shop.add"},
		{"completion ", "bash zsh fish"},
		{"gen -fi", "-fields"},
		{"gen -o ", ":files"},
		{"gen ", ":files"},
		{"lint ", ":files"},
		{"lint -form", "-format"},
		{"audit -warnings ", "on off error"},
		{"fmt -c", "-check"},
		{"dump -ma", "-max"},
		{"config -", "-allow -format"},
		{"config call server add ", "a= b="},
		{"config -allow ", "bundled files server"},
	} {
		words := strings.Split(c.line, " ")
		for _, args := range [][]string{words, {"-line", "nocopy " + c.line, " \t"}} {
			out, errs, code := nocopy(t, "", append([]string{"complete"}, args...)...)
			var have []string
			for line := range strings.Lines(out) {
				word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
				have = append(have, word)
			}
			if code != 0 || errs != "" || !slices.Equal(have, strings.Fields(c.want)) {
				t.Errorf("nocopy complete %q: %d %v%s, want %s", args, code, have, errs, c.want)
			}
		}
	}
	// Bash replaces what follows the last of its characters.
	for line, want := range map[string]string{
		"nocopy call server Shop:ad": "add", "nocopy call server echo order.payment=CAS": "CASH", "nocopy call server add -transport=th": "theader", "echo x; nocopy call ser": "server",
		`nocopy call server add -d '{"`: "", `nocopy call "server" ad`: "add", `nocopy call serv\er ad`: "add",
	} {
		out, _, _ := nocopy(t, "", "complete", "-line", line, "\"'@><=;|&(:")
		if word, _, _ := strings.Cut(out, "\t"); word != want {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
	// What a server tells can't write to the terminal what it likes.
	if out, _, _ := nocopy(t, "", "complete", "call", "server", ""); strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("%q", out)
	}
	for _, sh := range []string{"bash", "zsh", "fish"} {
		if out, errs, code := nocopy(t, "", "completion", sh); code != 0 || !strings.Contains(out, "nocopy complete") {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "completion", "tcsh"); code != 2 || !strings.Contains(errs, `must be one of "bash","zsh","fish"`) {
		t.Errorf("%d %s", code, errs)
	}
}

// A typist types in a shell on a terminal.
type typist struct {
	t      *testing.T
	tty    *os.File
	screen *lockedBuffer
}

// typeInto starts a shell in a project.
func typeInto(t *testing.T, name string, args ...string) *typist {
	t.Helper()
	s := newShell(t) // with the user's HOME: the cache of go build is there
	completionProject(t)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED, completion was not tested in %s, which is not installed", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(s.env, "PS1=READY> ", "TERM=xterm", "HOME="+t.TempDir(), "ZDOTDIR=/nonexistent", "INPUTRC=/dev/null")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	ty := &typist{t, tty, new(lockedBuffer)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(ty.screen, tty)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		tty.Close()
		<-read
	})
	ty.wait("READY> ")
	return ty
}

// wait waits until the terminal shows a text after what it had.
func (ty *typist) wait(want string) {
	ty.t.Helper()
	control := regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\a|\r`)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(control.ReplaceAllString(ty.screen.String(), ""), want) {
			return
		}
	}
	ty.t.Fatalf("the terminal has no %q: %q", want, ty.screen.String())
}

// types types a text and waits for what the terminal shows then, from an empty screen.
func (ty *typist) types(text, want string) {
	ty.t.Helper()
	ty.screen.mu.Lock()
	ty.screen.b.Reset()
	ty.screen.mu.Unlock()
	if _, err := ty.tty.WriteString(text); err != nil {
		ty.t.Fatal(err)
	}
	ty.wait(want)
}

const clear = "\x15" // Ctrl-U

// shellWords are what is typed before a tab, and what the line is then.
var shellWords = [][2]string{
	{"nocopy conso", "nocopy console "},
	{"nocopy call ser", "nocopy call server "},
	{"nocopy call server joi", "nocopy call server join "},
	{"nocopy call server Shop:ad", "nocopy call server Shop:add "},
	{"nocopy call files Shop.ad", "nocopy call files Shop.add "},
	{"nocopy call server echo order.em", "nocopy call server echo order.email="},
	{"nocopy call server echo order.payment=CAS", "nocopy call server echo order.payment=CASH "},
	{"nocopy call server add -transport=the", "nocopy call server add -transport=theader "},
	{"nocopy call server add -timeo", "nocopy call server add -timeout "},
	{"nocopy check idl/sh", "nocopy check idl/shop.thrift "},
	{"nocopy gen -package-pre", "nocopy gen -package-prefix "},
}

// TestCompletionBash presses the tab key in bash.
func TestCompletionBash(t *testing.T) {
	ty := typeInto(t, "bash", "--norc", "--noprofile", "-i")
	ty.types("source <(nocopy completion bash); echo sour''ced\n", "sourced")
	for _, w := range shellWords {
		ty.types(clear+w[0]+"\tEND", w[1]+"END")
	}
	ty.types(clear+"nocopy call server a\t\t", "add")
}

// TestCompletionZsh presses the tab key in zsh.
func TestCompletionZsh(t *testing.T) {
	ty := typeInto(t, "zsh", "-f", "-i")
	ty.types("autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; source <(nocopy completion zsh); echo sour''ced\n", "sourced")
	for _, w := range shellWords {
		// Zsh takes the space away if a comma and the like follow, and draws the line anew.
		ty.types(clear+w[0]+"\t\x05END\n", strings.TrimSpace(w[1]))
	}
}

// TestCompletionFish asks fish for the completions of a line.
func TestCompletionFish(t *testing.T) {
	s := newShell(t)
	completionProject(t)
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("SKIPPED, completion was not tested in fish, which is not installed")
	}
	for _, w := range shellWords {
		cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", "nocopy completion fish | source; complete -C '"+w[0]+"'")
		cmd.Env = append(s.env, "HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		last := strings.TrimSpace(w[1][strings.LastIndexByte(strings.TrimSpace(w[1]), ' ')+1:])
		word, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
		if err != nil || word != last && !strings.HasSuffix(last, filepath.Base(word)) {
			t.Errorf("%s: %s, %v; want %s", w[0], out, err, last)
		}
	}
}
