package rules_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/rules"
	"github.com/nocopythrift/nocopythrift/gen/internal/rules/other"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/validate"
)

type validator interface {
	Validate() error
	Release()
}

// expect checks that a change of a valid message gives the error want, or no error if want is "".
func expect[S validator](t *testing.T, valid func() S, change func(S), want string) {
	t.Helper()
	s := valid()
	defer s.Release()
	if err := s.Validate(); err != nil {
		t.Fatalf("of a valid message: %v", err)
	}
	change(s)
	err := s.Validate()
	got := ""
	if err != nil {
		got = err.Error()
		var e *validate.Error
		if !errors.As(err, &e) || !strings.HasPrefix(got, e.Path) {
			t.Errorf("%#v", err)
		}
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func numbers() rules.Numbers {
	s := rules.NewNumbers()
	s.SetA(3)
	s.SetD(1)
	s.SetE(1)
	s.SetF(0.5)
	s.SetH(true)
	s.SetJ(4)
	return s
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Numbers)
		want   string
	}{
		{func(s rules.Numbers) { s.SetA(2) }, "a: expected 3, got 2"},
		{func(s rules.Numbers) { s.SetB(9) }, ""},
		{func(s rules.Numbers) { s.SetB(10) }, "b: expected a value < 10, got 10"},
		{func(s rules.Numbers) { s.SetB(-10) }, "b: expected a value > -10, got -10"},
		{func(s rules.Numbers) { s.SetC(16) }, ""},
		{func(s rules.Numbers) { s.SetC(17) }, "c: expected a value <= 0x10, got 17"},
		{func(s rules.Numbers) { s.SetC(-1) }, ""},
		{func(s rules.Numbers) { s.SetC(math.MinInt32) }, "c: expected a value >= -1, got -2147483648"},
		{func(s rules.Numbers) { s.SetD(2) }, ""},
		{func(s rules.Numbers) { s.SetD(3) }, "d: expected one of 1, 2, got 3"},
		{func(s rules.Numbers) { s.SetE(7) }, "e: expected none of 0, 7, got 7"},
		{func(s rules.Numbers) { s.SetF(0.25) }, "f: expected a value > 0.25, got 0.25"},
		{func(s rules.Numbers) { s.SetF(math.NaN()) }, "f: expected a value > 0.25, got NaN"},
		{func(s rules.Numbers) { s.SetF(math.Inf(1)) }, "f: expected a value <= 1e3, got +Inf"},
		{func(s rules.Numbers) { s.SetG(1.5) }, ""},
		{func(s rules.Numbers) { s.SetG(1) }, "g: expected one of 0, 1.5, got 1"},
		{func(s rules.Numbers) { s.SetH(false) }, "h: expected true, got false"},
		{func(s rules.Numbers) { s.SetI(0) }, "i: expected a value > 0, got 0"},
		{func(s rules.Numbers) { s.UnsetJ() }, "j: expected to be set"},
		{func(s rules.Numbers) { s.SetJ(5) }, "j: expected a value < 5, got 5"},
		{func(s rules.Numbers) { s.SetFree(5) }, ""},
	} {
		expect(t, numbers, test.change, test.want)
	}
	if err := (rules.Numbers{}).Validate(); err == nil || err.Error() != "a: expected 3, got 0" {
		t.Errorf("of an absent struct: %v", err)
	}
}

const middle = "0123456789012345678901234567890123456789"

