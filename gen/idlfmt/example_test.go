package idlfmt_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
)

func ExampleFormat() {
	out, err := idlfmt.Format("user.thrift", []byte("struct User{1:required i64 id;/* shown */ 2:string name(go.tag='x')}"))
	if err != nil {
		panic(err)
	}
	fmt.Print(string(out))
	// Output:
	// struct User {
	//   1: required i64 id;
	//   /* shown */ 2: string name (go.tag = 'x')
	// }
}
