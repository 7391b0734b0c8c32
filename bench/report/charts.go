package report

import (
	"bytes"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// family is the first part of the names of a peer's rows, with their colour in charts.
type family struct {
	name   string
	colour color.RGBA
}

var families = []family{
	{"nocopy", color.RGBA{0x00, 0x7a, 0x6e, 0xff}},
	{"kitex", color.RGBA{0xd9, 0x5f, 0x02, 0xff}},
	{"fastgo", color.RGBA{0xf0, 0xa3, 0x5e, 0xff}},
	{"frugal", color.RGBA{0xe6, 0xc2, 0x29, 0xff}},
	{"apache", color.RGBA{0xa5, 0x2a, 0x2a, 0xff}},
	{"dynamicgo", color.RGBA{0xc5, 0x8a, 0xc9, 0xff}},
	{"vtproto", color.RGBA{0x4e, 0x79, 0xc4, 0xff}},
	{"hyperpb", color.RGBA{0x2f, 0x3e, 0x8f, 0xff}},
	{"VM prompb", color.RGBA{0x7b, 0x5e, 0xa7, 0xff}},
	{"easyproto", color.RGBA{0x9d, 0x8e, 0xd8, 0xff}},
	{"msgp", color.RGBA{0x3d, 0x9a, 0xb0, 0xff}},
	{"capnp", color.RGBA{0x6b, 0x8e, 0x23, 0xff}},
	{"flatbuffers", color.RGBA{0xa8, 0xc6, 0x6c, 0xff}},
	{"scalar", color.RGBA{0x99, 0x99, 0x99, 0xff}},
	{"memcpy", color.RGBA{0x55, 0x55, 0x55, 0xff}},
	{"limit", color.RGBA{0x55, 0x55, 0x55, 0xff}},
}

func colourOf(row string) color.RGBA {
	name, _, _ := strings.Cut(row, "/")
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		i = len(families) - 1
	}
	return families[i].colour
}

func init() {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
}

const (
	chartWidth = 24 * vg.Centimeter
	barWidth   = 9
	barPitch   = 15
	labelSize  = 9
)

// Bars draws the table's times as SVG, the fastest on top, each bar labelled with its time and its
// ratio to Kitex.
func (t Table) Bars() (string, error) {
	rows := slices.Clone(t.Rows)
	// The lowest is drawn first
	slices.SortFunc(rows, func(a, b Row) int { return compareFloat(b.NS, a.NS) })
	p := plot.New()
	labels := plotter.XYLabels{}
	longest := 0.0
	for i, r := range rows {
		bar, err := plotter.NewBarChart(plotter.Values{r.NS}, barWidth)
		if err != nil {
			return "", err
		}
		bar.Horizontal, bar.XMin, bar.Color, bar.LineStyle.Width = true, float64(i), colourOf(r.Peer), 0
		p.Add(bar)
		label := duration(r.NS)
		if r.RatioKitex != 0 && r.Peer != "kitex" {
			label += " (× " + ratio(r.RatioKitex) + ")"
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: r.NS, Y: float64(i)})
		labels.Labels = append(labels.Labels, label)
		longest = max(longest, r.NS)
	}
	l, err := plotter.NewLabels(labels)
	if err != nil {
		return "", err
	}
	l.Offset.X = 4
	for i := range l.TextStyle {
		l.TextStyle[i].Font.Size, l.TextStyle[i].YAlign = labelSize, text.YCenter
	}
	p.Add(l)
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Peer
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = labelSize
	p.HideX()
	p.X.Min, p.X.Max = 0, longest*1.2 // the longest bar's label needs room
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	return svg(p, chartWidth, vg.Length(len(rows))*barPitch+8)
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Lines draws the series as SVG: time per unit over the number of units, both axes logarithmic. A
// flat line means that time is in proportion to size.
func (s Series) Lines() (string, error) {
	p := plot.New()
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(amounts), plot.TickerFunc(durations)
	p.X.Label.Text, p.Y.Label.Text = s.Tables[0].Unit+"s", "time/"+s.Tables[0].Unit
	p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = labelSize, labelSize
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = labelSize, labelSize
	p.Legend.TextStyle.Font.Size, p.Legend.Padding, p.Legend.ThumbnailWidth = labelSize, 2, 1*vg.Centimeter
	p.Add(plotter.NewGrid())
	lowest, highest := 0.0, 0.0
	drawn := map[color.RGBA]int{} // lines of a colour
	for i, row := range s.Tables[0].Rows {
		var xys plotter.XYs
		for _, t := range s.Tables {
			y := t.row(row.Peer).NS / float64(t.Units)
			xys = append(xys, plotter.XY{X: float64(t.Units), Y: y})
			if lowest == 0 || y < lowest {
				lowest = y
			}
			highest = max(highest, y)
		}
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return "", err
		}
		colour := colourOf(row.Peer)
		line.Color, line.Width, line.Dashes = colour, vg.Points(1.5), dashes[drawn[colour]%len(dashes)]
		drawn[colour]++
		points.Color, points.Shape, points.Radius = line.Color, shapes[i%len(shapes)], vg.Points(3)
		p.Add(line, points)
		p.Legend.Add(row.Peer, line, points)
	}
	// The legend stands below the lines.
	p.Y.Min, p.Y.Max = lowest/6, highest*1.5
	return svg(p, chartWidth, 11*vg.Centimeter)
}

// dashes holds the dashes that tell lines of the same colour apart; the first line has none.
var dashes = [][]vg.Length{nil, {4, 3}, {1, 2.5}, {8, 3, 1, 3}, {8, 3}, {4, 2, 1, 2, 1, 2}}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}

// durations marks every power of ten.
func durations(lo, hi float64) []plot.Tick { return ticks(lo, hi, duration) }

func amounts(lo, hi float64) []plot.Tick { return ticks(lo, hi, short) }

func ticks(lo, hi float64, label func(float64) string) []plot.Tick {
	var t []plot.Tick
	for power := 1e-6; power <= hi; power *= 10 {
		for _, step := range []float64{1, 2, 5} {
			v := power * step
			if v < lo || v > hi {
				continue
			}
			tick := plot.Tick{Value: v}
			if step == 1 || hi/lo < 300 {
				tick.Label = label(v)
			}
			t = append(t, tick)
		}
	}
	return t
}

func svg(p *plot.Plot, width, height vg.Length) (string, error) {
	c := vgsvg.New(width, height)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	// Without the XML declaration, which has no place in a page
	return s[strings.Index(s, "<svg"):], nil
}
