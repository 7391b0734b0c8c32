package idl

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// MaxNesting is how deep brackets of all kinds may be nested. It bounds the stack that
// parsing needs.
const MaxNesting = 200

// item is an element of a file's top level. One field is set.
type item struct {
	Namespace  *Namespace  `parser:"  @@"`
	Include    *Include    `parser:"| @@"`
	CppInclude *CppInclude `parser:"| @@"`
	Const      *Const      `parser:"| @@"`
	Typedef    *Typedef    `parser:"| @@"`
	Enum       *Enum       `parser:"| @@"`
	Struct     *Struct     `parser:"| @@"`
	Service    *Service    `parser:"| @@"`
}

// itemParser returns the parser of items. The grammar is LL(1) and needs no lookahead. The parser
// is made at first use, so that programs that read no IDL do not have it.
func itemParser() *participle.Parser[item] {
	made.once.Do(func() {
		made.parser = participle.MustBuild[item](participle.Lexer(definition{}), participle.UseLookahead(0))
	})
	return made.parser
}

var made struct {
	once   sync.Once
	parser *participle.Parser[item]
}

var topLevel = wordSet(`namespace include cpp_include const typedef enum struct union exception service`)

// Parse parses the file src; name is used in positions only. The error is an ErrorList
// with all errors; the File then holds the definitions without errors. A file that is
// not text in UTF-8 has one error, but comments and strings may hold any bytes.
func Parse(name string, src []byte) (*File, error) { return parseBoth(name, src, nil) }

// parseBoth parses a file, and once more if quotes may be missing. c may be nil.
func parseBoth(name string, src []byte, c *Cache) (*File, error) {
	f, s := parse(name, src, scan, c)
	if s.errs.Err() != nil && (s.long || s.cuts > 0) {
		if g, guessed := parse(name, src, guessQuotes, nil); guessed.cuts > 0 {
			f, s = g, guessed
		}
	}
	f.Complete = s.errs.Err() == nil
	return f, s.errs.Err()
}

// parse parses a file. Its tokens come from scan. The returned scanner has all errors. Definitions
// come from c, unless it is nil.
func parse(name string, src []byte, scan func(name, src string, errs *ErrorList) *scanner, c *Cache) (*File, *scanner) {
	var errs ErrorList
	p := parser{file: &File{Name: name, Broken: map[string]bool{}}, errs: &errs, cache: c}
	p.scanner = scan(name, string(src), &errs)
	if e := encodingError(name, src, p.binary); e != nil {
		errs = ErrorList{e}
		return p.file, p.scanner
	}
	p.file.Warnings = p.warnings
	p.scanned = errs[:len(errs):len(errs)]
	if p.checkNesting() {
		p.items()
		p.attachComments()
	}
	if at := protobufIn(p.tokens); len(errs) > 0 && at >= 0 {
		errs = nil
		errs.Add(p.tokens[at].Pos, "this is protobuf's IDL, not Thrift's")
	}
	errs.Sort()
	p.file.Warnings.Sort()
	return p.file, p.scanner
}

type parser struct {
	*scanner
	file    *File
	errs    *ErrorList // shared with the scanner
	scanned ErrorList  // the scanner's errors, in the order of the text
	cache   *Cache     // of definitions, or nil

	// stuckAt is the position of the token at which the last syntax error was noticed, or zero if
	// that is the first token of its line.
	stuckAt Position
}

// checkNesting reports whether brackets are nested at most MaxNesting deep. If not, it adds an
// error.
func (p *parser) checkNesting() bool {
	depth := 0
	for _, t := range p.tokens {
		depth += bracket(t)
		if depth > MaxNesting {
			p.errs.Add(t.Pos, "nested more than %d deep", MaxNesting)
			return false
		}
		depth = max(depth, 0)
	}
	return true
}

// bracket returns by how much a token changes the depth of nesting.
func bracket(t lexer.Token) int {
	switch t.Value {
	case "{", "(", "[", "<":
		return 1
	case "}", ")", "]", ">":
		return -1
	}
	return 0
}

// items parses the tokens in pieces of one definition each, so that an error in one piece does not
// hide errors in the next.
func (p *parser) items() {
	start := 0
	for start < len(p.tokens)-1 {
		end := p.itemEnd(start)
		p.item(p.tokens[start:end], p.tokens[end])
		start = end
	}
}

// itemEnd returns the index after the last token of the piece that begins at start.
func (p *parser) itemEnd(start int) int {
	depth := bracket(p.tokens[start])
	for i := start + 1; ; i++ {
		t := p.tokens[i]
		if t.EOF() || t.Type == tokKeyword && topLevel[t.Value] && (depth <= 0 && !p.isName(start, i) || p.atMargin(i)) {
			return i
		}
		if depth <= 0 && (t.Pos.Column == 1 && t.Type == tokIdent && foreignWords[t.Value] || !exceptionWords[p.tokens[i-1].Value] && p.qualifiesException(i)) {
			return i
		}
		depth = max(depth, 0) + bracket(t)
	}
}

