// Descriptors of a business message, which tests of its index use.

package engine

import "strconv"

// keys are made beforehand: making them is not measured.
var keys = func() (k []string) {
	for i := range 40 {
		k = append(k, "key number "+strconv.Itoa(i))
	}
	return k
}()

var (
	someTimes = make([]int64, 50)
	someTags  = []string{"red", "green", "blue"}
)

func buildBusiness(s Struct) {
	s.SetInt64(fieldNamed(businessDesc, "id"), 1)
	items := StructList[Struct](s.NewChild(fieldNamed(businessDesc, "items"), businessDesc, 10))
	for i := range 10 {
		item := items.At(i)
		item.SetText(fieldNamed(itemDesc, "sku"), keys[i])
		item.SetInt32(fieldNamed(itemDesc, "count"), int32(i))
		labels := StringMap(item.NewChild(fieldNamed(itemDesc, "labels"), itemDesc, 3))
		for k := range 3 {
			labels.Put(keys[k], keys[k+i])
		}
		item.SetInt64s(fieldNamed(itemDesc, "prices"), itemDesc, someTimes[:5])
	}
	totals := Map[string, int64, AsString, AsInt64](s.NewChild(fieldNamed(businessDesc, "totals"), businessDesc, 0))
	for i, key := range keys { // more than are looked up one by one
		totals.Put(key, int64(i))
	}
	s.SetInt64s(fieldNamed(businessDesc, "times"), businessDesc, someTimes)
	s.SetTexts(fieldNamed(businessDesc, "tags"), businessDesc, someTags)
	byNumber := StructMap[int32, Struct, AsInt32](s.NewChild(fieldNamed(businessDesc, "byNumber"), businessDesc, 0))
	for i := range 5 {
		byNumber.PutNew(int32(i)).SetInt32(fieldNamed(callerDesc, "pid"), int32(i))
	}
	matrix := NestedList[Int32List](s.NewChild(fieldNamed(businessDesc, "matrix"), businessDesc, 4))
	for i := range 4 {
		row := matrix.NewAt(i, 4)
		row.Set(i, 1)
	}
	unique := StringList(s.NewChild(fieldNamed(businessDesc, "unique"), businessDesc, 0))
	for i := range keys {
		unique.Add(keys[i])
	}
}
