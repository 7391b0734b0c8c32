package command

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// helpWidth is how long lines of help are at most, and helpColumn the widest column of flags.
const (
	helpWidth  = 80
	helpColumn = 26
)

// Help writes a help text with the flags of a command, in the form of nocopy's other commands:
// usage, "Flags:" and the flags, and what follows.
func Help(w io.Writer, usage string, flags *flag.FlagSet, after string) {
	type row struct{ flag, text string }
	rows := []row{{"-h, -help", "Show context-sensitive help."}}
	flags.VisitAll(func(f *flag.Flag) {
		name, text := flag.UnquoteUsage(f)
		left := "-" + f.Name
		if len(f.Name) > 1 {
			left = "    " + left // after a short form, which it does not have
		}
		if name == "directory" {
			name = "dir"
		}
		if name != "" {
			left += " " + strings.ToUpper(name)
		}
		if text = strings.ToUpper(text[:1]) + text[1:] + "."; name != "" && f.DefValue != "" {
			text += " The default is " + f.DefValue + "."
		}
		rows = append(rows, row{left, text})
	})
	column := 0
	for _, r := range rows {
		column = max(column, min(len(r.flag), helpColumn))
	}
	fmt.Fprint(w, usage, "\nFlags:\n")
	for _, r := range rows {
		left := r.flag
		if len(left) > column {
			fmt.Fprintf(w, "  %s\n", left)
			left = ""
		}
		for _, line := range wrap(r.text, helpWidth-column-6) {
			fmt.Fprintf(w, "  %-*s    %s\n", column, left, line)
			left = ""
		}
	}
	fmt.Fprint(w, after)
}

// wrap returns the lines of a text that has at most width characters in one.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