// isName reports whether the keyword at i, outside brackets, is a name in the piece that begins at
// start. Otherwise it begins the next piece.
func (p *parser) isName(start, i int) bool {
	before, next := p.tokens[i-1], p.tokens[i+1]
	switch p.tokens[start].Value {
	case "struct", "union", "exception", "enum", "service":
		return (i == start+1 || before.Value == "extends") && (next.Value == "{" || next.Value == "extends" || next.Value == "xsd_all")
	case "namespace":
		return i <= start+2 && before.Pos.Line == p.tokens[i].Pos.Line
	case "typedef":
		return before.Pos.Line == p.tokens[i].Pos.Line && (i == start+2 || before.Value == ">")
	case "const":
		return next.Value == "="
	}
	return false
}

// atMargin reports whether the keyword at i begins a definition although a bracket is open,
// because its closing bracket was forgotten. The keyword must be in the first column, followed by
// a name and by a token that follows names in definitions.
func (p *parser) atMargin(i int) bool {
	if p.tokens[i].Pos.Column != 1 || i+2 >= len(p.tokens) || p.tokens[i+1].Type != tokIdent {
		return false
	}
	switch p.tokens[i+2].Value {
	case "{", "extends", "xsd_all":
		return true
	}
	return false
}

// exceptionWords are the words that fbthrift has before exception.
var exceptionWords = wordSet(`safe transient stateful permanent client server`)

// qualifiesException reports whether the token at i and those after it, as far as the word
// exception, are exceptionWords.
func (p *parser) qualifiesException(i int) bool {
	from := i
	for p.tokens[i].Type == tokIdent && exceptionWords[p.tokens[i].Value] {
		i++
	}
	return i > from && p.tokens[i].Value == "exception"
}

// protobufIn returns the index of a token that begins a definition in protobuf's IDL, or -1.
func protobufIn(tokens []lexer.Token) int {
	depth := 0
	for i, t := range tokens[:max(len(tokens)-2, 0)] {
		next, after := tokens[i+1], tokens[i+2]
		if t.Type == tokIdent && depth <= 0 {
			switch t.Value {
			case "syntax", "edition":
				if next.Value == "=" && after.Type == tokString {
					return i
				}
			case "message":
				if next.Type == tokIdent && after.Value == "{" {
					return i
				}
			case "import":
				if next.Type == tokString && after.Value == ";" {
					return i
				}
			case "option":
				if next.Type == tokIdent && after.Value == "=" {
					return i
				}
			case "package": // fbthrift's has a string
				if next.Type == tokIdent && after.Value == ";" {
					return i
				}
			}
		}
		depth = max(depth+bracket(t), 0)
	}
	return -1
}

// item parses a piece. next is the token after it.
func (p *parser) item(tokens []lexer.Token, next lexer.Token) {
	if p.checkForeign(tokens[0], next) {
		return
	}
	it, err := p.parseItem(tokens, next.Pos)
	if err != nil {
		if lenient, err := parseItem(keywordsAsNames(tokens), next.Pos); err == nil {
			p.warnOfKeywords(tokens)
			p.add(lenient)
			return
		}
		from := tokens[0].Pos
		if from == p.tokens[0].Pos {
			from = Position{} // the scanner may have skipped characters before it
		}
		if !p.knownError(from, next.Pos) {
			p.syntaxError(err, tokens, next)
		}
		for _, t := range tokens {
			p.file.Broken[t.Value] = true
		}
		return
	}
	p.warnOfKeywords(tokens)
	p.add(it)
}

// parseItem parses the tokens of a piece that ends before end, unless it is in the cache.
func (p *parser) parseItem(tokens []lexer.Token, end Position) (*item, error) {
	if p.cache != nil {
		return p.cache.item(p.src, tokens, end)
	}
	return parseItem(tokens, end)
}

// parseItem parses the tokens of a piece that ends before end.
func parseItem(tokens []lexer.Token, end Position) (*item, error) {
	it, _, err := parseTokens(tokens, end)
	return it, err
}

// parseTokens is parseItem, and also returns the tokens. The item refers to parts of these.
func parseTokens(tokens []lexer.Token, end Position) (*item, []lexer.Token, error) {
	lex, _ := lexer.Upgrade(&tokenLexer{tokens: append(tokens[:len(tokens):len(tokens)], lexer.EOFToken(end))})
	it, err := itemParser().ParseFromLexer(lex)
	return it, lex.Range(0, lexer.RawCursor(len(tokens))), err
}

