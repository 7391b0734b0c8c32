package engine

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/steps"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestHostileSteps: applying any operation to all of a message takes steps in proportion to n, the
// message's bytes, or to n·log(n), for all bad messages. 16 times the bytes may take 24 times the
// steps; for small messages 32 times, since tables begin at some size. The test runs in a program
// of its own, whose library counts its steps. Messages are of 2 and 32 KiB. Each operation has a
// fifth of the shapes, in the long form another one each time; in the short form there are fewer
// shapes. They are received in one of several ways, by turns. With NOCOPY_HOSTILE=ways they are
// received in all ways, and are of 4 and 64 KiB with all types of keys; with NOCOPY_HOSTILE=large
// they are of 64 KiB and 1 MiB, and each shape has a seventh of the operations. What takes more is
// counted again by inTheLongRun. NOCOPY_HOSTILE_ONLY selects the cases whose names contain it, all
// of them.
func TestHostileSteps(t *testing.T) {
	t.Parallel()
	switch {
	case steps.Counting:
		countHostileSteps(t)
		return
	case os.Getenv("NOCOPY_HOSTILE_INNER") != "":
		t.Fatal("the program does not count its steps")
	case testmode.Race || debugging || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64":
		return // it would be the same program
	}
	overlay, err := steps.Overlay("../../..", t.TempDir(), countedFolders(t)...)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", "^TestHostileSteps$", "-timeout", "60m", "-v", ".")
	if testmode.Long {
		c.Args = append(c.Args, "-count=1") // another seed each time
	}
	c.Env = append(os.Environ(), "NOCOPY_HOSTILE_INNER=1")
	out, err := c.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case testing.Verbose():
		t.Logf("%s", out)
	}
}

// countedFolders returns the folders of all packages of this module that the engine and render
// consist of, but of those that count steps and describe types.
func countedFolders(t *testing.T) (folders []string) {
	const module = "github.com/nocopythrift/nocopythrift/"
	out, err := exec.Command("go", "list", "-deps", ".", "../render").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if folder, ok := strings.CutPrefix(strings.TrimSpace(path), module); ok && !slices.Contains([]string{"internal/steps", "nocopy/internal/schema"}, folder) {
			folders = append(folders, folder)
		}
	}
	if !slices.Contains(folders, "nocopy/internal/parse") || !slices.Contains(folders, "nocopy/internal/keytable") {
		t.Fatal(folders)
	}
	return folders
}

type hostileParse func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error)

// hostileWays are the ways in which the messages are received.
var hostileWays = []struct {
	name  string
	parse hostileParse
}{
	{"in one piece", Parse},
	{"lazy", with(inOnePiece, Lazy, "").parse},
	{"own", with(owned, Recycle, "").parse},
	{"200 blocks", func(d *schema.Struct, wire []byte, opts ...Option) (Struct, error) {
		return cutEvery(len(wire)/200+1).parse(d, wire, opts...)
	}},
}

func countHostileSteps(t *testing.T) {
	countLandingSteps(t)
	countKeySteps(t)
	// An operation with at most cheap steps per byte is not suspicious: small messages may just
	// not have been worth a table.
	few := counter{small: 2 << 10, cheap: 80, growth: 2, most: map[string]float64{}, worst: map[string]string{}}
	many := few
	many.small, many.cheap, many.growth = 64<<10, 0, 1.5
	c, byTurns := few, true
	kind := os.Getenv("NOCOPY_HOSTILE")
	switch kind {
	case "ways":
		c.small, byTurns = 4<<10, false
	case "large":
		c = many
	}
	only := os.Getenv("NOCOPY_HOSTILE_ONLY") // what a case's name must contain
	// Each shape has a part of the operations, in the long form another one each time. The number of
	// parts has no divisor in common with the number of ways.
	turns := uint64(1)
	switch {
	case kind == "":
		turns = 5
	case kind == "large" && only == "":
		turns = 7
	}
	part := int(testmode.Seed(t) % turns)
	if kind == "" && !testmode.Long {
		kind = "few"
	}
	for i, shape := range hostileShapes(kind) {
		for turn, way := range hostileWays {
			for k, op := range hostileOperations {
				name := fmt.Sprintf("%s; %s; %s", shape.name, way.name, op.name)
				switch {
				case name == onlyLarge:
					many.count(t, name, shape, way.parse, op)
				case byTurns && (i+k)%len(hostileWays) != turn, (i+k)%int(turns) != part, !strings.Contains(name, only), !op.appliesTo(shape):
				default:
					c.count(t, name, shape, way.parse, op)
				}
			}
		}
	}
	for _, op := range hostileOperations {
		t.Log(c.worst[op.name])
	}
}

// onlyLarge is a case in which only large messages have ever taken too many steps. It is counted
// each time.
const onlyLarge = "unknown fields; 200 blocks; struct: replace one child again and again"

