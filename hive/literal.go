package hive

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// This file puts arguments into statements: HiveServer2 has no parameters of its own.

// literals writes arguments as literals, and notes what their meaning depends on.
type literals struct {
	zone    clock       // the session's
	offsets bool        // the server reads offsets in literals
	times   []time.Time // those that were written
	twice   time.Time   // one whose clock time comes twice; zero if there is none
}

// bind returns sql with its placeholders replaced by args as literals. Question marks in quotes
// and comments are no placeholders. Without arguments there are no placeholders: the statement
// may be of another language, such as "dfs -ls /a?".
func (l *literals) bind(sql string, args []any) (string, error) {
	if len(args) == 0 {
		return sql, nil
	}
	var b strings.Builder
	b.Grow(len(sql) + 16*len(args))
	n, from := 0, 0
	for i := range placeholders(sql) {
		if n < len(args) {
			b.WriteString(sql[from:i])
			if err := l.write(&b, args[n]); err != nil {
				return "", fmt.Errorf("hive: argument %d: %w", n+1, err)
			}
		}
		n, from = n+1, i+1
	}
	if n != len(args) {
		return "", fmt.Errorf("hive: the statement has %d placeholders, the call %d arguments", n, len(args))
	}
	b.WriteString(sql[from:])
	return b.String(), nil
}

// placeholders iterates over the offsets of sql's placeholders.
func placeholders(sql string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < len(sql); i++ {
			switch c := sql[i]; {
			case c == '?':
				if !yield(i) {
					return
				}
			case c == '\'' || c == '"' || c == '`':
				i = endOfQuoted(sql, i)
			case c == '-' && strings.HasPrefix(sql[i:], "--"):
				i = endOfLine(sql, i)
			case c == '/' && strings.HasPrefix(sql[i:], "/*"):
				i = endOfComment(sql, i)
			}
		}
	}
}

// endOfQuoted returns the offset of the quote that ends what begins at i. A backslash takes the
// character after it along, except between backquotes and in Spark's raw literals, such as r'\d'.
// A doubled quote ends one text and begins the next, which is the same here.
func endOfQuoted(sql string, i int) int {
	quote := sql[i]
	escapes := quote != '`' && !hasRawPrefix(sql[:i])
	for i++; i < len(sql) && sql[i] != quote; i++ {
		if sql[i] == '\\' && escapes {
			i++
		}
	}
	return i
}

// hasRawPrefix reports whether before ends with the word r, which makes the quote after it begin
// a raw literal.
func hasRawPrefix(before string) bool {
	word, ok := strings.CutSuffix(strings.ToLower(before[max(len(before)-2, 0):]), "r")
	return ok && strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == word
}

