// Command pilota compares reading with pilota (Rust), in a program of its own, which it builds
// with cargo: read is from bytes to the sum of all numbers and ends of strings, as everywhere in
// bench. Both programs must give the same sum, and what pilota encodes again is decoded here and
// compared with the values.
//
//	go run -C bench ./pilota
//
// It needs cargo, and at first the crates' registry. What is built is in the user's cache folder.
//
// The rows are not interleaved in one process, as those of bench are: both programs measure by
// turns, each some 50 ms of its own processor time. Other processes' work in the caches differs,
// and so do compiler and allocator (glibc's). Take the ratios as sizes.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

const (
	rounds = 15
	sample = 50 * time.Millisecond
)

// types are pilota's names for the messages that are measured.
var types = map[string]string{"B": "Small", "C1K": "Business", "C4K": "Business", "C20K": "Business", "C256K": "Business", "E": "Rows", "F": "Request"}

func main() {
	command.ParseFlags()
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pilota:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	program, err := build()
	if err != nil {
		return err
	}
	rust, err := start(program)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pilota")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Fprintf(w, "read, ns of processor time, medians of %d rounds by turns; ratios to nocopy/recycle in the same round\n", rounds)
	fmt.Fprintf(w, "%-6s %14s %14s %14s %8s %14s %8s\n", "", "nocopy/recycle", "nocopy", "pilota", "", "pilota/unsafe", "")
	for _, l := range data.All() {
		if types[l.Name] == "" {
			continue
		}
		if err := workload(w, rust, l, folder); err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	return rust.end()
}

// workload measures one message and prints its line.
func workload(w io.Writer, rust *child, l data.Workload, folder string) error {
	v := l.New()
	in := &peer.Input{Value: v, Wire: limit.Append(nil, v)}
	file, out := filepath.Join(folder, l.Name), filepath.Join(folder, "out")
	if err := os.WriteFile(file, in.Wire, 0o600); err != nil {
		return err
	}
	for _, row := range []string{"safe", "unsafe"} {
		sum, err := rust.ask(types[l.Name], file, row, "check", out)
		if err != nil {
			return err
		}
		if sum != strconv.FormatUint(data.Sum(v), 10) {
			return fmt.Errorf("pilota %s: sum %s, want %d", row, sum, data.Sum(v))
		}
		b, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		if got, err := ours.Peer().Decode(in, b); err != nil || !sameValues(got, v) {
			return fmt.Errorf("pilota %s: what it encodes differs (%v)", row, err)
		}
	}
	var rows []peer.Row
	for _, r := range ours.Peer().Rows(in, peer.Read) {
		if r.Peer == "nocopy" || r.Peer == "nocopy/recycle" {
			rows = append(rows, r)
		}
	}
	// By column: nocopy/recycle, nocopy, pilota, pilota/unsafe
	var ns, ratios [4][]float64
	for range rounds {
		r := measure.Run(rows, measure.Options{Rounds: 1, Sample: sample})
		now := [4]float64{r[1].CPU, r[0].CPU}
		for i, row := range []string{"safe", "unsafe"} {
			text, err := rust.ask(types[l.Name], file, row, "measure", strconv.FormatInt(sample.Nanoseconds(), 10))
			if err != nil {
				return err
			}
			if now[2+i], err = strconv.ParseFloat(text, 64); err != nil {
				return err
			}
		}
		for i, n := range now {
			ns[i], ratios[i] = append(ns[i], n), append(ratios[i], n/now[0])
		}
	}
	m := measure.Median
	_, err := fmt.Fprintf(w, "%-6s %14.0f %14.0f %14.0f %8.2f %14.0f %8.2f\n", l.Name, m(ns[0]), m(ns[1]), m(ns[2]), m(ratios[2]), m(ns[3]), m(ratios[3]))
	return err
}

// sameValues compares what was decoded with v. pilota writes maps in an order of its own.
func sameValues(got, v any) bool {
	for _, b := range []any{got, v} {
		if b, ok := b.(*data.Business); ok {
			data.SortPairs(b.Tags)
			data.SortPairs(b.Extra)
		}
	}
	return reflect.DeepEqual(got, data.Message(v))
}

// build compiles pilota's program and returns its path.
func build() (string, error) {
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		return "", fmt.Errorf("needs Rust's cargo: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	target := filepath.Join(cache, "nocopythrift", "pilota")
	fmt.Fprintln(os.Stderr, "pilota: compiling with cargo into", target)
	cmd := exec.Command(cargo, "build", "--quiet", "--release", "--locked", "--target-dir", target)
	cmd.Dir, cmd.Stderr = "pilota", os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cargo build in bench/pilota (go run -C bench ./pilota starts there): %w", err)
	}
	return filepath.Join(target, "release", "bench-pilota"), nil
}

// child is pilota's program while it runs.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(program string) (*child, error) {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

// ask sends a line of these words and returns the line that answers it.
func (c *child) ask(words ...string) (string, error) {
	if _, err := fmt.Fprintln(c.in, strings.Join(words, "\t")); err != nil {
		return "", err
	}
	line, err := c.out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

func (c *child) end() error {
	c.in.Close()
	return c.cmd.Wait()
}
