package wide

import "testing"

// TestWide: fields of all types of a wide struct, and a wide union, are written and read.
func TestWide(t *testing.T) {
	row := NewRow()
	if row.GetNumber() != 7 {
		t.Errorf("default %d", row.GetNumber())
	}
	row.SetFlag(true)
	row.SetText("a")
	row.SetLevel(Level_HIGH)
	row.NewPart().SetText("b")
	row.SetNumbers([]int32{1, 2})
	row.SetF60(60)
	got, err := ParseRow(row.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(row) || got.GetF60() != 60 || got.GetLevel() != Level_HIGH || got.GetPart().GetText() != "b" {
		t.Errorf("%v", got)
	}
	var values RowFields
	if err := values.Parse(row.Message().Bytes()); err != nil || values.F60 != 60 || !NewRowOf(values).Equal(got) {
		t.Errorf("%v, %+v", err, values)
	}
	choice := NewChoice()
	choice.SetF60(1)
	choice.SetText("c")
	if choice.Which() != Choice_Text || choice.IsSetF60() || choice.GetText() != "c" {
		t.Errorf("%v", choice)
	}
}