// endOfLine returns the offset of the character that ends the line of i.
func endOfLine(sql string, i int) int {
	if n := strings.IndexAny(sql[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(sql)
}

// endOfComment returns the offset of the last byte of the comment that begins at i. Comments may
// contain comments, as on Spark.
func endOfComment(sql string, i int) int {
	depth := 0
	for ; i+1 < len(sql); i++ {
		switch sql[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i
		}
	}
	return len(sql)
}

// write writes an argument as an expression of Hive's and Spark's SQL.
func (l *literals) write(b *strings.Builder, arg any) error {
	v, err := resolved(arg)
	if err != nil {
		return err
	}
	if d, ok := v.(Decimal); ok {
		return writeDecimal(b, d)
	}
	if v, err = driver.DefaultParameterConverter.ConvertValue(v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("NULL")
	case bool:
		b.WriteString(strings.ToUpper(strconv.FormatBool(v)))
	case int64:
		writeInt(b, v)
	case float64:
		fmt.Fprintf(b, "CAST('%s' AS DOUBLE)", formatFloat(v))
	case string:
		return writeString(b, v)
	case []byte:
		if v == nil {
			b.WriteString("NULL")
			return nil
		}
		fmt.Fprintf(b, "unhex('%s')", hex.EncodeToString(v))
	case time.Time:
		return l.writeTime(b, v)
	default:
		return fmt.Errorf("a %T cannot be a literal", arg)
	}
	return nil
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// resolved returns what pointers, sql.Null and Valuers stand for: nil, another argument, or a
// Decimal for a struct that embeds one and for an integer that is too large for a BIGINT.
func resolved(arg any) (any, error) {
	for range 100 { // a Valuer may return itself
		v := reflect.ValueOf(arg)
		valuer, isValuer := arg.(driver.Valuer)
		switch {
		case arg == nil || v.Type() == reflect.TypeFor[Decimal]():
			return arg, nil
		case v.Kind() == reflect.Pointer && (!isValuer || v.Type().Elem().Implements(valuerType)):
			if v.IsNil() {
				return nil, nil
			}
			arg = v.Elem().Interface()
		case v.Type().PkgPath() == "database/sql" && strings.HasPrefix(v.Type().Name(), "Null["):
			if !v.FieldByName("Valid").Bool() {
				return nil, nil
			}
			arg = v.FieldByName("V").Interface()
		case isValuer:
			value, err := valuer.Value()
			if err != nil {
				return nil, err
			}
			if e, ok := arg.(interface{ exact() Decimal }); ok && value == e.exact().String() {
				return e.exact(), nil
			}
			arg = value
		case v.CanUint() && v.Uint() > math.MaxInt64:
			return Decimal{Lo: v.Uint()}, nil
		default:
			return arg, nil
		}
	}
	return nil, fmt.Errorf("a %T whose Value has no end", arg)
}

// writeInt writes v. A minus sign is in parentheses, since two of them begin a comment. The
// smallest number has no literal.
func writeInt(b *strings.Builder, v int64) {
	switch {
	case v == math.MinInt64:
		fmt.Fprintf(b, "CAST('%d' AS BIGINT)", v)
	case v < 0:
		fmt.Fprintf(b, "(%d)", v)
	default:
		b.WriteString(strconv.FormatInt(v, 10))
	}
}

// formatFloat writes v as Java's Double.parseDouble reads it.
func formatFloat(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(v, 'E', -1, 64)
}

// writeString writes v as a literal whose value is v again. Both servers replace ${name} in
// statements before they parse them: a dollar sign is therefore written as its code.
func writeString(b *strings.Builder, v string) error {
	if !utf8.ValidString(v) {
		return fmt.Errorf("the string %.40q is not UTF-8: pass a []byte for binary", v)
	}
	b.WriteByte('\'')
	from := 0
	for i := range len(v) {
		escaped := ""
		switch v[i] {
		case '\'':
			escaped = `\'`
		case '\\':
			escaped = `\\`
		case '$':
			escaped = `\u0024`
		case '\n':
			escaped = `\n`
		case '\r':
			escaped = `\r`
		case 0:
			escaped = `\u0000`
		default:
			continue
		}
		b.WriteString(v[from:i])
		b.WriteString(escaped)
		from = i + 1
	}
	b.WriteString(v[from:])
	b.WriteByte('\'')
	return nil
}

// writeTime writes the time in the session's zone, as TIMESTAMP columns are read.
func (l *literals) writeTime(b *strings.Builder, t time.Time) error {
	t = t.In(l.zone.loc)
	if y := t.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("the year %d is not from 1 to 9999", y)
	}
	l.times = append(l.times, t)
	b.WriteString(t.Format("TIMESTAMP '2006-01-02 15:04:05.999999999"))
	_, offset := t.Zone()
	if _, n := l.zone.at(t.Unix() + int64(offset)); n > 1 {
		l.twice = t
		if l.offsets {
			b.WriteString(offsetName(offset))
		}
	}
	b.WriteByte('\'')
	return nil
}

// writeDecimal writes a DECIMAL with the scale of d.
func writeDecimal(b *strings.Builder, d Decimal) error {
	if err := d.check(); err != nil {
		return err
	}
	fmt.Fprintf(b, "CAST('%v' AS DECIMAL(%d,%d))", d, maxDecimalDigits, d.Scale)
	return nil
}
