package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text, which may come from a file or a server or be a name of one, without
// what terminals take for commands and without what turns the direction of text around. These
// characters, and bytes that are not UTF-8, are written as in Go and JSON: \x1b, \u202e. JSON
// keeps its meaning.
func Printable(text string) string {
	var b strings.Builder
	kept := 0
	for i, c := range text {
		if !isCommand(c) && c != utf8.RuneError {
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		if c == utf8.RuneError && n > 1 { // the character itself
			continue
		}
		b.WriteString(text[kept:i])
		switch kept = i + n; {
		case c == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case c < ' ':
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// isCommand reports whether a character is a control character, other than the ends of lines and
// tabs, or changes the direction of text.
func isCommand(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 || unicode.Is(unicode.Bidi_Control, c)
}

// Printing returns a Writer that writes texts to w as Printable returns them. Each Write must have
// whole characters.
func Printing(w io.Writer) io.Writer { return printing{w} }

type printing struct{ io.Writer }

func (p printing) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, Printable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// PrintingText returns a Writer for the texts of files: w, or Printing of it if it is a terminal.
func PrintingText(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return Printing(w)
	}
	return w
}

// IsTerminal reports whether w is a terminal, or another device that takes characters.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
