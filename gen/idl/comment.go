package idl

import "strings"

// A commentTable holds the comments of a file by the offsets of tokens: above has the comment
// above a token, beside the comment after a token on the same line.
type commentTable struct {
	above, beside map[int]string

	pending []comment // comments since the last token
	last    Position  // of the last token
	lastEnd Position  // of the byte after the last token
}

type comment struct {
	text       string
	block, doc bool
	line, end  int // the numbers of its first and last lines
}

func newCommentTable() commentTable {
	return commentTable{above: map[int]string{}, beside: map[int]string{}}
}

// comment adds a scanned comment.
func (t *commentTable) comment(start, end Position, text string) {
	t.pending = append(t.pending, comment{
		text:  text,
		block: strings.HasPrefix(text, "/*"),
		doc:   strings.HasPrefix(text, "/**") && len(text) > len("/**/"),
		line:  start.Line,
		end:   end.Line,
	})
}

// token notes that the next token starts at pos. Its place decides to which tokens the pending
// comments belong.
func (t *commentTable) token(pos Position) {
	pending := t.pending
	t.pending = t.pending[:0]
	if len(pending) == 0 {
		t.last = pos
		return
	}
	// A comment after a token on its line is about that token, unless another
	// token follows on the same line.
	n := 0
	for n < len(pending) && t.lastEnd.Line == pending[n].line && pos.Line > pending[n].end {
		n++
	}
	if n > 0 {
		t.beside[t.last.Offset] = joinComments(pending[:n])
	}
	if doc := above(pending[n:], pos.Line); doc != "" {
		t.above[pos.Offset] = doc
	}
	t.last = pos
}

// tokenEnd notes that the last token ends before pos.
func (t *commentTable) tokenEnd(pos Position) { t.lastEnd = pos }

// above returns the text of the comments directly above a token on the given line, without an
// empty line in between. If there are none, it returns the text of the last /** */ comment at any
// distance, as Apache's compiler does.
func above(comments []comment, line int) string {
	first := len(comments)
	for first > 0 && comments[first-1].end >= line-1 {
		first--
		line = comments[first].line
	}
	if first < len(comments) {
		return joinComments(comments[first:])
	}
	for i := len(comments) - 1; i >= 0; i-- {
		if comments[i].doc {
			return joinComments(comments[i : i+1])
		}
	}
	return ""
}

// joinComments returns the texts of comments, without delimiters, as lines.
func joinComments(comments []comment) string {
	var texts []string
	for _, c := range comments {
		text := ""
		if c.block {
			text = blockText(c.text)
		} else {
			text = strings.TrimPrefix(strings.TrimLeft(c.text, "/#"), " ")
			text = strings.TrimRight(text, " \t\r")
		}
		texts = append(texts, text)
	}
	return strings.Trim(strings.Join(texts, "\n"), "\n")
}

// blockText returns the text of a block comment without its delimiters, and without the " * " or
// the indentation that all its lines share.
func blockText(text string) string {
	text = strings.TrimLeft(strings.TrimPrefix(text, "/"), "*")
	text = strings.TrimRight(strings.TrimSuffix(text, "/"), "*")
	lines := strings.Split(text, "\n")
	starred := len(lines) > 1
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
		if i > 0 && lines[i] != "" && !strings.HasPrefix(strings.TrimLeft(line, " \t"), "*") {
			starred = false
		}
	}
	for i := range lines {
		if i > 0 && starred {
			lines[i] = strings.TrimPrefix(strings.TrimLeft(lines[i], " \t"), "*")
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " \t")
	outdent(lines[1:])
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// outdent removes the indentation that all lines share.
func outdent(lines []string) {
	shared := -1
	for _, line := range lines {
		if line != "" {
			indent := len(line) - len(strings.TrimLeft(line, " \t"))
			if shared < 0 || indent < shared {
				shared = indent
			}
		}
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = line[shared:]
		}
	}
}
