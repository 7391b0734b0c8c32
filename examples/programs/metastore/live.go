package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// live checks the client and the proxy against a real metastore, which must be empty. The judge is
// hmsclient, from PyPI.
func (c config) live(ctx context.Context) error {
	python, err := c.python(ctx, "hmsclient==0.1.1", "thrift==0.25.0")
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

	slog.SetDefault(slog.New(slog.DiscardHandler)) // connections that fail are part of what follows
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
	if err := c.judge(ctx, python, "proxy", l.Addr().String()); err != nil || !c.spark {
		return err
	}
	return c.liveSpark(ctx, l.Addr().String(), dir)
}

// liveSpark has Spark work through the proxy, and looks where the metastore has its tables.
func (c config) liveSpark(ctx context.Context, proxy, bucket string) error {
	python, err := c.python(ctx, "pyspark==3.5.5")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, "-B", "spark.py", proxy, bucket)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("spark.py: %w", err)
	}
	var out strings.Builder
	run := c
	run.out = &out
	if err := run.run(ctx, []string{"partitions", "spark.hive"}); err != nil {
		return err
	}
	if have, want := out.String(), "day=tue\ts3://old/spark.db/hive/day=tue\nday=wed\ts3://old/wed\n"; have != want {
		return fmt.Errorf("the partitions of Spark are %q, not %q", have, want)
	}
	fmt.Fprintln(c.out, "Spark works through the proxy")
	return nil
}

// liveEdits runs the client's commands.
func (c config) liveEdits(ctx context.Context) error {
	const first = "live.visits/day=2026-11-01-0/hour=0"
	for _, v := range []struct{ command, want, err string }{
		{"databases", "default\nlive\n", ""},
		{"tables live", "untouched\nvisits\n", ""},
		{"partitions live.visits", "day=2026-11-01-0/hour=0\ts3://old/live.db/visits/day=2026-11-01-0/hour=0\n", ""},
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
		{"partitions live.visits", "\nday=added%2Fhere/hour=7\ts3://other/visits/day=added%2Fhere/hour=7\n", ""},
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
		case v.command == "partitions live.visits" && strings.Count(out.String(), "\n") < 1100:
			return fmt.Errorf("only %d partitions", strings.Count(out.String(), "\n"))
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

// python returns the interpreter of a virtual environment in the user's cache directory, in which
// it installs packages that are not there yet.
func (c config) python(ctx context.Context, packages ...string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "nocopythrift", "metastore", "python")
	interpreter := filepath.Join(dir, "bin", "python")
	name, _, _ := strings.Cut(packages[0], "==")
	if exec.CommandContext(ctx, interpreter, "-c", "import "+name).Run() == nil {
		return interpreter, nil
	}
	fmt.Fprintf(c.out, "installing %s in %s\n", name, dir)
	for _, args := range [][]string{
		{"python3", "-m", "venv", dir},
		append([]string{interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"}, packages...),
	} {
		if b, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, b)
		}
	}
	return interpreter, nil
}