func texts() rules.Texts {
	s := rules.NewTexts()
	s.SetA(`x"y`)
	s.SetB("bb")
	s.SetC("cç")
	s.SetD("abc1")
	s.SetE("abmmyz")
	s.SetF("a")
	s.SetH("@x")
	s.SetK([]byte("k"))
	s.SetL([]byte("é"))
	s.SetM([]byte("mm"))
	s.SetN([]byte("ab" + middle + "yz"))
	s.SetO([]byte("b"))
	s.SetP(nocopy.UUID{})
	return s
}

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Texts)
		want   string
	}{
		{func(s rules.Texts) { s.SetA("x") }, `a: expected "x\"y"`},
		{func(s rules.Texts) { s.SetB("é") }, ""},
		{func(s rules.Texts) { s.SetB("b") }, "b: expected at least 2 bytes, got 1"},
		{func(s rules.Texts) { s.SetB("bbbbb") }, "b: expected at most 4 bytes, got 5"},
		{func(s rules.Texts) { s.SetC("é") }, "c: expected at least 2 characters, got 1"},
		{func(s rules.Texts) { s.SetC("éééé") }, "c: expected at most 3 characters, got 4"},
		{func(s rules.Texts) { s.SetD("ABC") }, `d: expected text that matches "^[a-z]+\\d?$"`},
		{func(s rules.Texts) { s.SetE("a") }, `e: expected text that begins with "ab"`},
		{func(s rules.Texts) { s.SetE("abmm") }, `e: expected text that ends with "yz"`},
		{func(s rules.Texts) { s.SetE("abyz") }, `e: expected text that contains "mm"`},
		{func(s rules.Texts) { s.SetE("abmm!yz") }, `e: expected text that does not contain "!"`},
		{func(s rules.Texts) { s.SetF("c") }, `f: expected one of "a", "b"`},
		{func(s rules.Texts) { s.SetG("b") }, `g: expected none of "a", "b"`},
		{func(s rules.Texts) { s.SetH("") }, `h: expected text that begins with "@"`},
		{func(s rules.Texts) { s.SetK(nil) }, `k: expected "k"`},
		{func(s rules.Texts) { s.SetL(nil) }, "l: expected at least 1 byte, got 0"},
		{func(s rules.Texts) { s.SetL([]byte("abc")) }, "l: expected at most 2 bytes, got 3"},
		{func(s rules.Texts) { s.SetL([]byte("ab")) }, "l: expected at most 1 character, got 2"},
		{func(s rules.Texts) { s.SetM([]byte("x")) }, `m: expected text that matches "^m"`},
		{func(s rules.Texts) { s.SetN([]byte("a")) }, `n: expected text that begins with "ab"`},
		{func(s rules.Texts) { s.SetN([]byte("ab")) }, `n: expected text that ends with "yz"`},
		{func(s rules.Texts) { s.SetN([]byte("abyz")) }, `n: expected text that contains "` + middle + `"`},
		{func(s rules.Texts) { s.SetN([]byte("ab" + middle + "!yz")) }, `n: expected text that does not contain "!"`},
		{func(s rules.Texts) { s.SetO([]byte("c")) }, `o: expected one of "a", "b"`},
		{func(s rules.Texts) { s.UnsetP() }, "p: expected to be set"},
	} {
		expect(t, texts, test.change, test.want)
	}
}

func enums() rules.Enums {
	s := rules.NewEnums()
	s.SetA(rules.Kind_A)
	s.SetC(rules.Kind_B)
	s.SetD(rules.Kind_A)
	s.SetE(other.Level_TOP)
	return s
}

func TestEnums(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Enums)
		want   string
	}{
		{func(s rules.Enums) { s.SetA(rules.Kind_B) }, "a: expected Kind.A, got B"},
		{func(s rules.Enums) { s.SetB(3) }, "b: expected a value of Kind, got Kind(3)"},
		{func(s rules.Enums) { s.SetC(0) }, "c: expected one of A, Kind.B, got NONE"},
		{func(s rules.Enums) { s.SetD(0) }, "d: expected none of NONE, got NONE"},
		{func(s rules.Enums) { s.SetE(2) }, "e: expected a value of Level, got Level(2)"},
		{func(s rules.Enums) { s.SetE(1) }, "e: expected other.Level.HIGH, got LOW"},
		{func(s rules.Enums) { s.SetF(7) }, "f: expected none of other.Grade.LOW, 7, got Level(7)"},
		{func(s rules.Enums) { s.SetG(9) }, ""},
	} {
		expect(t, enums, test.change, test.want)
	}
}

func item(s rules.Item) {
	s.SetArticle("x")
	s.SetCount(1)
}

