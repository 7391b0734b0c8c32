package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
)

// prefix is how variables of the environment begin that a project file may name. Others, such as
// $AWS_SECRET_ACCESS_KEY, are not the tool's.
const prefix = "NOCOPY_"

var variables = regexp.MustCompile(`\$\{([^}]*)\}`)

// variable returns the name of the first variable in a text, and what the text has besides.
func variable(text string) (name, rest string, ok bool) {
	m := variables.FindStringSubmatchIndex(text)
	if m == nil {
		return "", text, false
	}
	return text[m[2]:m[3]], text[:m[0]] + text[m[1]:], true
}

var variableName = regexp.MustCompile(`^` + prefix + `[A-Z0-9_]+$`)

// checkVariables returns what is wrong with the variables that a text names.
func checkVariables(text string) error {
	for _, m := range variables.FindAllStringSubmatch(text, -1) {
		if !variableName.MatchString(m[1]) {
			return fmt.Errorf("the file may name variables that begin with %s, not ${%s}", prefix, shell.OneLine(m[1]))
		}
	}
	if rest := variables.ReplaceAllString(text, ""); strings.Contains(rest, "${") {
		return errors.New("${ is not closed by }")
	}
	return nil
}

// secretHeader matches the names of headers whose values are secrets.
var secretHeader = regexp.MustCompile(`(?i)authorization|cookie|token|secret|passw|credential|api-?key`)

// checkHeader returns an error if a header is a secret that the file has: all who have the file
// could read it.
func checkHeader(name, value string) error {
	if secretHeader.MatchString(name) && !variables.MatchString(value) {
		return fmt.Errorf("this header's value is a secret, perhaps, which all who have the file could read: write a variable, such as ${%sTOKEN}", prefix)
	}
	return nil
}

// checkAddress returns an error if an address has a password, or a space: ", tls" after the
// address of what was allowed means TLS.
func checkAddress(text string) error {
	text = variables.ReplaceAllString(text, "")
	if network, _ := target.Address(text); network != "unix" && strings.Contains(text, " ") {
		return fmt.Errorf("%s has a space", quoted(text))
	}
	u, err := target.URL(text)
	if err != nil || u.User == nil {
		return nil
	}
	if password, ok := u.User.Password(); ok && password != "" {
		return fmt.Errorf("a password in the file can be read by all who have the file: write a variable, such as ${%sPASSWORD}", prefix)
	}
	return nil
}

