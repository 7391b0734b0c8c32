package hive

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// maxDecimalDigits bounds the digits of a DECIMAL.
const maxDecimalDigits = 38

// Decimal is a value of a DECIMAL column: a number of 128 bits in two's complement, Hi and Lo, to
// be divided by 10 to the power of Scale. It is exact. Two Decimals of the same number may differ
// in Scale.
type Decimal struct {
	Hi    int64
	Lo    uint64
	Scale int
}

var errDecimal = errors.New("not a decimal number of at most 38 digits")

// ParseDecimal parses a number such as "-12.50": digits with at most one point, and a sign. The
// digits after the point are the Scale. It takes at most 38 digits, leading zeros aside. It also
// parses what Java writes for numbers near zero, such as "1.5E-8", whose Scale is 9, and "0E-18".
func ParseDecimal(s string) (Decimal, error) {
	d, ok := parseDecimal(s)
	if !ok {
		return Decimal{}, fmt.Errorf("hive: %.60q is %w", s, errDecimal)
	}
	return d, nil
}

func parseDecimal(s string) (d Decimal, ok bool) {
	if d, ok = parseDigits(s); ok {
		return d, true
	}
	digits, exponent, _ := strings.Cut(s, "E-")
	shift, err := strconv.ParseUint(exponent, 10, 16)
	if err != nil {
		return d, false
	}
	d, ok = parseDigits(digits)
	d.Scale += int(shift)
	return d, ok && d.Scale <= maxDecimalDigits
}

// parseDigits parses a number without an exponent.
func parseDigits(s string) (d Decimal, ok bool) {
	rest := s
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		rest = s[1:]
	}
	var hi, lo uint64
	digits, seen, point := 0, false, false
	for i := range len(rest) {
		c := rest[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c -= '0'; c > 9 {
			return d, false
		}
		if seen = true; point {
			d.Scale++
		}
		if digits > 0 || c != 0 {
			digits++
		}
		if digits > maxDecimalDigits || d.Scale > maxDecimalDigits {
			return d, false
		}
		hi, lo = timesTenPlus(hi, lo, uint64(c))
	}
	if negative {
		hi, lo = negated(hi, lo)
	}
	d.Hi, d.Lo = int64(hi), lo
	return d, seen
}

// timesTenPlus returns 10·(hi, lo) + c.
func timesTenPlus(hi, lo, c uint64) (uint64, uint64) {
	over, lo := bits.Mul64(lo, 10)
	lo, carry := bits.Add64(lo, c, 0)
	return hi*10 + over + carry, lo
}

func negated(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(0, lo, 0)
	hi, _ = bits.Sub64(0, hi, borrow)
	return hi, lo
}

// magnitude returns the absolute value of the 128 bits.
func (d Decimal) magnitude() (hi, lo uint64) {
	if d.Hi < 0 {
		return negated(uint64(d.Hi), d.Lo)
	}
	return uint64(d.Hi), d.Lo
}

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.Hi < 0:
		return -1
	case d.Hi == 0 && d.Lo == 0:
		return 0
	}
	return 1
}

// appendDigits appends the digits of the magnitude to b.
func (d Decimal) appendDigits(b []byte) []byte {
	hi, lo := d.magnitude()
	var digits [39]byte
	i := len(digits)
	for {
		var rest uint64
		hi, rest = hi/10, hi%10
		lo, rest = bits.Div64(rest, lo, 10)
		i--
		digits[i] = '0' + byte(rest)
		if hi == 0 && lo == 0 {
			return append(b, digits[i:]...)
		}
	}
}

// digits returns how many digits the number has without its point.
func (d Decimal) digits() int {
	var b [39]byte
	return len(d.appendDigits(b[:0]))
}

// String returns the number with Scale digits after the point. A negative Scale adds zeros, at
// most 1,000.
func (d Decimal) String() string {
	var room [64]byte
	b := room[:0]
	if d.Hi < 0 {
		b = append(b, '-')
	}
	sign := len(b)
	b = d.appendDigits(b)
	switch {
	case d.Scale < 0:
		return string(b) + strings.Repeat("0", min(-d.Scale, 1000))
	case d.Scale == 0:
		return string(b)
	}
	scale := min(d.Scale, 1000)
	if lacking := scale + 1 - (len(b) - sign); lacking > 0 {
		digits := string(b[sign:])
		b = append(append(b[:sign], strings.Repeat("0", lacking)...), digits...)
	}
	point := len(b) - scale
	return string(b[:point]) + "." + string(b[point:])
}

// Scan sets d to the value of a column of database/sql: the text of a DECIMAL, or of another type
// that is such a number, or an integer. A NULL is an error; sql.Null[Decimal] takes
// it. So is a float64, which is no exact number: let the statement cast it.
func (d *Decimal) Scan(src any) error {
	switch src := src.(type) {
	case string:
		parsed, err := ParseDecimal(src)
		if err == nil {
			*d = parsed
		}
		return err
	case []byte:
		return d.Scan(string(src))
	case int64:
		return d.Scan(strconv.FormatInt(src, 10))
	case Decimal:
		*d = src
		return nil
	case nil:
		return errors.New("hive: NULL for a Decimal; use sql.Null[hive.Decimal]")
	}
	return fmt.Errorf("hive: a Decimal from a %T: only texts and integers are exact; CAST(… AS DECIMAL)", src)
}

// exact lets structs that embed a Decimal be arguments like one.
func (d Decimal) exact() Decimal { return d }

// Value returns the number as a text, for other drivers and for those who log arguments. This
// package's driver writes a Decimal as a DECIMAL. Numbers that no DECIMAL has are an error.
func (d Decimal) Value() (driver.Value, error) {
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("hive: %w", err)
	}
	return d.String(), nil
}

// check returns an error if no DECIMAL has the number.
func (d Decimal) check() error {
	if d.Scale < 0 || d.Scale > maxDecimalDigits {
		return fmt.Errorf("the scale %d of a decimal is not from 0 to %d", d.Scale, maxDecimalDigits)
	}
	if d.digits() > maxDecimalDigits {
		return fmt.Errorf("the decimal %v has more than %d digits", d, maxDecimalDigits)
	}
	return nil
}

// Int returns the unscaled number, of at most 128 bits: the digits without the point.
func (d Decimal) Int() *big.Int {
	hi, lo := d.magnitude()
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo))
	if d.Hi < 0 {
		n.Neg(n)
	}
	return n
}

// Rescale returns the number with another scale from 0 to 38. ok is false if that would lose
// digits, or take more than 38.
func (d Decimal) Rescale(scale int) (r Decimal, ok bool) {
	if scale < 0 || scale > maxDecimalDigits || d.Scale < 0 || d.Scale > maxDecimalDigits {
		return Decimal{}, false
	}
	hi, lo := d.magnitude()
	digits := d.digits()
	for s := d.Scale; s < scale; s++ {
		if digits++; digits > maxDecimalDigits && (hi != 0 || lo != 0) {
			return Decimal{}, false
		}
		hi, lo = timesTenPlus(hi, lo, 0)
	}
	for s := d.Scale; s > scale; s-- {
		var rest uint64
		hi, rest = hi/10, hi%10
		if lo, rest = bits.Div64(rest, lo, 10); rest != 0 {
			return Decimal{}, false
		}
	}
	if d.Hi < 0 {
		hi, lo = negated(hi, lo)
	}
	return Decimal{int64(hi), lo, scale}, true
}
