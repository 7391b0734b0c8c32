package names

import (
	"go/token"
	"strings"
	"unicode"
)

// initialisms holds the words that Apache's generator writes in capitals.
var initialisms = Words(`API ASCII CPU CSS DNS EOF GUID HTML HTTP HTTPS ID IP JSON LHS QPS RAM RHS RPC SLA
	SMTP SSH TCP TLS TTL UDP UI UID UUID URI URL UTF8 VM XML XSRF XSS`)

// Locals holds the names of the receivers, parameters, local variables and imports in generated
// code.
var Locals = Words(`s v n b opts nocopy impl io iter fmt slog math sync h c w ctx args result context rpc a r err validate`)

// FieldsLocals holds more such names, in the code that Options.Fields adds.
var FieldsLocals = Words(`at e f i k l to x`)

// Predeclared holds Go's predeclared names, which generated names must not shadow, and main,
// init and _.
var Predeclared = Words(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16
	int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear
	close complex copy delete imag len make max min new panic print println real recover init main _`)

// Words returns the set of the words in a text.
func Words(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// Public returns the Go name for an IDL name: what Part returns, after an X if that begins with an
// underscore, which would not be exported. Apache's and Kitex's generators leave it unexported.
func Public(name string) string {
	if name = Part(name); strings.HasPrefix(name, "_") {
		return "X" + name
	}
	return name
}

// Part returns the part of Go names that Apache's generator makes from an IDL name: user_id →
// UserID, get_x → GetX, but userId → UserId and a_B → A_B. Names that look like the name of a
// constructor, or of a method's arguments or result, get an underscore.
func Part(name string) string {
	if name == "" {
		return ""
	}
	name = camelCase(Upper(name[:1]) + name[1:])
	plain := name
	if strings.HasPrefix(plain, "New") {
		name += "_"
	}
	if strings.HasSuffix(plain, "Args") || strings.HasSuffix(plain, "Result") {
		name += "_"
	}
	return name
}

// camelCase drops underscores before lower-case letters, capitalises these letters, and
// capitalises initialisms. Only a whole word after a dropped underscore can be an initialism: ids,
// userId and url_Id keep their letters.
func camelCase(name string) string {
	name = fixInitialism(name, 0)
	for i := 1; i < len(name)-1; i++ {
		if name[i] != '_' {
			continue
		}
		if c := name[i+1]; 'a' <= c && c <= 'z' {
			name = name[:i] + Upper(name[i+1:i+2]) + name[i+2:]
		}
		name = fixInitialism(name, i)
	}
	return name
}

// golintInitialisms holds the initialisms that golint demands and Apache's generator does not
// know.
var golintInitialisms = Words(`ACL SQL XMPP`)

// asGolint capitalises the initialisms in a name as golint demands: userId → userID, UrlList →
// URLList. A word ends before an underscore, and after a lower-case letter before a capital or a
// digit: Ids and HTTPUrl stay unchanged.
func asGolint(name string) string {
	out, from := []byte(name), 0
	for i := range out {
		small := 'a' <= name[i] && name[i] <= 'z'
		if i+1 < len(name) && !(small && (name[i+1] < 'a' || name[i+1] > 'z')) && name[i] != '_' {
			continue
		}
		word := strings.Trim(name[from:i+1], "_")
		if big := Upper(word); initialisms[big] || golintInitialisms[big] {
			copy(out[from:], big)
		}
		from = i + 1
	}
	return string(out)
}

// fixInitialism capitalises the word of name that begins at an offset, if the word is an
// initialism.
func fixInitialism(name string, at int) string {
	word, _, _ := strings.Cut(name[at:], "_")
	if big := Upper(word); initialisms[big] {
		return name[:at] + big + name[at+len(word):]
	}
	return name
}

// Upper returns text in capital letters.
func Upper(text string) string { return strings.ToUpper(text) }

// Private makes a name unexported: User → user, HTTPUrl → httpUrl, MAX → max.
func Private(name string) string {
	n := 0
	for n < len(name) && 'A' <= name[n] && name[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(name) && 'a' <= name[n] && name[n] <= 'z' {
		n-- // the last capital begins the next word
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// PackageName returns a valid package name for the last part of a namespace or for a file's name.
// The go command ignores files of package documentation, and packages called main and init cannot
// be imported under their names.
func PackageName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(name, "_") == "" {
		return "thrift" + name
	}
	if '0' <= name[0] && name[0] <= '9' {
		name = "_" + name
	}
	if token.IsKeyword(name) || name == "main" || name == "init" || name == "documentation" {
		name += "_"
	}
	return name
}

// FolderName returns the name of the folder for one part of a namespace. The go command ignores
// _x, .x and testdata, gives vendor a special meaning, and refuses -x and the names that Windows
// reserves.
func FolderName(name string) string {
	name = visible(name)
	if short, _, _ := strings.Cut(name, "."); name == "testdata" || name == "vendor" || devices[strings.ToLower(short)] {
		name += "_"
	}
	return name
}

// FileName returns the name of the Go file for a .thrift file. The go command gives names like
// x_test.go and x_linux.go a meaning, and ignores _x.go.
func FileName(base string) string {
	name := visible(PlainName(base))
	if name == "" {
		name = "thrift"
	}
	first, _, _ := strings.Cut(name, ".")
	last := first[strings.LastIndexByte(first, '_')+1:]
	if last != first && platforms[last] || devices[strings.ToLower(first)] {
		name = first + "_" + name[len(first):]
	}
	if strings.HasSuffix(name, "_test") {
		name += "_"
	}
	return name + ".go"
}

// PlainName returns name with _ instead of characters that Go modules do not allow in file names,
// or that would end a comment.
func PlainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
}

// visible returns name with an x before it if it begins with a character that hides
// files or makes them look like flags.
func visible(name string) string {
	if name != "" && strings.Contains("_.-", name[:1]) {
		return "x" + name
	}
	return name
}

// devices holds the names that Windows reserves, with any extension. Go refuses them
// in import paths.
var devices = Words(`con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9
	lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9`)

// platforms holds the words that restrict a file to tests, an operating system or a
// processor if they come last in its name.
var platforms = Words(`test
	aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le
	ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)
