package hive

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bind is literals.bind for a session in UTC.
func bind(sql string, args []any) (string, error) {
	l := literals{zone: clock{loc: time.UTC}}
	return l.bind(sql, args)
}

// parseTime reads a text in UTC.
func parseTime(s string) (time.Time, bool) {
	r := timeReader{session: clock{loc: time.UTC}}
	t, err := r.read(s)
	return t, err == nil
}

func TestBind(t *testing.T) {
	text := "x"
	for _, b := range []struct {
		sql  string
		args []any
		want string
	}{
		{"SELECT ?", []any{1}, "SELECT 1"},
		{"SELECT ?-?", []any{1, -1}, "SELECT 1-(-1)"},
		{"SELECT '?', \"?\", `?` -- ?\n, ? /* ? */, ?", []any{"a", true}, "SELECT '?', \"?\", `?` -- ?\n, 'a' /* ? */, TRUE"},
		{`SELECT '\'?', ?`, []any{nil}, `SELECT '\'?', NULL`},
		{"SELECT `a\\`, ?", []any{&text}, "SELECT `a\\`, 'x'"},
		{"SELECT 'it''s ?', ?", []any{(*string)(nil)}, "SELECT 'it''s ?', NULL"},
		{"SELECT ? -- ?", []any{1.5}, "SELECT CAST('1.5E+00' AS DOUBLE) -- ?"},
		{"SELECT ? /* ?", []any{math.Inf(-1)}, "SELECT CAST('-Infinity' AS DOUBLE) /* ?"},
		{"SELECT ? /*/ ? */", []any{math.NaN()}, "SELECT CAST('NaN' AS DOUBLE) /*/ ? */"},
		{"? '", []any{int64(math.MinInt64)}, "CAST('-9223372036854775808' AS BIGINT) '"},
		{"?", []any{"${system:user.home}"}, `'\u0024{system:user.home}'`},
		{"?", []any{"a\\'\n\x00?"}, `'a\\\'\n\u0000?'`},
		{"?", []any{[]byte("\x00a")}, "unhex('0061')"},
		{"?", []any{[]byte(nil)}, "NULL"},
		{"?", []any{[]byte{}}, "unhex('')"},
		{"?", []any{time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))}, "TIMESTAMP '2026-01-02 02:04:05.0000006'"},
		{"?", []any{time.Duration(5)}, "5"},
		{"?", []any{Decimal{Hi: -1, Lo: math.MaxUint64, Scale: 3}}, "CAST('-0.001' AS DECIMAL(38,3))"},
		{"dfs -ls /a?", nil, "dfs -ls /a?"},
		{"-- ?\r?", []any{1}, "-- ?\r1"},
		{"?/* ? /* ? */ ? */?/**/?", []any{1, 2, 3}, "1/* ? /* ? */ ? */2/**/3"},
		{"?/* /* ? */ ?", []any{1}, "1/* /* ? */ ?"},
		{`SELECT r'\', ?, R"\", ?`, []any{1, 2}, `SELECT r'\', 1, R"\", 2`},
		{`r'\'?`, []any{1}, `r'\'1`},
		{`tr'\'?'?`, []any{1}, `tr'\'?'1`},
	} {
		if got, err := bind(b.sql, b.args); got != b.want || err != nil {
			t.Errorf("%s %v: %s %v, want %s", b.sql, b.args, got, err, b.want)
		}
	}
	for _, b := range []struct {
		sql  string
		args []any
	}{
		{"SELECT ?, ?", []any{1}}, {"SELECT '?'", []any{1}}, {"?", []any{"\xff"}}, {"?", []any{struct{}{}}}, {"?", []any{[]string{"a"}}},
		{"?", []any{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)}}, {"?", []any{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"?", []any{Decimal{Lo: 1, Scale: 39}}},
	} {
		if got, err := bind(b.sql, b.args); err == nil {
			t.Errorf("%s %v: %s", b.sql, b.args, got)
		}
	}
}

// unescaped reads a literal as Hive and Spark do.
func unescaped(t *testing.T, literal string) string {
	t.Helper()
	inner, ok := strings.CutPrefix(literal, "'")
	var b strings.Builder
	for ok {
		if inner == "" {
			t.Fatalf("%q has no end", literal)
		}
		c := inner[0]
		inner = inner[1:]
		switch {
		case c == '\'':
			if inner != "" {
				t.Fatalf("%q ends before %q", literal, inner)
			}
			return b.String()
		case c == '$' || c != '\\':
			b.WriteByte(c)
			continue
		}
		c = inner[0]
		inner = inner[1:]
		switch c {
		case 'u':
			code, err := strconv.ParseUint(inner[:4], 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteRune(rune(code))
			inner = inner[4:]
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '\'', '\\':
			b.WriteByte(c)
		default:
			t.Fatalf("%q: \\%c", literal, c)
		}
	}
	t.Fatalf("%q", literal)
	return ""
}

// TestStringLiterals: the literal of any text means that text, and contains nothing that servers
// replace before they parse it.
func TestStringLiterals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"'", "\\", "$", "{", "}", "n", "u0041", "0", "\n", "\r", "\x00", "%", "_", "--", "/*", "?", ";", "ü", "🐝", "\x1a", `"`, "`"}
	for range 5000 {
		text := ""
		for range random.IntN(8) {
			text += parts[random.IntN(len(parts))]
		}
		literal, err := bind("?", []any{text})
		if err != nil {
			t.Fatal(err)
		}
		if got := unescaped(t, literal); got != text || strings.Contains(literal, "$") {
			t.Fatalf("%q became %s, which is %q", text, literal, got)
		}
	}
}

