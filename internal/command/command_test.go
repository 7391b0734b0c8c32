package command

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv("COMMAND_TEST"); ok { // this program is then a command with a flag
		os.Args[0] = name
		flag.CommandLine = flag.NewFlagSet(name, flag.ExitOnError)
		flag.CommandLine.Int("n", 1, "a number")
		ParseFlags()
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
		{"-n two", 2, `some: invalid value "two" for flag -n: parse error; see some -help`, true},
		{"-wrong", 2, "some: flag provided but not defined: -wrong; see some -help", true},
		{"-n", 2, "some: flag needs an argument: -n; see some -help", true},
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
