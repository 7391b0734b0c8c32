package idl

import (
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isEscape(c byte) bool { return strings.IndexByte(`rnt"'\`, c) >= 0 }

// identLen returns the length of the identifier at the start of text, including the dots between
// its parts.
func identLen(text string) int {
	word := func(i int) bool {
		return i < len(text) && (isLetter(text[i]) || isDigit(text[i]))
	}
	n := 1
	for word(n) || n < len(text) && text[n] == '.' && word(n+1) {
		n++
	}
	return n
}

// binaryLen returns the length of a number like 0b101, which only fbthrift has, at the start of
// text, or 0.
func binaryLen(text string) int {
	number := strings.TrimLeft(text, "+-")
	if len(number) < 3 || number[0] != '0' || number[1]|0x20 != 'b' {
		return 0
	}
	digits := strings.TrimLeft(number[2:], "01")
	if len(digits) == len(number)-2 {
		return 0
	}
	return len(text) - len(digits)
}

// numberLen returns the kind and the length of the longest number at the start of text. The length
// is 0 if there is none. It follows Apache's patterns for flex: "1." is an integer and a stray
// dot, ".5" and "1e3" are doubles, and a sign alone is not a number. Octal numbers like 0o17 come
// from thriftgo.
func numberLen(text string) (lexer.TokenType, int) {
	start := signEnd(text, 0)
	if n := hexEnd(text, start); n > start {
		return tokInt, n
	}
	if n := digitsEnd(text, 2); strings.HasPrefix(text, "0o") && n > 2 {
		return tokInt, n
	}
	kind, n := tokInt, digitsEnd(text, start)
	if n < len(text) && text[n] == '.' && digitsEnd(text, n+1) > n+1 {
		kind, n = tokDouble, digitsEnd(text, n+1)
	}
	if n == start {
		return 0, 0
	}
	if n < len(text) && text[n]|0x20 == 'e' {
		e := signEnd(text, n+1)
		if end := digitsEnd(text, e); end > e {
			return tokDouble, end
		}
	}
	return kind, n
}

// signEnd returns the index after the sign at text[i:], which is i if there is none.
func signEnd(text string, i int) int {
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		return i + 1
	}
	return i
}

// digitsEnd returns the index after the decimal digits at text[i:], which is i if there are none.
func digitsEnd(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// hexEnd returns the index after the number at text[i:] that begins with 0x, which is i if there
// is none.
func hexEnd(text string, i int) int {
	if !strings.HasPrefix(text[i:], "0x") {
		return i
	}
	n := i + 2
	for n < len(text) && (isDigit(text[n]) || 'a' <= text[n]|0x20 && text[n]|0x20 <= 'f') {
		n++
	}
	if n == i+2 {
		return i
	}
	return n
}

// parseInt returns the value of an integer token.
func parseInt(text string) (int64, error) {
	digits, base := strings.TrimPrefix(text, "+"), 10
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if hex, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = hex, 16
	}
	if octal, ok := strings.CutPrefix(digits, "0o"); ok {
		digits, base = octal, 8
	}
	return strconv.ParseInt(sign+digits, base, 64)
}

// parseDouble returns the value of a number token.
func parseDouble(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// unquote returns the text of a string token without quotes, its escapes resolved. Unknown
// escapes, about which the scanner has warned, stay unchanged.
func unquote(text string) string {
	quote := text[0]
	text = text[1:]
	if n := len(text); n > 0 && text[n-1] == quote {
		text = text[:n-1]
	}
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch c = text[i]; c {
			case 'r':
				c = '\r'
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			default:
				if !isEscape(c) {
					b.WriteByte('\\')
				}
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
