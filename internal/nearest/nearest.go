// Package nearest finds out which word a misspelt word stands for.
package nearest

import "strings"

// maxMisspelt is the longest word whose letters Word compares.
const maxMisspelt = 64

// Word returns the one of words that a misspelt word probably stands for, or "" if none is
// near. Near words differ by case, or by one or two letters.
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

// distance returns how many letters must be inserted, removed or replaced to turn a into b. If
// there are limit or more, the result is only known to be at least limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1], least = row[j+1], d, min(least, d)
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}