// counter counts the steps that operations take on messages of two sizes.
type counter struct {
	small  int     // the smaller size; the other is 16 times as large
	cheap  int     // so many steps per byte are fine
	growth float64 // 16 times the bytes may take 16*growth times the steps

	most  map[string]float64 // by operation: most steps per byte
	worst map[string]string  // by operation: the line for the case that took most
}

func (c *counter) count(t *testing.T, name string, shape hostileShape, parse hostileParse, op hostileOperation) {
	wires := [2]string{shape.wire(c.small), shape.wire(16 * c.small)}
	few, what := hostileSteps(shape.desc, wires[0], parse, op, math.MaxInt)
	if what != "" {
		t.Errorf("%s: %s of %d bytes: %d steps: %s", name, shape.desc.Name(), len(wires[0]), few, what)
		return
	}
	times := float64(len(wires[1])) / float64(len(wires[0]))
	limit := int(c.growth*times*float64(max(few, c.cheap*len(wires[0])))) + 100_000
	many, what := hostileSteps(shape.desc, wires[1], parse, op, limit)
	if what != "" {
		if many, what = inTheLongRun(shape, parse, op, c.small, c.growth); what == "" {
			t.Logf("in proportion in the long run: %s", name)
		}
	}
	if what != "" {
		t.Errorf("%s: %d bytes take %d steps, %d bytes more than %d: %s", name, len(wires[0]), few, len(wires[1]), many, what)
		return
	}
	if each := float64(many) / float64(len(wires[1])); each > c.most[op.name] {
		c.most[op.name], c.worst[op.name] = each, fmt.Sprintf("%8.1f steps a byte, %5.1f times in all: %s", each, float64(many)/float64(few), name)
	}
}

// appliesTo reports whether the operation does anything to messages of the shape that it does not
// do to others just so.
func (op hostileOperation) appliesTo(shape hostileShape) bool {
	kind, _, ok := strings.Cut(op.name, ": ")
	return !ok || strings.Contains(shape.kinds, kind)
}

// hostileSteps returns the steps that an operation takes on all of a message, and what went wrong.
func hostileSteps(d *schema.Struct, wire string, parse hostileParse, op hostileOperation, limit int) (n int, wrong string) {
	defer func() {
		n, steps.Limit = steps.N, 0
		switch x := recover().(type) {
		case nil:
		case steps.Exceeded:
			wrong = "too many"
		default:
			wrong = fmt.Sprint(x)
		}
	}()
	steps.N, steps.Limit = 0, 0
	s, err := parse(d, []byte(wire), Limits{MaxIndex: 1 << 30})
	if err != nil {
		return 0, err.Error()
	}
	h := newHostile(s, d)
	h.times = len(wire) / 64
	if op.run != nil {
		steps.N, steps.Limit = 0, limit
		op.run(h)
	}
	s.m.Len()
	steps.Limit = 0
	return 0, ""
}

// inTheLongRun counts again what seemed to take too many steps. There are two harmless reasons:
// the small message may have found memory that a larger one had left, which saves the steps of
// making its own; and work that is done once for so many changes, as compacting is, begins at some
// size. So messages of three sizes are counted, each with memory of its own, and the largest must
// take steps in proportion to the second. inTheLongRun returns the steps of the second, and what
// is wrong.
func inTheLongRun(shape hostileShape, parse hostileParse, op hostileOperation, small int, growth float64) (many int, what string) {
	few, what := hostileStepsAlone(shape, small, parse, op, math.MaxInt)
	if what != "" {
		return few, what
	}
	const begins = 8 // how many times as much each byte may take when such work begins
	many, what = hostileStepsAlone(shape, 16*small, parse, op, int(growth*begins*16*float64(few)))
	if what != "" {
		return many, what
	}
	if most, what := hostileStepsAlone(shape, 64*small, parse, op, int(growth*4*float64(many))); what != "" {
		return many, fmt.Sprintf("alone %d, %d and, of %d bytes, %d: %s", few, many, 64*small, most, what)
	}
	return many, ""
}

// hostileStepsAlone is hostileSteps without memory that other messages have left.
func hostileStepsAlone(shape hostileShape, n int, parse hostileParse, op hostileOperation, limit int) (int, string) {
	for range 8 { // large memory is kept for some collections
		runtime.GC()
		time.Sleep(time.Millisecond) // it is given up after each
	}
	return hostileSteps(shape.desc, shape.wire(n), parse, op, limit)
}

// TestOverlay: the library that counts is made of all sources, and compiles.
func TestOverlay(t *testing.T) {
	if steps.Counting {
		return
	}
	dir := t.TempDir()
	overlay, err := steps.Overlay("../../..", dir, "nocopy/internal/engine", "internal/chain")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "internal_chain_buffer.go")); err != nil {
		t.Error(err)
	}
	if out, err := exec.Command("go", "vet", "-overlay", overlay, "../../../internal/chain").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
