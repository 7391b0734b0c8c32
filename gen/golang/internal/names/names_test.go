package names

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// The Go names are those of Apache's compiler 0.17 (thrift --gen go), which does not export names
// that begin with an underscore.
func TestPublicName(t *testing.T) {
	for name, want := range map[string]string{
		"get_x": "GetX", "uuid": "UUID", "id": "ID", "user_id": "UserID", "a": "A", "_lead": "X_lead", "x_": "X_",
		"newThing": "NewThing_", "new_thing2": "NewThing2_", "myArgs": "MyArgs_", "result": "Result_",
		"isSetFoo": "IsSetFoo", "http_url": "HTTPURL", "HTTPUrl": "HTTPUrl", "url_Id": "URL_Id", "__id": "X_ID",
		"a__b": "A_B", "abc_1d": "Abc_1d", "api": "API", "type": "Type", "userId": "UserId", "utf8_name": "UTF8Name",
		"i_d_id": "IDID", "ids": "Ids", "id_": "ID_", "New": "New_", "Args": "Args_", "x_Y_z": "X_YZ",
		"id_Name": "ID_Name", "_Id": "X_Id", "MAX_ID": "MAX_ID", "some_const": "SomeConst", "my_id_list": "MyIDList",
	} {
		if got := Public(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

// TestGolintNames: Options.Golint changes only initialisms.
func TestGolintNames(t *testing.T) {
	for name, want := range map[string]string{
		"userId": "UserID", "user_id": "UserID", "imageUrl": "ImageURL", "UrlList": "URLList", "url_Id": "URL_ID", "ids": "Ids",
		"HTTPUrl": "HTTPUrl", "sqlQuery": "SQLQuery", "acl": "ACL", "Identity": "Identity", "MAX_SIZE": "MAX_SIZE", "a": "A",
		"newId": "NewID_", "_lead": "X_lead", "x_": "X_", "idIdId": "IDIDID", "utf8_name": "UTF8Name", "ip4": "IP4", "": "",
	} {
		if got := (&Names{opt: Options{Golint: true}}).public(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
		if got := (&Names{}).public(name); got != Public(name) {
			t.Errorf("%s becomes %s without the option", name, got)
		}
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user.go", "User-x": "User-x.go", "a_test": "a_test_.go", "a_linux": "a_linux_.go", "linux": "linux.go",
		"a_linux.b": "a_linux_.b.go", "a.b_test": "a.b_test_.go", "_x": "x_x.go", ".x": "x.x.go", "a b": "a_b.go",
		"-x": "x-x.go", "con": "con_.go", "Aux.x": "Aux_.x.go", "a_windows_amd64": "a_windows_amd64_.go", "a_linux_test": "a_linux_test_.go",
		"a_js": "a_js_.go", "wasm": "wasm.go", "_linux": "x_linux_.go", "a+build": "a_build.go", "c++": "c__.go", "größe": "größe.go",
		"a\nb": "a_b.go", "a\xffb": "a_b.go", "a_unix": "a_unix.go", "": "thrift.go",
	} {
		if got := FileName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestPackageName(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user", "a-b": "a_b", "type": "type_", "main": "main_", "2fa": "_2fa", "_": "thrift_", "Big": "Big", "error": "error",
		"documentation": "documentation_", "init": "init_", "foo_test": "foo_test", "größe": "gr__e",
	} {
		if got := PackageName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestFolderName(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user", "_": "x_", "_x": "x_x", ".x": "x.x", "-x": "x-x", "testdata": "testdata_", "vendor": "vendor_", "con": "con_",
		"NUL": "NUL_", "com1": "com1_", "com": "com", "internal": "internal", "main": "main", "type": "type", "x_": "x_", "aux.b": "aux.b_",
	} {
		if got := FolderName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

// TestPlatforms: platforms has every operating system and processor that the go command knows.
func TestPlatforms(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/internal/syslist/syslist.go"))
	if err != nil {
		t.Skip(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*"(\w+)":\s+true,`).FindAllSubmatch(list, -1) {
		if !platforms[string(m[1])] {
			t.Errorf("%s is missing", m[1])
		}
	}
}

// TestFree: names that collide get underscores, and after maxUnderscores a number. What they cost
// does not grow with their number.
func TestFree(t *testing.T) {
	s := Scope{"A__": true, "A________3": true}
	want := []string{"A", "A_", "A___", "A____", "A_____", "A______", "A_______", "A________0", "A________1", "A________2", "A________4"}
	for _, name := range want {
		if got := s.Unique("A"); got != name {
			t.Errorf("the name is %s, want %s", got, name)
		}
	}
	asked := 0
	for range 4096 {
		name := Free("B", func(name string) bool { asked++; return s[name] })
		if len(name) > 13 {
			t.Fatalf("the name is %s", name)
		}
		s[name] = true
	}
	if asked > 4096*40 {
		t.Errorf("4,096 names took %d questions", asked)
	}
}
