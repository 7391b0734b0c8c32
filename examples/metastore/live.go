package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// live checks the client and the proxy against a real metastore, from which it drops everything.
// The judge is hmsclient, from PyPI.
func (c config) live(ctx context.Context) error {
	python, err := c.python(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "metastore")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	state := filepath.Join(dir, "state")

	fmt.Fprintln(c.out, "hmsclient makes tables and partitions")
	if err := c.judge(ctx, python, "create", state); err != nil {
		return err
	}
	if err := c.liveEdits(ctx); err != nil {
		return err
	}
	if err := c.judge(ctx, python, "edited", state); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "the client's edits are there, and nothing else has changed")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv, err := proxy{move{"s3://old", "s3://new"}, c.metastore, c.options()}.server()
	if err != nil {
		return err
	}
	defer srv.Close()
	go srv.Serve(l)
	return c.judge(ctx, python, "proxy", l.Addr().String())
}

// liveEdits runs the client's commands.
func (c config) liveEdits(ctx context.Context) error {
	const first = "live.visits/day=2026-11-01-0/hour=0"
	for _, v := range []struct{ command, want, err string }{
		{"databases", "default\nlive\n", ""},
		{"tables live", "untouched\nvisits\n", ""},
		{"partitions live.visits", "2026-11-01-0/0\ts3://old/live.db/visits/day=2026-11-01-0/hour=0\n", ""},
		{"show " + first, `"note": "copied from s3://old/ in the spring"`, ""},
		{"set live.visits edited=ü comment=new umlauts=", "", ""},
		{"location live.visits s3://other/visits", "", ""},
		{"set " + first + " edited=ü", "", ""},
		{"location " + first + " s3://other/first", "", ""},
		{"drop live.visits/day=2026-11-01-0/hour=1", "", ""},
		{"drop live.visits/day=2026-11-01-0/hour=1", "", "NoSuchObjectException"},
		{"add live.visits/day=added%2Fhere/hour=7", "", ""},
		{"add live.visits/day=there/hour=7 s3://other/there", "", ""},
		{"add live.visits/day=there/hour=7 s3://other/there", "", "AlreadyExistsException"},
		{"add live.visits/hour=7/day=there", "", "partition keys"},
		{"show live.none", "", "NoSuchObjectException"},
	} {
		var out strings.Builder
		run := c
		run.out = &out
		switch err := run.run(ctx, strings.Fields(v.command)); {
		case v.err == "" && err != nil:
			return fmt.Errorf("%s: %s", v.command, describe(err))
		case v.err != "" && (err == nil || !strings.Contains(describe(err), v.err)):
			return fmt.Errorf("%s: %v, not an error with %q", v.command, err, v.err)
		case !strings.Contains(out.String(), v.want):
			return fmt.Errorf("%s: %.1000q does not have %q", v.command, out.String(), v.want)
		case v.command == "partitions live.visits" && strings.Count(out.String(), "\n") != 1100:
			return fmt.Errorf("%d partitions, not 1100", strings.Count(out.String(), "\n"))
		}
	}
	return nil
}

// judge runs judge.py.
func (c config) judge(ctx context.Context, python, what, with string) error {
	args := []string{"-B", "judge.py", what, c.metastore, with}
	if c.framed {
		args = append(args, "framed")
	}
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Stdout, cmd.Stderr = c.out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("judge.py %s: %w", what, err)
	}
	return nil
}

// python returns the interpreter of a virtual environment with hmsclient in the user's cache
// directory, which it makes if there is none.
func (c config) python(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "nocopythrift", "metastore", "python")
	interpreter := filepath.Join(dir, "bin", "python")
	if exec.CommandContext(ctx, interpreter, "-c", "import hmsclient").Run() == nil {
		return interpreter, nil
	}
	fmt.Fprintln(c.out, "installing hmsclient in", dir)
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", dir},
		{interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "hmsclient==0.1.1", "thrift==0.25.0"},
	} {
		if b, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", errors.Join(fmt.Errorf("%s: %w", strings.Join(args, " "), err), errors.New(strings.TrimSpace(string(b))))
		}
	}
	return interpreter, nil
}
