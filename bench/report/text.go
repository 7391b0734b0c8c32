package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Text writes the table for people.
func (t Table) Text(w io.Writer) error {
	fmt.Fprintf(w, "\n%s %s: %s\n", t.Name, t.Op, t.About)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	per := ""
	if t.Units > 0 {
		per = "ns/" + t.Unit + "\t"
	}
	fmt.Fprintf(tw, "\tns/op\t%s× kitex\t× limit\tCPU ns/op\tof it GC\tB/op\tallocs/op\t\n", per)
	width := 0
	for _, r := range t.Rows {
		width = max(width, len(r.Peer))
	}
	for _, r := range t.Rows {
		if t.Units > 0 {
			per = number(r.NS/float64(t.Units)) + "\t"
		}
		// Names are padded here: the writer aligns every column to the right.
		name := r.Peer + strings.Repeat(" ", width-len(r.Peer))
		fmt.Fprintf(tw, "%s\t%s\t%s%s\t%s\t%s\t%s\t%s\t%s\t\n", name, number(r.NS), per, ratio(r.RatioKitex), ratio(r.RatioLimit),
			number(r.CPU), percent(r.GC), number(r.Bytes), number(r.Allocs))
	}
	return tw.Flush()
}

// number writes numbers below 100 with three significant digits, and larger ones with all digits,
// in groups.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 100:
		return fmt.Sprintf("%.3g", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func duration(ns float64) string {
	switch {
	case ns == 0:
		return "-"
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%s µs", digits(ns/1e3))
	default:
		return fmt.Sprintf("%s ms", digits(ns/1e6))
	}
}

// digits writes three significant digits without an exponent.
func digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

func ratio(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 0.001: // two significant digits without an exponent
		return fmt.Sprintf("%.*f", 1-int(math.Floor(math.Log10(v))), v)
	case v < 0.1:
		return fmt.Sprintf("%.4f", v)
	case v >= 1000:
		return number(v)
	default:
		return digits(v)
	}
}

// short returns a number as text, with k for thousands and M for millions.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%g M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%g k", v/1e3)
	}
	return fmt.Sprintf("%g", v)
}
