package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Series holds the tables of one operation on workloads that differ in size only: G-A-x1 to
// G-A-x64.
type Series struct {
	Name   string // G-A
	Op     string
	Tables []Table // by growing size
}

// Series returns the series of two tables and more.
func (r Report) Series() []Series {
	var all []Series
	for _, t := range r.Workloads {
		if t.Units == 0 {
			continue
		}
		name := t.Name[:strings.LastIndexByte(t.Name, '-')]
		i := 0
		for i < len(all) && (all[i].Name != name || all[i].Op != t.Op) {
			i++
		}
		if i == len(all) {
			all = append(all, Series{Name: name, Op: t.Op})
		}
		all[i].Tables = append(all[i].Tables, t)
	}
	long := all[:0]
	for _, s := range all {
		if len(s.Tables) > 1 {
			long = append(long, s)
		}
	}
	return long
}

// Growth writes for each series the time per unit, which should not grow with the message.
func (r Report) Growth(w io.Writer) error {
	for _, s := range r.Series() {
		fmt.Fprintf(w, "\n%s %s: ns/%s as it grows\n", s.Name, s.Op, s.Tables[0].Unit)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		width := 0
		for _, row := range s.Tables[0].Rows {
			width = max(width, len(row.Peer))
		}
		fmt.Fprint(tw, "\t")
		for _, t := range s.Tables {
			fmt.Fprintf(tw, "%s\t", t.Name[len(s.Name)+1:])
		}
		fmt.Fprintln(tw)
		for _, row := range s.Tables[0].Rows {
			fmt.Fprintf(tw, "%s%s\t", row.Peer, strings.Repeat(" ", width-len(row.Peer)))
			for _, t := range s.Tables {
				fmt.Fprintf(tw, "%s\t", number(t.row(row.Peer).NS/float64(t.Units)))
			}
			fmt.Fprintln(tw)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// row returns the row of a peer, an empty one if it has none.
func (t Table) row(peer string) Row {
	for _, r := range t.Rows {
		if r.Peer == peer {
			return r
		}
	}
	return Row{}
}