// TestDecimalArguments: a Decimal and an integer beyond a BIGINT are DECIMALs, in pointers and own
// types, too.
func TestDecimalArguments(t *testing.T) {
	type id uint64
	d, u := Decimal{Lo: 150, Scale: 2}, uint(math.MaxUint)
	p, i := &u, id(1<<63)
	pd, half := &d, "CAST('1.50' AS DECIMAL(38,2))"
	for _, c := range []struct {
		arg  any
		want string
	}{
		{d, "CAST('1.50' AS DECIMAL(38,2))"}, {&d, "CAST('1.50' AS DECIMAL(38,2))"}, {(*Decimal)(nil), "NULL"},
		{sql.Null[Decimal]{V: d, Valid: true}, "CAST('1.50' AS DECIMAL(38,2))"}, {sql.Null[Decimal]{}, "NULL"},
		{uint64(math.MaxUint64), "CAST('18446744073709551615' AS DECIMAL(38,0))"}, {&p, bindOne(uint64(u))},
		{i, "CAST('9223372036854775808' AS DECIMAL(38,0))"}, {&i, "CAST('9223372036854775808' AS DECIMAL(38,0))"},
		{id(1<<63 - 1), "9223372036854775807"}, {(*id)(nil), "NULL"}, {sql.Null[uint64]{}, "NULL"},
		{&pd, half}, {sql.Null[*Decimal]{V: pd, Valid: true}, half}, {sql.Null[*Decimal]{Valid: true}, "NULL"}, {&sql.Null[Decimal]{V: d, Valid: true}, half},
		{price{d}, half}, {&price{d}, half}, {sql.Null[price]{V: price{d}, Valid: true}, half}, {(*price)(nil), "NULL"}, {labeled{d}, "'about 1.50'"}, {valuer{d}, half}, {valuer{pd}, half},
		{sql.Null[uint64]{V: math.MaxUint64, Valid: true}, bindOne(uint64(math.MaxUint64))}, {sql.Null[id]{V: i, Valid: true}, bindOne(i)}, {valuer{i}, bindOne(i)}, {valuer{uint32(7)}, "7"},
		{endless{}, "hive: argument 1: a hive.endless whose Value has no end"}, {valuer{errors.New("a fault")}, "hive: argument 1: a fault"},
		{Decimal{Lo: 1, Scale: -2}, "hive: argument 1: the scale -2 of a decimal is not from 0 to 38"},
	} {
		if got := bindOne(c.arg); got != c.want {
			t.Errorf("%T: %s, want %s", c.arg, got, c.want)
		}
	}
}

// Arguments that are Decimals in disguise.
type (
	price   struct{ Decimal }
	labeled struct{ Decimal }
	valuer  struct{ v any }
	endless struct{}
)

func (l labeled) Value() (driver.Value, error) { return "about " + l.String(), nil }

func (v valuer) Value() (driver.Value, error) {
	if err, ok := v.v.(error); ok {
		return nil, err
	}
	return v.v, nil
}

func (e endless) Value() (driver.Value, error) { return e, nil }

// bindOne returns an argument as a literal.
func bindOne(arg any) string {
	text, err := bind("?", []any{arg})
	if err != nil {
		return err.Error()
	}
	return text
}

// TestDecimalScan: a Decimal takes exact numbers from database/sql, and is its own value.
func TestDecimalScan(t *testing.T) {
	for _, c := range []struct {
		src  any
		want string
	}{
		{"1.50", "1.50"}, {[]byte("-7"), "-7"}, {int64(math.MinInt64), "-9223372036854775808"}, {Decimal{Lo: 5, Scale: 1}, "0.5"}, {"0E-18", "0.000000000000000000"},
	} {
		var d Decimal
		if err := d.Scan(c.src); err != nil || d.String() != c.want {
			t.Errorf("%v: %v, %v", c.src, d, err)
		}
		if v, err := d.Value(); v != c.want || err != nil {
			t.Errorf("%v: the value is %v, %v", c.src, v, err)
		}
	}
	for _, src := range []any{nil, "", "x", []byte("1e5"), 1.5, true, time.Now()} {
		d := Decimal{Lo: 7}
		if err := d.Scan(src); err == nil || !strings.HasPrefix(err.Error(), "hive: ") || d != (Decimal{Lo: 7}) {
			t.Errorf("%v: %v, %v", src, d, err)
		}
	}
	for _, d := range []Decimal{{Scale: -1}, {Scale: 39}, {Hi: math.MaxInt64}} {
		if v, err := d.Value(); err == nil {
			t.Error(v)
		}
	}
	var null sql.Null[Decimal]
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Error(null, err)
	}
	if err := null.Scan("2.5"); err != nil || null.V.String() != "2.5" {
		t.Error(null, err)
	}
}

func TestDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "1.50": "1.50", "-0.001": "-0.001", ".5": "0.5", "-1.5E-8": "-0.000000015", "+7": "7", "5.": "5",
		"99999999999999999999999999999999999999":   "99999999999999999999999999999999999999",
		"-99999999999999999999999999999999999999":  "-99999999999999999999999999999999999999",
		"0.00000000000000000000000000000000000001": "0.00000000000000000000000000000000000001",
		"18446744073709551616":                     "18446744073709551616",
	} {
		d, err := ParseDecimal(text)
		if err != nil || d.String() != want {
			t.Error(text, d, err)
		}
		if again := fmt.Sprint(d.Int()); again != strings.TrimLeft(strings.Replace(strings.Replace(want, ".", "", 1), "-", "", 1), "0") && d.Sign() > 0 {
			t.Error(text, again)
		}
	}
	for _, text := range []string{"", "-", ".", "1e5", "1.2.3", "x", " 1", "1E+3", "E-1", "1E-", "1E--1", "1E-39", "0.1E-38", "1E-99999999999", "1E-1E-1", "100000000000000000000000000000000000000", "0.000000000000000000000000000000000000001"} {
		if d, err := ParseDecimal(text); err == nil {
			t.Error(text, d)
		}
	}
	d := Decimal{Lo: 1250, Scale: 3}
	if up, ok := d.Rescale(5); !ok || up.String() != "1.25000" {
		t.Error(up, ok)
	}
	if down, ok := d.Rescale(2); !ok || down.String() != "1.25" {
		t.Error(down, ok)
	}
	if r, ok := d.Rescale(1); ok {
		t.Error(r)
	}
	if r, ok := d.Rescale(38); ok {
		t.Error(r)
	}
	if r, ok := (Decimal{Hi: -1, Lo: math.MaxUint64 - 99, Scale: 2}).Rescale(0); !ok || r.String() != "-1" {
		t.Error(r, ok)
	}
	if got := (Decimal{Lo: 5, Scale: -2}).String(); got != "500" {
		t.Error(got)
	}
	if got := (Decimal{Hi: math.MinInt64}).String(); got != "-170141183460469231731687303715884105728" {
		t.Error(got)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-26":                          "2026-11-26T00:00:00Z",
		"0001-01-01":                          "0001-01-01T00:00:00Z",
		"-0044-03-15":                         "-0044-03-15T00:00:00Z",
		"+12026-01-02 03:04:05":               "12026-01-02T03:04:05Z",
		"2026-11-26 10:20:30":                 "2026-11-26T10:20:30Z",
		"2026-11-26 10:20:30.123456789":       "2026-11-26T10:20:30.123456789Z",
		"2026-11-26 10:20:30.5 Europe/Berlin": "2026-11-26T10:20:30.5+01:00",
		"2026-07-26 10:20:30.0 Europe/Berlin": "2026-07-26T10:20:30+02:00",
		"2026-11-26 10:20:30.5 UTC":           "2026-11-26T10:20:30.5Z",
		"2026-11-26T10:20:30Z":                "2026-11-26T10:20:30Z",
		"2026-11-26 10:20:30 +05:30":          "2026-11-26T10:20:30+05:30",
		"2026-11-26 10:20:30 GMT+02:00":       "2026-11-26T10:20:30+02:00",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2026-1-2 3:4:5":                      "2026-01-02T03:04:05Z",
	} {
		at, ok := parseTime(text)
		if got := at.Format(time.RFC3339Nano); !ok || got != want {
			t.Error(text, got, ok)
		}
	}
	for _, text := range []string{"", "2026", "2026-13-01", "2026-02-29", "2026-01-01 24:00:00", "2026-01-01x", "2026-01-01 10:00:00.", "2026-01-01 10:00:00 Mars/Olympus",
		"2026-01-01 10:00:60", "2026-01-01 10", "26-01-01", "2026-01-01 10:00:00 Local", "2026-01-01 10:00:00.1234567890", "2026-00-01", "2026-01-01 10:61:00"} {
		if at, ok := parseTime(text); ok {
			t.Error(text, at)
		}
	}
}

// TestCopyTexts: copies have the same texts, in few pieces.
func TestCopyTexts(t *testing.T) {
	texts := []string{"", strings.Repeat("a", 10_000), "b", "", "c", strings.Repeat("d", 4095), "ee"}
	want := strings.Join(texts, "|")
	if copyTexts(texts); strings.Join(texts, "|") != want {
		t.Error("the texts have changed")
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = "some text"
	}
	if n := testing.AllocsPerRun(10, func() { copyTexts(many) }); n > 30 {
		t.Error(n, "allocations")
	}
}
