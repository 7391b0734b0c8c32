package validate_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/validate"
	"github.com/nocopythrift/nocopythrift/nocopy/validate/internal/shop"
)

// The IDL says
//
//	struct Line {
//	  1: string article (vt.min_size = "1")
//	  2: i32 count (vt.gt = "0")
//	}
//
//	struct Order {
//	  1: required string id (vt.pattern = "^[A-Z]{2}-[0-9]+$")
//	  2: list<Line> lines (vt.min_size = "1", vt.max_size = "100")
//	  3: map<string, string> labels (vt.key.min_size = "1", vt.value.max_size = "20")
//	}
func ExampleError() {
	order := shop.NewOrder()
	defer order.Release()
	order.SetID("AB-1")
	lines := order.NewLines(2)
	lines.At(0).SetArticle("abacus")
	lines.At(0).SetCount(1)
	lines.At(1).SetArticle("slide rule")

	err := order.Validate()
	fmt.Println(err)
	var invalid *validate.Error
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Path)
	}
	lines.At(1).SetCount(2)
	fmt.Println(order.Validate())
	// Output:
	// lines[1].count: expected a value > 0, got 0
	// lines[1].count
	// <nil>
}

func TestPaths(t *testing.T) {
	leaf := func() error { return validate.Text("", "w") }
	other := errors.New("x")
	for _, test := range []struct {
		err  error
		want string
	}{
		{validate.Text("", "w"), "expected w"},
		{validate.Value("a", "w", 1.5), "a: expected w, got 1.5"},
		{validate.Size("a", "w", 3), "a: expected w, got 3"},
		{validate.In("a", validate.In("b", leaf())), "a.b: expected w"},
		{validate.At("a", 1, validate.At("", 2, validate.In("b", leaf()))), "a[1][2].b: expected w"},
		{validate.Key("a", "k\n", leaf()), `a["k\n"]: expected w`},
		{validate.Key("a", []byte("k\xff"), leaf()), `a["k\xff"]: expected w`},
		{validate.Key("a", []byte(strings.Repeat("k", 1000)), leaf()), `a["` + strings.Repeat("k", 64) + `"…]: expected w`},
		{validate.Key("a", int8(-1), validate.Key("", true, leaf())), "a[-1][true]: expected w"},
		{validate.Key("a", struct{ x int }{}, leaf()), "a[…]: expected w"},
		{validate.In("a", other), "x"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestConditions(t *testing.T) {
	for name, ok := range map[string]bool{
		"prefix":       validate.HasPrefix("abc", "ab") && validate.HasPrefix("a", "") && !validate.HasPrefix("a", "ab") && !validate.HasPrefix("ba", "a"),
		"prefix bytes": validate.HasPrefix([]byte("abc"), "ab") && !validate.HasPrefix([]byte(nil), "a"),
		"suffix":       validate.HasSuffix("abc", "bc") && validate.HasSuffix("a", "") && !validate.HasSuffix("c", "bc"),
		"contains":     validate.Contains("abc", "b") && !validate.Contains("abc", "x"),
		"bytes":        validate.ContainsBytes([]byte("abc"), "bc") && !validate.ContainsBytes(nil, "x") && validate.ContainsBytes(nil, ""),
		"long":         validate.ContainsBytes([]byte(strings.Repeat("a", 300)), strings.Repeat("a", 200)),
		"runes":        validate.Runes("é\xff") == 2 && validate.RunesOfBytes([]byte("é\xff")) == 2,
		"mod":          validate.Mod(7, 3) == 1 && validate.Mod(7, 0) == 7 && validate.Mod(-1<<63, -1) == 0,
		"sum":          validate.Sum("a", "b") == "ab" && validate.Sum[int64](1, 2) == 3,
	} {
		if !ok {
			t.Error(name)
		}
	}
}

// TestPattern: several goroutines may use a pattern at once, and it is compiled only once.
func TestPattern(t *testing.T) {
	p := validate.NewPattern("^a+$")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !p.Match("aa") || p.MatchBytes([]byte("ab")) {
				t.Error("wrong")
			}
		})
	}
	wg.Wait()
	if n := testing.AllocsPerRun(100, func() { p.Match("aaaa") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestDeepPath: each level of a message adds its part before the path, even if errors are copied
// or changed in between.
func TestDeepPath(t *testing.T) {
	err, want := validate.Value("count", "w", 1), "count"
	for i := range 2000 {
		var e *validate.Error
		errors.As(err, &e)
		switch {
		case i%300 == 299: // continue with a copy
			other := *e
			if validate.In("other", &other); other.Path != "other."+want || e.Path != want {
				t.Fatalf("%d: %.40s, %.40s", i, other.Path, e.Path)
			}
		case i%300 == 250:
			e.Path, want = "x"+e.Path, "x"+want
		}
		if i%3 == 0 {
			err, want = validate.At("list", i, err), fmt.Sprintf("list[%d].%s", i, want)
		} else {
			err, want = validate.In("next", err), "next."+want
		}
		if e.Path != want {
			t.Fatalf("%d: %.80s, want %.80s", i, e.Path, want)
		}
	}
	var e *validate.Error
	if errors.As(validate.Hidden("pin", err), &e); e.Path != "pin" {
		t.Error(e.Path)
	}
	if validate.In("a", err); e.Path != "a.pin" {
		t.Error(e.Path)
	}
}

// TestCompare compares the results with those of exact arithmetic.
func TestCompare(t *testing.T) {
	ints := []int64{0, 1, -1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<60 - 1, 1 << 60, 1<<60 + 1, math.MaxInt64, math.MaxInt64 - 511, math.MinInt64, math.MinInt64 + 1, -1<<53 - 1}
	floats := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1, 1 << 53, -1 << 53, 1 << 60, 1 << 63, -1 << 63, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, i := range ints {
		floats = append(floats, float64(i), math.Nextafter(float64(i), math.Inf(1)), math.Nextafter(float64(i), math.Inf(-1)))
	}
	for _, i := range ints {
		for _, f := range floats {
			c := 2 // NaN is unordered
			if !math.IsNaN(f) {
				c = new(big.Float).SetInt64(i).Cmp(big.NewFloat(f))
			}
			for op, want := range map[string]bool{"==": c == 0, "!=": c != 0, "<": c == -1, "<=": c == -1 || c == 0, ">": c == 1, ">=": c == 1 || c == 0} {
				if got := validate.Compare(i, op, f); got != want {
					t.Errorf("%d %s %v: %v", i, op, f, got)
				}
			}
		}
	}
}

// TestUnfinished: Validate of a message that is still being built, and of its parts, gives the
// same result as at the receiver.
func TestUnfinished(t *testing.T) {
	for i, build := range []func() shop.Order{
		func() shop.Order { return shop.NewOrder() },
		func() shop.Order { return nocopy.NewInto[shop.Order](new(nocopy.Message)) },
		func() shop.Order {
			o := shop.NewOrder()
			o.SetID("AB-1")
			o.NewLines(3).At(0).SetArticle("abacus")
			o.GetLines().At(0).SetCount(1)
			return o
		},
		func() shop.Order {
			o := shop.NewOrder()
			o.SetID("AB-1")
			l := o.NewLines(1).At(0)
			l.SetCount(1)
			o.NewLabels().Put("", "")
			l.SetArticle("abacus")
			return o
		},
	} {
		sent, err := shop.ParseOrder(build().AppendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(build().Validate()), fmt.Sprint(sent.Validate()); got != want {
			t.Errorf("%d: %s, received: %s", i, got, want)
		}
	}
	if err := (shop.Order{}).Validate(); err == nil {
		t.Error("the zero handle has no id")
	}
}
