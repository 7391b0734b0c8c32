// Command insns counts instructions: of building, parsing, reading, editing and releasing messages
// of workloads B, C1K, C20K, E, F and W, without options. Counts do not depend on where code lies
// or on other load of the machine. A change of 1 % shows.
//
//	go run -C bench ./insns         compares with insns/table.txt, within 1 %
//	go run -C bench ./insns -write  writes the table anew
//
// It runs itself under valgrind --tool=callgrind, which has to be installed. Each step is taken a
// few times to warm up, then twice as often and counted, on one thread and without a collection.
package main

import (
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/command"
)

func main() {
	write := flag.Bool("write", false, "write the table anew instead of comparing with it")
	counted := flag.Bool("counted", false, "what the command runs under valgrind: take the steps")
	command.ParseFlags()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case *counted:
		err = takeSteps()
	default:
		err = run(os.Stdout, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "insns:", err)
		os.Exit(1)
	}
}

// row is a line of the table: how many instructions a step takes.
type row struct {
	name string
	n    int64
}

//go:embed table.txt
var table string

// tableFile is where -write puts the table; the command runs in bench.
const tableFile = "insns/table.txt"

// tolerance is how much a row may differ from the table's.
const tolerance = .01

// run counts, and compares with the table or writes it.
func run(w io.Writer, write bool) error {
	rows, err := count()
	if err != nil {
		return err
	}
	if write {
		return os.WriteFile(tableFile, format(runtime.Version(), rows), 0o644)
	}
	release, was, err := read(table)
	if err != nil {
		return err
	}
	if release != runtime.Version() {
		fmt.Fprintf(w, "the table was made with %s, this is %s: other compilers make other code\n", release, runtime.Version())
	}
	return compare(w, was, rows)
}

// format returns the text of a table.
func format(release string, rows []row) []byte {
	b := fmt.Appendf(nil, "# Instructions per message, with %s (make insns; make insns-write)\n", release)
	for _, r := range rows {
		b = fmt.Appendf(b, "%-13s %9d\n", r.name, r.n)
	}
	return b
}

// read returns the rows of a table, and the release of Go that they were measured with.
func read(text string) (release string, rows []row, err error) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			_, release, _ = strings.Cut(line, " with ")
			release, _, _ = strings.Cut(release, " ")
			continue
		}
		var r row
		if _, err := fmt.Sscan(line, &r.name, &r.n); err != nil || r.n <= 0 {
			return "", nil, fmt.Errorf("%s: no row: %q", tableFile, line)
		}
		rows = append(rows, r)
	}
	return release, rows, nil
}

// compare writes both counts of each row and their ratio, and returns an error if one has changed.
func compare(w io.Writer, was, now []row) error {
	changed := 0
	old := map[string]int64{}
	for _, r := range was {
		old[r.name] = r.n
	}
	fmt.Fprintf(w, "%-13s %9s %9s %6s\n", "", "was", "now", "ratio")
	for _, r := range now {
		n := old[r.name]
		delete(old, r.name)
		ratio, mark := float64(r.n)/float64(max(n, 1)), ""
		if n == 0 || ratio > 1+tolerance || ratio < 1-tolerance {
			changed++
			mark = "  <"
		}
		fmt.Fprintf(w, "%-13s %9d %9d %6.3f%s\n", r.name, n, r.n, ratio, mark)
	}
	for _, r := range was {
		if _, ok := old[r.name]; ok {
			changed++
			fmt.Fprintf(w, "%-13s %9d %9s\n", r.name, r.n, "gone")
		}
	}
	if changed > 0 {
		return fmt.Errorf("%d rows are not within %g %% of the table", changed, 100*tolerance)
	}
	return nil
}

// count takes the steps under valgrind and returns the table of them.
func count() ([]row, error) {
	if !canAsk {
		return nil, fmt.Errorf("%s has no way to tell valgrind what to count", runtime.GOARCH)
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, errors.New("valgrind is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "insns")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c := exec.Command(valgrind, "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
		"--callgrind-out-file="+filepath.Join(dir, "out"), self, "-counted")
	// Preemption would be counted, and so would collections, which come at other times each time
	c.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", "GOGC=off")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	var rows []row
	for i := 1; ; i++ {
		r, err := dumped(filepath.Join(dir, "out."+strconv.Itoa(i)))
		switch {
		case errors.Is(err, os.ErrNotExist) && i > 1, err == nil && r.name == "":
			return rows, nil
		case err != nil:
			return nil, err
		}
		rows = append(rows, r)
	}
}

// dumped returns the name and the count in a file of callgrind's. A row's name says how many steps
// the count is of.
func dumped(file string) (row, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return row{}, err
	}
	var r row
	steps, total := int64(0), int64(-1)
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "desc":
			if _, request, ok := strings.Cut(value, "Trigger: Client Request: "); ok {
				name, n, _ := strings.Cut(request, " ")
				if steps, err = strconv.ParseInt(n, 10, 64); err != nil {
					return row{}, err
				}
				r.name = name
			}
		case "totals":
			if total, err = strconv.ParseInt(value, 10, 64); err != nil {
				return row{}, err
			}
		}
	}
	if r.name != "" {
		if total < 0 || steps == 0 {
			return row{}, fmt.Errorf("no count in %s", file)
		}
		r.n = (total + steps/2) / cmp.Or(steps, 1)
	}
	return r, nil
}
