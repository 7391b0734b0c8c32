package bench

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// load is how calls are made.
type load struct {
	rate        float64 // calls per second, of an open loop; 0 of a closed one
	concurrency int     // calls under way at the same time; of an open loop the most
}

// The bounds of loads.
const (
	maxRate        = 1e7
	maxConcurrency = 1 << 16
	maxSteps       = 1000
)

// loads returns the loads that the values of -rate and -concurrency are.
func loads(rate, concurrency string) ([]load, error) {
	rates, err := numbers(rate, maxRate)
	if err != nil {
		return nil, fmt.Errorf("-rate %s: %w", rate, err)
	}
	calls, err := numbers(concurrency, maxConcurrency)
	if err != nil {
		return nil, fmt.Errorf("-concurrency %s: %w", concurrency, err)
	}
	if len(rates) == 0 {
		rates = []float64{0}
	}
	if len(calls) == 0 {
		return nil, errors.New("-concurrency is from 1 to 65536")
	}
	if len(rates) > 1 && len(calls) > 1 {
		return nil, errors.New("-rate and -concurrency can't both have several values")
	}
	var all []load
	for _, r := range rates {
		for _, c := range calls {
			switch {
			case c != math.Trunc(c) || c < 1:
				return nil, fmt.Errorf("-concurrency is from 1 to %d", maxConcurrency)
			case r == 0 && rate != "":
				return nil, errors.New("-rate is more than 0: leave it away for as many calls as the server answers, a closed loop")
			}
			all = append(all, load{r, int(c)})
		}
	}
	return all, nil
}

// numbers returns the numbers of a list such as "1,2,10:30:10", which are from 0 to most.
func numbers(text string, most float64) (list []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		var span [3]float64 // from, to, step
		fields := strings.Split(part, ":")
		if len(fields) != 1 && len(fields) != 3 {
			return nil, errors.New("a number or FROM:TO:STEP is needed")
		}
		for i, field := range fields {
			span[i], err = strconv.ParseFloat(field, 64)
			switch {
			case span[i] > most:
				return nil, fmt.Errorf("%q is more than %.0f, which is the most", field, most)
			case err != nil || !(span[i] >= 0):
				return nil, fmt.Errorf("%q is no number from 0 to %.0f", field, most)
			}
		}
		if len(fields) == 1 {
			span[1], span[2] = span[0], 1
		}
		if span[2] == 0 || span[1] < span[0] || (span[1]-span[0])/span[2] >= maxSteps {
			return nil, fmt.Errorf("%s is not up to %d steps", part, maxSteps)
		}
		for i := 0; span[0]+float64(i)*span[2] <= span[1]; i++ {
			list = append(list, span[0]+float64(i)*span[2])
		}
	}
	if len(list) > maxSteps {
		return nil, fmt.Errorf("there are more than %d steps", maxSteps)
	}
	return list, nil
}

// most returns the most calls that are under way at the same time.
func (c *Command) most() int {
	n := 0
	for _, l := range c.loads {
		n = max(n, l.concurrency)
	}
	return n
}
