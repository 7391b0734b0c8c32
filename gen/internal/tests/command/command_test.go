package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv("COMMAND_TEST"); ok { // this program is then a command with a flag
		os.Args[0] = name
		flag.CommandLine = flag.NewFlagSet(name, flag.ExitOnError)
		flag.CommandLine.Int("n", 1, "a number")
		command.ParseFlags()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestParseFlags: a wrong flag gives one line and exit code 2, -help gives the usage and exit code
// 0.
func TestParseFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string // the beginning
		one  bool
	}{
		{"-n 2", 0, "", false},
		{"-n two", 2, `some: invalid value "two" for flag -n: parse error; see some -h`, true},
		{"-wrong", 2, "some: unknown flag -wrong; see some -h", true},
		{"-n", 2, "some: -n needs a value; see some -h", true},
		{"-help", 0, "Usage of ", false},
		{"-h", 0, "Usage of ", false},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), "COMMAND_TEST=/bin/some")
		out, err := cmd.CombinedOutput()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code || !strings.HasPrefix(string(out), c.want) || c.one && strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: code %d, %q", c.args, code, out)
		}
		if strings.HasPrefix(c.want, "Usage") && !strings.Contains(string(out), "a number") {
			t.Errorf("%s: %q", c.args, out)
		}
	}
}

// TestPrintable: what terminals take for commands is escaped, and JSON keeps its meaning.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain\t<ノード>\n\ufffd": "plain\t<ノード>\n\ufffd", "\x1b[31m\a\r\x00": `\x1b[31m\a\r\x00`, "a\u009bb\x7f\u202e\u2066": `a\u009bb\u007f\u202e\u2066`,
		"\u061b\u061c\u200d\u200e\u200f\u2010\u2029\u202a\u202f\u2065\u2069\u206a": "\u061b\\u061c\u200d\\u200e\\u200f\u2010\u2029\\u202a\u202f\u2065\\u2069\u206a",
		"\x9b2J\xff": `\x9b2J\xff`, "é\x1b": `é\x1b`,
	} {
		var b bytes.Buffer
		n, err := command.Printing(&b).Write([]byte(text))
		if have := command.Printable(text); have != want || b.String() != want || n != len(text) || err != nil {
			t.Errorf("%q is %q and %q, want %q (%d, %v)", text, have, b.String(), want, n, err)
		}
	}
	const said = "\u202e\x7f\u0085 \x1b"
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal([]byte(command.Printable(string(text))), &back); err != nil || back != said {
		t.Errorf("%q, %v", back, err)
	}
}
