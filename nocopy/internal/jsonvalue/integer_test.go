package jsonvalue

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// FuzzInteger compares integers with those of math/big, which also reports whether a number is
// whole.
func FuzzInteger(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1", "12345678", "-123456789012345678", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "9999999999999999999", "1.0", "1e3", "1.25e2", "1.25e1", "00", "01", "-", "", "1234567/", "1234567:",
		"12345678/", "0.0000e-9999999999", "1e99999999999", "1000000000000000000000e-3", "+1", " 1", "1 ", "0x1", "1_0", "1.", ".1", "1e", "é1234567",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := integer([]byte(s))
		ok, exponent := isNumber([]byte(s)), 0
		if e := strings.IndexAny(s, "eE"); e >= 0 {
			exponent, _ = strconv.Atoi(s[e+1:])
		}
		if !ok || exponent > 1000 || exponent < -1000 {
			if !ok && !errors.Is(err, errNumber) {
				t.Fatalf("%q: %d %v", s, got, err)
			}
			return
		}
		want, ok := new(big.Rat).SetString(s)
		switch {
		case !ok || strings.ContainsAny(s, "_/xX+ ") && !strings.Contains(s, "e+") && !strings.Contains(s, "E+"):
			t.Fatalf("%q is a number?", s)
		case !want.IsInt():
			if err != errWhole {
				t.Fatalf("%q: %d %v", s, got, err)
			}
		case !want.Num().IsInt64():
			if err != errRange {
				t.Fatalf("%q: %d %v", s, got, err)
			}
		case err != nil || got != want.Num().Int64():
			t.Fatalf("%q: %d %v", s, got, err)
		}
	})
}
