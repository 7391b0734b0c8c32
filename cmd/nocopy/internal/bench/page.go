package bench

import (
	_ "embed"
	"fmt"
	"html"
	"os"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/template"
)

//go:embed page.html
var pageText string

// Page is what the page shows.
type Page struct {
	Title   string
	Reports []*Report
}

// writePage writes reports as a page that needs nothing else.
func writePage(name string, all []*Report) error {
	page := template.New(template.Functions{"duration": Duration, "plot": plot, "how": (*Report).how, "notes": (*Report).notes}, html.EscapeString)
	if err := page.Add("page", pageText); err != nil {
		return err
	}
	title := all[0].Method
	if len(all) == 1 {
		title += fmt.Sprintf(": %.0f calls per second", all[0].PerSecond)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := page.Execute(f, "page", Page{title, all}); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Plot is a line in a picture of 600 by 160.
type Plot struct {
	Points string
	Top    string // the largest value
}

// plot returns the line of what f returns for each second.
func plot(seconds []Second, of string) Plot {
	value := func(s Second) float64 {
		if of == "worst" {
			return s.Worst
		}
		return float64(s.Calls)
	}
	seconds = Whole(seconds)
	most := 0.0
	for _, s := range seconds {
		most = max(most, value(s))
	}
	var points []string
	for i, s := range seconds {
		x := 0.0
		if len(seconds) > 1 {
			x = float64(i) * 600 / float64(len(seconds)-1)
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, 155-150*value(s)/max(most, 1)))
	}
	if len(points) == 1 {
		points = append(points, strings.Replace(points[0], "0.0,", "600.0,", 1))
	}
	top := fmt.Sprintf("%.0f", most)
	if of == "worst" {
		top = Duration(most)
	}
	return Plot{strings.Join(points, " "), top}
}