// names returns the names of the variables in a text.
func names(text string) (all []string) {
	for _, m := range variables.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// unset returns the name of a variable in a text that is not set; "" if there is none.
func unset(text string) string {
	for _, name := range names(text) {
		if _, ok := os.LookupEnv(name); !ok {
			return name
		}
	}
	return ""
}

// expand replaces variables by their values.
func (f *Project) expand(v Value) (string, error) {
	switch missing := unset(v.Text); {
	case missing != "" && f.showing:
		return v.Text, nil
	case missing != "":
		return "", f.wrong(v, "the variable %s is not set", missing)
	}
	return variables.ReplaceAllStringFunc(v.Text, func(text string) string { return os.Getenv(text[2 : len(text)-1]) }), nil
}

// A use is a variable of the user that goes to an address, or a login there.
type use struct {
	variable, to string // variable is kerberosLogin for one
	at           Value
}

// kerberosLogin stands for a login with the user's tickets. A server that gets one for another
// server can use it there.
const kerberosLogin = "a login by Kerberos"

func (u use) String() string {
	if u.variable == kerberosLogin {
		return kerberosLogin + " to " + u.to
	}
	return "$" + u.variable + " to " + u.to
}

// asked says what a command would do.
func (u use) asked() string {
	if u.variable == kerberosLogin {
		return "log in by Kerberos at " + u.to
	}
	return "send the variable " + u.variable + " to " + u.to
}

// uses returns which variables a target sends, and to which address, and whether it logs in there
// by Kerberos. It leaves out variables that stay on this machine. A login does not stay there:
// another user could listen at the address, and use it at the service that the file names.
func (f *Project) uses(t *Target) ([]use, error) {
	address, err := f.expand(t.address)
	if err != nil {
		return nil, err
	}
	local := target.IsLocal(address)
	to := shell.OneLine(f.where(t, address))
	var all []use
	add := func(name string, at Value) {
		if local && name != kerberosLogin {
			return
		}
		if !slices.ContainsFunc(all, func(u use) bool { return u.variable == name }) {
			all = append(all, use{name, to, at})
		}
	}
	// An address that is a variable is chosen by the user. One that has a variable in it sends it.
	if _, rest, ok := variable(t.address.Text); ok && rest != "" {
		to = shell.OneLine(f.where(t, t.address.Text))
		for _, name := range names(t.address.Text) {
			add(name, t.address)
		}
	}
	for key, values := range t.flags {
		if slices.Contains(pathKeys, key) { // a file's name is not sent
			continue
		}
		for _, v := range values {
			for _, name := range names(v.Text) {
				add(name, v)
			}
		}
	}
	// The flags have these variables without the file's help, and instead of what the file says.
	_, password := os.LookupEnv("NOCOPY_PASSWORD")
	_, login := os.LookupEnv("NOCOPY_SASL")
	at := append(slices.Clone(t.flags["sasl"]), t.address)[0]
	if password && (login || t.flags["sasl"] != nil) {
		add("NOCOPY_PASSWORD", at)
	}
	if by, err := f.mechanism(t); err != nil {
		return nil, err
	} else if strings.EqualFold(by, "GSSAPI") {
		add(kerberosLogin, at)
	}
	slices.SortStableFunc(all, func(a, b use) int { return strings.Compare(a.variable, b.variable) })
	return all, nil
}

// mechanism returns the SASL mechanism of a target's logins, "" if it has none.
func (f *Project) mechanism(t *Target) (string, error) {
	by, set := os.LookupEnv("NOCOPY_SASL")
	if v := t.flags["sasl"]; v != nil && !set {
		return f.expand(v[0])
	}
	return by, nil
}

// where returns an address, what protects the way to it, and the service to log in at.
func (f *Project) where(t *Target, address string) string {
	text := address
	for _, key := range []string{"tls", "insecure", "ca", "server-name", "sasl-service"} {
		if v := t.flags[key]; v != nil && v[0].Text != "false" {
			text += ", " + key
			if v[0].Text != "true" {
				text += " " + v[0].Text
			}
		}
	}
	return text
}

// allowedFile returns the name of the file with the uses that the user has allowed.
func allowedFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "nocopy", "allowed"), err
}

// allowed returns the uses that the user has allowed.
func allowed() ([]string, error) {
	name, err := allowedFile()
	if err != nil {
		return nil, nil // there is no home
	}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return strings.Split(string(text), "\n"), nil
}

// allow adds uses to those that the user has allowed.
func allow(all []use) error {
	name, err := allowedFile()
	if err != nil {
		return err
	}
	known, err := allowed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, u := range all {
		if !slices.Contains(known, u.String()) {
			if _, err := fmt.Fprintln(file, u); err != nil {
				return errors.Join(err, file.Close())
			}
		}
	}
	return file.Close()
}

// checkAllowed returns an error if the user has not allowed what a target sends.
func (f *Project) checkAllowed(t *Target) error {
	if f.showing {
		return nil
	}
	all, err := f.uses(t)
	if err != nil || len(all) == 0 {
		return err
	}
	known, err := allowed()
	if err != nil {
		return err
	}
	for _, u := range all {
		if !slices.Contains(known, u.String()) {
			return f.wrong(u.at, "this would %s: if that is right, allow it with nocopy config -allow %s", u.asked(), t.Name)
		}
	}
	return nil
}