func containers() rules.Containers {
	s := rules.NewContainers()
	item(s.NewItems(1).At(0))
	s.SetTags([]string{"t", "tt"})
	s.SetIds([]int32{1, 2})
	item(s.NewByName().PutNew("n"))
	s.NewGrid().PutNew(rules.Kind_A, 2)
	item(s.NewNested(2).NewAt(1, 1).At(0))
	s.NewNumbers().Put(1, -1)
	k := s.NewKeys().Append(true)
	item(k)
	s.NewSkipped(1)
	s.NewInner(1)
	s.NewDeep().PutNew([]byte("d"), 1).Put(5, 0.5)
	s.NewKinds(1).Set(0, rules.Kind_A)
	return s
}

func TestContainers(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Containers)
		want   string
	}{
		{func(s rules.Containers) { s.UnsetItems() }, "items: expected at least 1 element, got 0"},
		{func(s rules.Containers) { s.NewItems(3) }, "items: expected at most 2 elements, got 3"},
		{func(s rules.Containers) { item(s.GetItems().AppendNew()); s.GetItems().At(1).SetCount(0) }, "items[1].count: expected a value > 0, got 0"},
		{func(s rules.Containers) { s.SetTags([]string{"t", ""}) }, "tags[1]: expected at least 1 byte, got 0"},
		{func(s rules.Containers) { s.SetTags([]string{"x"}) }, `tags[0]: expected text that matches "^t"`},
		{func(s rules.Containers) { s.GetIds().Add(-1) }, "ids[2]: expected a value > 0, got -1"},
		{func(s rules.Containers) { item(s.GetByName().PutNew("a")); item(s.GetByName().PutNew("b")) }, "byName: expected at most 2 pairs, got 3"},
		{func(s rules.Containers) { item(s.GetByName().PutNew("")) }, `byName[""]: expected as key at least 1 byte, got 0`},
		{func(s rules.Containers) { s.GetByName().PutNew("a\"b").SetArticle("a") }, `byName["a\"b"].count: expected a value > 0, got 0`},
		{func(s rules.Containers) { s.GetByName().PutNew(strings.Repeat("k", 200)) },
			`byName["` + strings.Repeat("k", 64) + `"…].article: expected at least 1 byte, got 0`},
		{func(s rules.Containers) { s.GetGrid().PutNew(7, 1) }, "grid[Kind(7)]: expected as key a value of Kind, got Kind(7)"},
		{func(s rules.Containers) { s.GetGrid().PutNew(rules.Kind_B, 0) }, "grid[B]: expected at least 1 element, got 0"},
		{func(s rules.Containers) { s.GetGrid().PutNew(rules.Kind_B, 2).Set(1, -1) }, "grid[B][1]: expected a value >= 0, got -1"},
		{func(s rules.Containers) { s.GetNested().At(1).At(0).SetArticle("") }, "nested[1][0].article: expected at least 1 byte, got 0"},
		{func(s rules.Containers) { s.GetNumbers().Put(-5, 1) }, "numbers[-5]: expected as key a value > 0, got -5"},
		{func(s rules.Containers) { s.GetKeys().Append(false) }, "keys[…].article: expected at least 1 byte, got 0"},
		{func(s rules.Containers) { s.NewSkipped(2) }, "skipped: expected at most 1 element, got 2"},
		{func(s rules.Containers) { s.GetDeep().PutNew([]byte("e\x00"), 1).Put(6, 1) }, `deep["e\x00"][6]: expected a value < 1, got 1`},
		{func(s rules.Containers) { s.SetMaybe(nil) }, "maybe: expected at least 1 element, got 0"},
		{func(s rules.Containers) { s.GetKinds().Set(0, 9) }, "kinds[0]: expected a value of Kind, got Kind(9)"},
	} {
		expect(t, containers, test.change, test.want)
	}
}

func order() rules.Order {
	s := rules.NewOrder()
	item(s.NewFirst())
	item(s.NewNeeded())
	s.NewSkipped()
	s.NewPlace().SetCity("x")
	s.NewFree()
	return s
}

