package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/internal/apache"
)

// apacheOf reads a struct by Apache's library, the referee.
func apacheOf[S thrift.TStruct](t *testing.T, s S, wire []byte) S {
	t.Helper()
	in := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(wire)}
	if err := s.Read(context.Background(), thrift.NewTBinaryProtocolConf(in, nil)); err != nil {
		t.Fatal(err)
	}
	return s
}

// command runs a command and returns what it prints, and its error.
func command(t *testing.T, metastore string, framed bool, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := config{metastore: metastore, framed: framed, timeout: time.Minute, maxMessage: 100 << 20, out: &out}
	err := c.run(t.Context(), args)
	return out.String(), err
}

// TestCommands: the client lists the values that Apache's library reads, and edits only those that
// it was told to. Unknown fields stay.
func TestCommands(t *testing.T) {
	const n = 2500
	for _, framed := range []bool{false, true} {
		f := newFake(t, n)
		addr := serveFake(t, f)
		tableBefore := apacheOf(t, apache.NewTable(), f.tableWire())
		const name = "day=2026-01-01/hour=3"
		before := apacheOf(t, apache.NewPartition(), f.partWire(name))
		run := func(args ...string) string {
			t.Helper()
			out, err := command(t, addr, framed, args...)
			if err != nil {
				t.Errorf("%s: %v", args, describe(err))
			}
			if strings.Contains(out, "\x1b") {
				t.Errorf("%s drives a terminal", args)
			}
			return out
		}

		if out := run("databases"); out != "default\nlogs\n\"\\x1b[2J\"\n" {
			t.Errorf("databases: %q", out)
		}
		if out := run("tables", "logs"); out != "visits\n" {
			t.Errorf("tables: %q", out)
		}
		lines := strings.Split(strings.TrimSpace(run("partitions", "logs.visits")), "\n")
		var want []string
		for _, p := range apacheOf(t, apache.NewMetastoreGetPartitionsResult(), partitionsResult(n)).Success {
			want = append(want, "day="+p.Values[0]+"/hour="+p.Values[1]+"\t"+p.Sd.Location)
		}
		slices.Sort(lines)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(lines, want) {
			t.Errorf("%d partitions, not %d, or others", len(lines), len(want))
		}
		if out := run("show", "logs.visits"); !strings.Contains(out, `location: "s3://old/warehouse/logs.db/visits"`) || !strings.Contains(out, "a field 1000\n") {
			t.Errorf("show: %s", out)
		}

		run("set", "logs.visits", "owner=bob=alice", "comment=")
		run("location", "logs.visits", "s3://other/visits")
		tableBefore.Parameters = map[string]string{"owner": "bob=alice"}
		tableBefore.Sd.Location = "s3://other/visits"
		if have := apacheOf(t, apache.NewTable(), f.tableWire()); !have.Equals(tableBefore) {
			t.Errorf("the table is\n%v, not\n%v", have, tableBefore)
		}
		if wire := f.tableWire(); !bytes.Contains(wire, []byte(unknown)) {
			t.Error("unknown fields have gone")
		}

		run("set", "logs.visits/"+name, "k=ü")
		run("location", "logs.visits/"+name, "s3://other/p")
		before.Parameters["k"] = "ü"
		before.Sd.Location = "s3://other/p"
		if have := apacheOf(t, apache.NewPartition(), f.partWire(name)); !have.Equals(before) {
			t.Errorf("the partition is\n%v, not\n%v", have, before)
		}
		if wire := f.partWire(name); !bytes.Contains(wire, []byte("\x0b\x00\x09\x00\x00\x00\x04hive")) {
			t.Error("the partition's catalog has gone")
		}

		run("add", "logs.visits/day=d/hour=1")
		run("add", "logs.visits/day=d/hour=2", "s3://other/2")
		for hour, at := range map[string]string{"1": "s3://other/visits/day=d/hour=1", "2": "s3://other/2"} {
			have := apacheOf(t, apache.NewPartition(), f.partWire("day=d/hour="+hour))
			sd := *tableBefore.Sd
			sd.Location = at
			if !have.Sd.Equals(&sd) || !slices.Equal(have.Values, []string{"d", hour}) {
				t.Errorf("added: %v", have)
			}
		}
		run("drop", "logs.visits/day=d/hour=1")
		if f.partWire("day=d/hour=1") != nil {
			t.Error("a dropped partition is there")
		}
	}
}

func TestPartitionName(t *testing.T) {
	table, p := hms.NewTable(), hms.NewPartition()
	keys := table.NewPartitionKeys(2)
	keys.At(0).SetName("a")
	keys.At(1).SetName("b")
	p.SetValues([]string{"x/y:1=%", "ü ~\x1f\x7f", "too many"})
	if have, want := partitionName(table, p), "a=x%2Fy%3A1%3D%25/b=ü ~%1F%7F"; have != want {
		t.Errorf("%s, not %s", have, want)
	}
}

