// Package nearest finds out which word a misspelt word stands for.
package nearest

import (
	"slices"
	"strings"
)

// maxMisspelt is the longest word whose letters Word compares.
const maxMisspelt = 64

// Word returns the one of words that a misspelt word probably stands for, or "" if none is
// near. Near words differ by case, by one or two letters, or by two neighbours that are swapped.
func Word(misspelt string, words []string) string {
	best, found := min((len(misspelt)+1)/3, 2)+1, ""
	if len(misspelt) > maxMisspelt {
		return ""
	}
	lower := strings.ToLower(misspelt)
	for _, word := range words {
		if d := distance(lower, strings.ToLower(word), best); d < best {
			best, found = d, word
		}
	}
	return found
}

// distance returns how many letters must be inserted, removed, replaced or swapped with the next
// one to turn a into b. If there are limit or more, the result is only known to be at least limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	// Rows of the table of distances between the beginnings of a and b: for i, i-1 and i-2 letters
	row, last, secondLast := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		row, last, secondLast = secondLast, row, last
		row[0] = i + 1
		for j := range len(b) {
			d := last[j]
			if a[i] != b[j] {
				d = 1 + min(last[j], last[j+1], row[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					d = min(d, 1+secondLast[j-1])
				}
			}
			row[j+1] = d
		}
		if min(slices.Min(row), slices.Min(last)) >= limit {
			return limit
		}
	}
	return row[len(b)]
}