func TestStructs(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Order)
		want   string
	}{
		{func(s rules.Order) { s.UnsetFirst() }, ""},
		{func(s rules.Order) { s.GetFirst().SetCount(0) }, "first.count: expected a value > 0, got 0"},
		{func(s rules.Order) { s.UnsetNeeded() }, "needed: expected to be set"},
		{func(s rules.Order) { s.GetNeeded().SetCount(-1) }, "needed.count: expected a value > 0, got -1"},
		{func(s rules.Order) { s.GetPlace().SetCity("") }, "place.city: expected at least 1 byte, got 0"},
		{func(s rules.Order) { item(s.NewNext().NewNeeded()); s.GetNext().NewNext() }, "next.next.needed: expected to be set"},
		{func(s rules.Order) { s.NewChoice() }, ""},
		{func(s rules.Order) { s.NewChoice().SetNumber(0) }, "choice.number: expected a value > 0, got 0"},
		{func(s rules.Order) { s.NewChoice().NewItem() }, "choice.item.article: expected at least 1 byte, got 0"},
		{func(s rules.Order) { s.NewChoice().SetText("") }, ""},
	} {
		expect(t, order, test.change, test.want)
	}
	if _, ok := any(rules.Free{}).(validator); ok {
		t.Error("Free, which has no rules, has a Validate method")
	}
	if _, ok := any(rules.ShopFreeArgs{}).(validator); ok {
		t.Error("ShopFreeArgs has a Validate method")
	}
	args := rules.NewShopOrderArgs()
	order := args.NewOrder()
	order.NewNeeded()
	if err := args.Validate(); err == nil || err.Error() != "order.needed.article: expected at least 1 byte, got 0" {
		t.Errorf("of arguments: %v", err)
	}
	result := rules.NewShopOrderResult()
	result.NewFailed().SetCode(1)
	if err := result.Validate(); err == nil || err.Error() != "failed.code: expected a value >= 400, got 1" {
		t.Errorf("of a result: %v", err)
	}
}

func references() rules.References {
	s := rules.NewReferences()
	s.SetLow(5)
	s.SetHigh(5)
	s.SetStart("st")
	s.SetName("stu")
	s.SetParts([]string{"abc"})
	s.SetRatio(2.5)
	s.SetText("5-st!%")
	s.SetRaw([]byte("st"))
	return s
}

func TestReferences(t *testing.T) {
	for _, test := range []struct {
		change func(rules.References)
		want   string
	}{
		{func(s rules.References) { s.SetHigh(4) }, "high: expected a value >= $low, got 4"},
		{func(s rules.References) { s.SetHigh(105) }, "high: expected a value < @add($low, 100), got 105"},
		{func(s rules.References) { s.SetName("stuvwx") }, "name: expected at most $low bytes, got 6"},
		{func(s rules.References) { s.SetName("x") }, "name: expected text that begins with $start"},
		{func(s rules.References) { s.SetParts([]string{"a", "abcd"}) }, "parts[1]: expected at most @len($name) bytes, got 4"},
		{func(s rules.References) { s.SetTime(math.MaxInt64) }, "time: expected a value <= @add(@now_unix_nano(), 1000000000), got 9223372036854775807"},
		{func(s rules.References) { s.SetRatio(5.1) }, "ratio: expected a value <= $low, got 5.1"},
		{func(s rules.References) { s.SetWhole(3) }, "whole: expected a value <= $ratio, got 3"},
		{func(s rules.References) { s.SetText("5-st!") }, "text: expected @sprintf('%d-%s!%%', $low, $start)"},
		{func(s rules.References) { s.SetOther(true) }, "flag: expected $other, got false"},
		{func(s rules.References) { s.SetRaw([]byte("x")) }, "raw: expected text that begins with $start"},
	} {
		expect(t, references, test.change, test.want)
	}
}

func asserted() rules.Asserted {
	s := rules.NewAsserted()
	s.SetA(6)
	s.SetB(3)
	s.SetS("ab")
	s.SetL([]int32{1, 2})
	s.SetD(6.5)
	return s
}

