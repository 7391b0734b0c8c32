// Command metastore lists and edits tables and partitions of a Hive Metastore, and is a proxy that
// shows all clients of a metastore its locations in another bucket. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const usage = `usage: metastore [flags] COMMAND
  databases
  tables DATABASE
  partitions DATABASE.TABLE
  show PLACE                   all that is known of a table or partition
  set PLACE KEY=VALUE...       its parameters; KEY= alone removes one
  location PLACE URI           where it is stored
  add PLACE [URI]              a partition, in its table's folder if no URI is given
  drop PLACE                   a partition; files stay
  proxy ADDRESS FROM TO        listens there, and shows locations in FROM as in TO
A PLACE is DATABASE.TABLE, or a partition such as logs.visits/day=2026-11-23/hour=7.
`

// config holds the values of the flags.
type config struct {
	metastore  string
	framed     bool
	timeout    time.Duration
	maxMessage int
	maxConns   int
	idle       time.Duration
	spark      bool
	out        io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := config{out: os.Stdout}
	flag.StringVar(&c.metastore, "metastore", "127.0.0.1:9083", "the metastore's `address`, or several as in hive.metastore.uris")
	flag.BoolVar(&c.framed, "framed", false, "the metastore wants frames")
	flag.DurationVar(&c.timeout, "timeout", time.Minute, "how long a command may take; not for proxy")
	flag.IntVar(&c.maxMessage, "max-message", 100<<20, "the most `bytes` of a call or reply")
	flag.IntVar(&c.maxConns, "max-conns", 200, "the most clients of a proxy at a time")
	flag.DurationVar(&c.idle, "idle", time.Hour, "how long a client of a proxy may stay without a call")
	live := flag.Bool("live", false, "check the client and the proxy against a real metastore, see README.md")
	flag.BoolVar(&c.spark, "spark", false, "with -live: have Spark work through the proxy, too")
	bench := flag.Bool("bench", false, "compare get_partitions with Apache Thrift's Go library")
	replays := flag.Bool("replay", false, "be the server that -bench starts")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	var err error
	switch {
	case *live && flag.NArg() == 0:
		err = c.live(ctx)
	case *bench && flag.NArg() == 0:
		err = c.bench()
	case *replays && flag.NArg() == 0:
		err = replay(os.Stdin, c.out)
	default:
		err = c.run(ctx, flag.Args())
	}
	if errors.Is(err, errUsage) {
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "metastore:", describe(err))
		os.Exit(1)
	}
}

// describe returns an error's text, with the name of a declared exception.
func describe(err error) string {
	var e interface {
		nocopy.AnyStruct
		GetMessage() string
	}
	var app *rpc.ApplicationException
	switch {
	case errors.As(err, &e):
		return descriptor.StructOf(e).Name() + ": " + printable(e.GetMessage())
	case errors.As(err, &app):
		return printable(err.Error())
	}
	return err.Error()
}

var errUsage = errors.New("no such command")

// options returns the settings of connections to the metastore.
func (c config) options() []rpc.Option {
	options := []rpc.Option{rpc.MaxFrame(c.maxMessage), rpc.Dialer(dialAny)}
	if !c.framed {
		options = append(options, rpc.Unframed)
	}
	return options
}

// run runs a command.
func (c config) run(ctx context.Context, args []string) error {
	if len(args) == 4 && args[0] == "proxy" {
		m, err := newMove(args[2], args[3])
		if err != nil {
			return err
		}
		return c.runProxy(ctx, args[1], m)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := rpc.Dial(ctx, "tcp", c.metastore, c.options()...)
	if err != nil {
		return err
	}
	defer conn.Close()
	return c.command(ctx, client{hms.NewMetastoreClient(conn)}, args)
}

// command runs a command other than proxy.
func (c config) command(ctx context.Context, m client, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "databases":
		return c.print(m.databases(ctx))
	case len(args) == 2 && args[0] == "tables":
		return c.print(m.tables(ctx, args[1]))
	case len(args) < 2:
		return errUsage
	}
	of, err := parsePlace(args[1])
	if err != nil {
		return err
	}
	return c.commandAt(ctx, m, of, args[0], args[2:])
}

// commandAt runs a command on a table or partition. rest are the arguments after the place.
func (c config) commandAt(ctx context.Context, m client, of place, name string, rest []string) error {
	switch {
	case name == "partitions" && of.partition == "" && len(rest) == 0:
		return c.printPartitions(ctx, m, of)
	case name == "show" && len(rest) == 0:
		return c.show(ctx, m, of)
	case name == "set" && len(rest) > 0:
		return set(ctx, m, of, rest)
	case name == "location" && len(rest) == 1:
		return m.edit(ctx, of, func(sd hms.StorageDescriptor, _ nocopy.StringMap) { sd.SetLocation(rest[0]) })
	case name == "add" && of.partition != "" && len(rest) <= 1:
		return m.addPartition(ctx, of, strings.Join(rest, ""))
	case name == "drop" && of.partition != "" && len(rest) == 0:
		return m.dropPartition(ctx, of)
	}
	return errUsage
}

// place names a table or a partition.
type place struct{ db, table, partition string }

func (p place) String() string { return strings.TrimSuffix(p.db+"."+p.table+"/"+p.partition, "/") }

// parsePlace returns the place that a text such as "logs.visits/day=2026-11-23/hour=7" names.
func parsePlace(text string) (place, error) {
	table, partition, isPartition := strings.Cut(text, "/")
	db, table, ok := strings.Cut(table, ".")
	if !ok || db == "" || table == "" || isPartition && partition == "" {
		return place{}, fmt.Errorf("%q is not DATABASE.TABLE or DATABASE.TABLE/KEY=VALUE, with any number of pairs", text)
	}
	return place{db, table, partition}, nil
}

// print prints names, one a line.
func (c config) print(names []string, err error) error {
	for _, name := range names {
		fmt.Fprintln(c.out, printable(name))
	}
	return err
}

// printPartitions prints the names and locations of a table's partitions, one a line.
func (c config) printPartitions(ctx context.Context, m client, of place) error {
	return m.table(ctx, of, func(t hms.Table) error {
		for p, err := range m.partitions(ctx, of) {
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%s\t%s\n", printable(partitionName(t, p)), printable(p.GetSd().GetLocation()))
		}
		return nil
	})
}

// show prints a table or partition.
func (c config) show(ctx context.Context, m client, of place) error {
	if of.partition == "" {
		return m.table(ctx, of, func(t hms.Table) error { return c.printStruct(t) })
	}
	return m.partition(ctx, of, func(p hms.Partition) error { return c.printStruct(p) })
}

// printStruct prints a struct, and the ids of fields that the IDL does not know.
func (c config) printStruct(s interface {
	Unknown() iter.Seq2[int16, nocopy.Value]
}) error {
	fmt.Fprintf(c.out, "%+v\n", s)
	for id := range s.Unknown() {
		fmt.Fprintf(c.out, "and a field %d\n", id)
	}
	return nil
}

// printable returns text that can't drive a terminal: as it is, or in quotation marks.
func printable(text string) string {
	if q := strconv.Quote(text); q != `"`+text+`"` {
		return q
	}
	return text
}

// set sets parameters: KEY=VALUE sets one, KEY= removes it.
func set(ctx context.Context, m client, of place, params []string) error {
	for _, p := range params {
		if key, _, ok := strings.Cut(p, "="); !ok || key == "" {
			return fmt.Errorf("%q is not KEY=VALUE", p)
		}
	}
	return m.edit(ctx, of, func(_ hms.StorageDescriptor, have nocopy.StringMap) {
		for _, p := range params {
			if key, value, _ := strings.Cut(p, "="); value == "" {
				have.Delete(key)
			} else {
				have.Put(key, value)
			}
		}
	})
}

// runProxy serves clients at addr until ctx ends.
func (c config) runProxy(ctx context.Context, addr string, m move) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv, err := proxy{move: m, metastore: c.metastore, options: c.options()}.server()
	if err != nil {
		return err
	}
	srv.MaxConns, srv.MaxFrame, srv.IdleTimeout = c.maxConns, c.maxMessage, c.idle
	fmt.Fprintf(c.out, "listening on %s\n", l.Addr())
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, rpc.ErrServerClosed) {
		return err
	}
	return nil
}
