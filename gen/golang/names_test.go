package golang

import "testing"

// The Go names are those of Apache's compiler 0.17 (thrift --gen go).
func TestPublicName(t *testing.T) {
	for name, want := range map[string]string{
		"get_x": "GetX", "uuid": "UUID", "id": "ID", "user_id": "UserID", "a": "A", "_lead": "_lead", "x_": "X_",
		"newThing": "NewThing_", "new_thing2": "NewThing2_", "myArgs": "MyArgs_", "result": "Result_",
		"isSetFoo": "IsSetFoo", "http_url": "HTTPURL", "HTTPUrl": "HTTPUrl", "url_Id": "URL_Id", "__id": "_ID",
		"a__b": "A_B", "abc_1d": "Abc_1d", "api": "API", "type": "Type", "userId": "UserId", "utf8_name": "UTF8Name",
		"i_d_id": "IDID", "ids": "Ids", "id_": "ID_", "New": "New_", "Args": "Args_", "x_Y_z": "X_YZ",
		"id_Name": "ID_Name", "_Id": "_Id", "MAX_ID": "MAX_ID", "some_const": "SomeConst", "my_id_list": "MyIDList",
	} {
		if got := publicName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user.go", "User-x": "User-x.go", "a_test": "a_test_.go", "a_linux": "a_linux_.go", "linux": "linux.go",
		"a_linux.b": "a_linux_.b.go", "a.b_test": "a.b_test_.go", "_x": "x_x.go", ".x": "x.x.go", "a b": "a_b.go",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestPackageName(t *testing.T) {
	for name, want := range map[string]string{
		"user": "user", "a-b": "a_b", "type": "type_", "main": "main_", "2fa": "_2fa", "_": "thrift_", "Big": "Big", "error": "error",
	} {
		if got := packageName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}