// keywordsAsNames returns tokens with keywords changed to names, except keywords that begin the
// type of a container. Thriftgo reserves no words. The grammar still matches keywords by their
// texts, so that they are names only where no keyword fits. This is tried last, since error
// messages are better if words are reserved.
func keywordsAsNames(tokens []lexer.Token) []lexer.Token {
	tokens = slices.Clone(tokens)
	for i, t := range tokens {
		switch t.Value {
		case "map", "set", "list":
			if i+1 < len(tokens) && (tokens[i+1].Value == "<" || tokens[i+1].Value == "cpp_type") {
				continue
			}
		}
		if t.Type == tokKeyword {
			tokens[i].Type = tokIdent
		}
	}
	return tokens
}

// warnOfKeywords adds warnings for keywords in the namespaces and annotation keys of a piece.
// Package schema has the warnings for names of declarations.
func (p *parser) warnOfKeywords(tokens []lexer.Token) {
	inNamespace := tokens[0].Value == "namespace"
	for i := 1; i < len(tokens); i++ {
		t, before, next := tokens[i], tokens[i-1], lexer.Token{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		isKey := (strings.Contains("(,;", before.Value) || before.Type == tokString) && strings.Contains("=),;", next.Value)
		if t.Type == tokKeyword && (inNamespace || isKey) {
			p.file.Warnings.AddAbout(Apache, t.Pos, "Apache's compiler refuses the name %s, which it reserves", t.Value)
		}
	}
}

// knownError reports whether an error in the piece between two positions is already known: the
// scanner has found one there, or the parser was stuck at the piece's first token. A syntax error
// would only repeat it.
func (p *parser) knownError(from, to Position) bool {
	if from.Line > 0 && p.stuckAt == from {
		return true
	}
	i, _ := slices.BinarySearchFunc(p.scanned, from.Offset, func(e *Error, offset int) int {
		return cmp.Compare(e.Pos.Offset, offset)
	})
	return i < len(p.scanned) && p.scanned[i].Pos.Offset < to.Offset
}

// foreignWords holds words that begin a definition in older versions or in dialects of the IDL.
var foreignWords = wordSet(`package interaction hs_include senum cpp_namespace php_namespace xsd_namespace csharp_namespace
	delphi_namespace ruby_namespace py_module perl_package java_package cocoa_prefix smalltalk_category smalltalk_prefix`)

// checkForeign reports whether t begins a definition of an older version or of a dialect of the
// IDL. If so, it adds an error that says what to write instead. next is the token after the
// piece.
func (p *parser) checkForeign(t, next lexer.Token) bool {
	switch {
	case t.Type != tokIdent:
		return false
	case exceptionWords[t.Value] && next.Value == "exception":
		p.errs.Add(t.Pos, "%q before an exception"+isFbthrift, t.Value)
		return true
	case !foreignWords[t.Value]:
		return false
	}
	switch t.Value {
	case "package", "interaction", "hs_include":
		p.errs.Add(t.Pos, "%q"+isFbthrift, t.Value)
	case "senum":
		p.errs.Add(t.Pos, `"senum" is no longer part of the IDL, use "enum" or "string"`)
	default:
		lang, _, _ := strings.Cut(t.Value, "_")
		p.errs.Add(t.Pos, `%q is no longer part of the IDL, use "namespace %s"`, t.Value, lang)
	}
	return true
}

// add adds a parsed item to the file.
func (p *parser) add(it *item) {
	f := p.file
	switch {
	case it.Namespace != nil:
		f.Namespaces = append(f.Namespaces, it.Namespace)
		p.checkHeaderPlace("namespace", it.Namespace.Pos)
	case it.Include != nil:
		f.Includes = append(f.Includes, it.Include)
		p.checkHeaderPlace("include", it.Include.Pos)
	case it.CppInclude != nil:
		f.CppIncludes = append(f.CppIncludes, it.CppInclude)
		p.checkHeaderPlace("cpp_include", it.CppInclude.Pos)
	case it.Const != nil:
		if a := it.Const.Annotations; len(a) > 0 {
			f.Warnings.AddAbout(Apache, a[0].Pos, "Apache's compiler refuses annotations of constants")
		}
		f.Definitions = append(f.Definitions, it.Const)
	case it.Typedef != nil:
		f.Definitions = append(f.Definitions, it.Typedef)
	case it.Enum != nil:
		f.Definitions = append(f.Definitions, it.Enum)
	case it.Struct != nil:
		f.Definitions = append(f.Definitions, it.Struct)
	case it.Service != nil:
		f.Definitions = append(f.Definitions, it.Service)
	}
}

// checkHeaderPlace adds an error if the header line at pos, which begins with word, comes after a
// definition.
func (p *parser) checkHeaderPlace(word string, pos Position) {
	if len(p.file.Definitions) > 0 {
		p.errs.Add(pos, "%s must stand before the first definition", word)
	}
}
