package testmode

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

const module = "github.com/nocopythrift/nocopythrift/"

// Main runs a package's tests for its TestMain. With the tag nocopydebug it then fails if the
// library has made messages for itself and not released them. leaked is nocopy.Leaked.
func Main(m *testing.M, leaked func() []string) int {
	code := m.Run()
	if code != 0 || os.Getenv(ownProcess) != "" {
		return code
	}
	var ours map[string]string
	// Goroutines may still be releasing theirs
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		if ours = kept(leaked()); len(ours) == 0 {
			return 0
		}
		if time.Now().After(end) {
			break
		}
	}
	fmt.Println("the library has not released messages that it has made for itself, in:")
	for function, stack := range ours {
		fmt.Printf("%s\n%s\n", function, stack)
	}
	return 1
}

// gives matches the functions that return a message to their callers, which release it. Names are
// without the module's path. Those of generated code are in packages of all names.
var gives = regexp.MustCompile(`^(` + strings.Join([]string{
	`nocopy/internal/engine\.(New|NewIn|NewInto|Parse|ParseInto|ParseIn|ParseBlocks|ParseChunk|ParseOwn|ParseBegun|ParsePrefix|ParseEncoded|Reparse|Read|OpenIndexed|CopyForCall|ParseForCall)`,
	`nocopy/internal/engine\.(building|expecting|fromPool|newMessage|parseWith|makeMessage)`,
	`nocopy/internal/engine\.Struct\.(Clone|linkOrClone|toSend|claimCopy|ClaimCopy|ClaimToSend)(\.func\d+)?`,
	`nocopy/internal/engine\.\(\*(Draft|Message)\)\.(New|Root)`,
	`nocopy\.(ParseInto|NewInto|Read|ParseBlocks|OpenIndexed|Struct\.Clone|\(\*stream\)\..*|\(\*Decoder\)\..*|\(\*elementStream\)\..*|\(\*ElementDecoder\)\..*)`,
	`nocopy/(thriftimpl|internal/impl)\.(New|NewIn|NewForCall|NewWith|Parse|ParseChunk|ParsePrefix|ParseEncoded|ParseForCall|Reparse|CopyForCall|FastRead|(SetJSON|GetJSON)(\.func\d+)?|setJSON)`,
	`nocopy/(nocopyjson|internal/jsonvalue)\.(read|Read|Unmarshal[A-Za-z]*)`,
	`nocopy/dynamic\.Type\.(New|Parse|Read|FromMap|FromJSON)`,
	`nocopy/reflection\.(Message\.Clone|\(\*Message\)\.UnmarshalJSON(From)?)`,
	`nocopy/internal/plain\.\(\*Writer\)\.New`,
	`nocopy/apachethrift\.(read|ReadStruct|FromApache|Read|\(\*structOf\)\.Read|\(\*callStruct\)\.(Read|outcome)|\(\*caller\)\.(NewArgs|Call)|\(\*(function|processor)\)\.Process)`,
	`nocopy/rpc\.(calls|inherited|\(\*(Client|options|Exception|Method|Call|clientTries|multiplexed|httpCaller)\))\.[A-Za-z]+`,
	`nocopy/rpc\.(callIntercepted|sendDeadline|callInterceptor|LogCalls\.func\d+|(callsBy\.)?wrap\.func\d+|\(\*retrier\)\.intercept)`,
	`nocopy/rpc/rpctest\..*`,
	`nocopy/rpc/internal/client\..*`,
	`nocopy/dynamic\.Client\.(NewArgs|Call)`,
	`nocopy/dynamic\.exceptionOf`,
	`(gen/internal|nocopy/validate/internal)/.*\.(New|Parse|Read)[A-Z][A-Za-z0-9_]*`,
	`.*\.(Clone|UnmarshalJSON|UnmarshalJSONFrom)`,
}, "|") + `)$`)

// exception copies an exception into an error, whose memory is the collector's.
const exception = "nocopy/rpc.(*Exception).get"

// program matches functions that stand for the program in tests.
var program = regexp.MustCompile(`^(examples|nocopy/tests)/`)

// kept returns the functions of the library that have made messages which they do not return, each
// with the stack of one message.
func kept(leaked []string) map[string]string {
	ours := map[string]string{}
	for _, stack := range leaked {
		lines := strings.Split(stack, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			function, file := strings.TrimSpace(lines[i]), strings.TrimSpace(lines[i+1])
			name, library := strings.CutPrefix(function, module)
			if name = strings.ReplaceAll(name, "[...]", ""); strings.Contains(file, "_test.go:") || name == exception || program.MatchString(name) {
				break
			}
			if library && !gives.MatchString(name) {
				ours[name] = stack
				break
			}
		}
	}
	return ours
}