// TestCommandErrors: a command that can't be done reports why, and changes nothing.
func TestCommandErrors(t *testing.T) {
	f := newFake(t, 50)
	addr := serveFake(t, f)
	before := f.tableWire()
	for args, want := range map[string]string{
		"":                                        "no such command",
		"proxy 127.0.0.1:0 s3://a s3://a/":        "can't be shown",
		"proxy 127.0.0.1:0 s3://a /":              "can't be shown",
		"proxy 127.0.0.1:0 s3://a":                "no such command",
		"proxy nowhere s3://a s3://b":             "address nowhere",
		"databases logs":                          "not DATABASE.TABLE",
		"tables":                                  "no such command",
		"bases logs.visits":                       "no such command",
		"drop logs.visits":                        "no such command",
		"set logs.visits":                         "no such command",
		"show logs":                               "not DATABASE.TABLE",
		"show logs.visits/":                       "not DATABASE.TABLE",
		"show logs.none":                          "NoSuchObjectException: none not found",
		"show logs.visits/day=1/hour=1":           "NoSuchObjectException: day=1/hour=1 not found",
		"set logs.visits k":                       "not KEY=VALUE",
		"set logs.visits a=b =c":                  "not KEY=VALUE",
		"add logs.visits/hour=1/day=2":            `the partition keys of logs.visits are ["day" "hour"], not ["hour" "day"]`,
		"add logs.visits/day=2":                   "the partition keys of logs.visits",
		"add logs.visits/day=2026-01-01/hour=3":   "AlreadyExistsException",
		"drop logs.visits/day=2026-01-01/hour=33": "NoSuchObjectException",
	} {
		out, err := command(t, addr, false, strings.Fields(args)...)
		if err == nil || !strings.Contains(describe(err), want) || out != "" {
			t.Errorf("%s: %q, %v", args, out, err)
		}
	}
	if !bytes.Equal(before, f.tableWire()) || f.len() != 50 {
		t.Error("something was changed")
	}
	if _, err := command(t, "127.0.0.1:1", false, "databases"); err == nil {
		t.Error("no error without a metastore")
	}
}

// TestHostileMetastore: any wrong answer of a metastore is an error, within limits and time.
func TestHostileMetastore(t *testing.T) {
	frame := func(text string) string { return "\x00\x00\x00" + string(rune(len(text))) + text }
	header := "\x80\x01\x00\x02\x00\x00\x00\x11get_all_databases\x00\x00\x00\x01"
	for name, v := range map[string]struct{ reply, want string }{
		"garbage":         {"HTTP/1.1 400 Bad Request\r\n\r\n", "connection lost"},
		"too large":       {"\x7f\xff\xff\xff" + header, "limit"},
		"a long list":     {frame(header + "\x0f\x00\x00\x0b\x7f\xff\xff\xff\x00"), "unexpected EOF"},
		"a long string":   {frame(header + "\x0f\x00\x00\x0b\x00\x00\x00\x01\x7f\xff\xff\xff\x00"), "unexpected EOF"},
		"another type":    {frame(header + "\x0c\x00\x00\x00\x00"), "missing result"},
		"nothing":         {"", "connection lost"},
		"then it is gone": {frame(header)[:20], "connection lost"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					nc.Read(make([]byte, 1000))
					nc.Write([]byte(v.reply))
					nc.Close()
				}
			}()
			var out bytes.Buffer
			c := config{metastore: l.Addr().String(), framed: true, timeout: time.Minute, maxMessage: 1 << 20, out: &out}
			if err := c.run(t.Context(), []string{"databases"}); err == nil || !strings.Contains(err.Error(), v.want) {
				t.Errorf("%v, not one with %q", err, v.want)
			}
		})
	}
}

// TestFresh: hms/ equals the output of the generator for metastore.thrift, and the IDL is
// formatted.
func TestFresh(t *testing.T) {
	out := t.TempDir()
	for _, args := range [][]string{
		{"-o", out, "examples/programs/metastore/metastore.thrift"},
		{"fmt", "-check", "examples/programs/metastore/metastore.thrift", "examples/programs/metastore/locations.thrift"},
	} {
		cmd := exec.Command("go", append([]string{"run", "./gen/nocopyc"}, args...)...)
		cmd.Dir = "../../.."
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	want, err := os.ReadFile(filepath.Join(out, "hms/metastore.go"))
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile("hms/metastore.go"); err != nil || !bytes.Equal(have, want) {
		t.Errorf("hms/metastore.go is not fresh: run generate.sh (%v)", err)
	}
}