func TestAsserts(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Asserted)
		want   string
	}{
		{func(s rules.Asserted) { s.SetB(4) }, "expected @equal(@mod($a, $b), 0)"},
		{func(s rules.Asserted) { s.SetB(0) }, "expected @equal(@mod($a, $b), 0)"},
		{func(s rules.Asserted) { s.SetA(0); s.SetB(0); s.SetD(0.5) }, ""},
		{func(s rules.Asserted) { s.SetS("a") }, "expected @equal(@len($l); @len($s))"},
		{func(s rules.Asserted) { s.SetD(6) }, "expected @equal($d, @add($a, 0.5))"},
	} {
		expect(t, asserted, test.change, test.want)
	}
}

// TestRedacted: errors about redacted fields contain neither values nor keys nor sizes.
func TestRedacted(t *testing.T) {
	valid := func() rules.Secrets {
		s := rules.NewSecrets()
		s.SetPin(1234)
		s.SetText("text")
		return s
	}
	expect(t, valid, func(s rules.Secrets) { s.SetPin(777) }, "pin: expected a value >= 1000")
	expect(t, valid, func(s rules.Secrets) { s.NewByName().Put("key", 777) }, "by_name: expected a value >= 1000")
	expect(t, valid, func(s rules.Secrets) { s.SetText("s") }, "text: expected at least 4 bytes")
	expect(t, valid, func(s rules.Secrets) { s.NewPins(1).At(0).SetNumber(7) }, "pins[0].number: expected a value >= 1000")
}

// TestAllocations: checking valid messages allocates nothing, except strings that are read without
// unsafe.
func TestAllocations(t *testing.T) {
	parsed := func(wire []byte) rules.Containers {
		s, err := rules.ParseContainers(wire)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	list := map[string]validator{"numbers": numbers(), "enums": enums()}
	if testmode.Unsafe {
		list["texts"], list["containers"], list["order"] = texts(), containers(), order()
		list["received"] = parsed(containers().Message().Bytes())
	}
	for name, s := range list {
		if n := testing.AllocsPerRun(100, func() {
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		s.Release()
	}
}

func exact() rules.Exact {
	s := rules.NewExact()
	s.SetLess(1<<60 - 1)
	s.SetSame(1 << 60)
	s.SetOther(1<<60 + 1)
	s.SetReal(1 << 60)
	s.SetBound(1<<60 - 1)
	s.SetA(1 << 62)
	s.SetB(1 << 62)
	return s
}

// TestExact: an i64 and a double are compared by their exact values, not as doubles.
func TestExact(t *testing.T) {
	for _, test := range []struct {
		change func(rules.Exact)
		want   string
	}{
		{func(s rules.Exact) { s.SetLess(1 << 60) }, "less: expected a value < $real, got 1152921504606846976"},
		{func(s rules.Exact) { s.SetSame(1<<60 + 1) }, "same: expected $real, got 1152921504606846977"},
		{func(s rules.Exact) { s.SetOther(1 << 60) }, "other: expected none of $real, got 1152921504606846976"},
		{func(s rules.Exact) { s.SetBound(1 << 60) }, "real: expected a value > $bound, got 1.152921504606847e+18"},
		{func(s rules.Exact) { s.SetReal(math.NaN()) }, "less: expected a value < $real, got 1152921504606846975"},
		{func(s rules.Exact) { s.SetD(0.5) }, "d: expected a value <= @len($text), got 0.5"},
		{func(s rules.Exact) { s.SetA(1<<62 + 1) }, "expected @equal($a, $b)"},
	} {
		expect(t, exact, test.change, test.want)
	}
}

// TestTwice: a rule that is given twice is checked and reported once.
func TestTwice(t *testing.T) {
	valid := func() rules.Twice {
		s := rules.NewTwice()
		s.SetIn("x || y")
		s.SetNumber(1)
		return s
	}
	for _, test := range []struct {
		change func(rules.Twice)
		want   string
	}{
		{func(s rules.Twice) { s.SetIn("z"); s.SetNumber(2) }, ""},
		{func(s rules.Twice) { s.SetIn("x") }, `in: expected one of "x || y", "z"`},
		{func(s rules.Twice) { s.SetOut([]byte("x && y")) }, `out: expected none of "x && y", "z"`},
		{func(s rules.Twice) { s.SetNumber(3) }, "number: expected one of 1, 2, got 3"},
	} {
		expect(t, valid, test.change, test.want)
	}
}
