//! Tables before and after.

use moss::guest::serde_json::{self, Value};

use super::*;

fn table(text: &[u8], delimiter: u8, has_header: bool) -> Value {
    let table = profile("t.csv", text, delimiter, has_header, 0).unwrap();
    serde_json::to_value(table).unwrap()
}

#[test]
fn columns_have_the_narrowest_type() {
    for (values, kind) in [
        (&["1", "-2", ""][..], "integer"),
        (&["1", "2.5", "1e3"], "number"),
        (&["true", "FALSE"], "boolean"),
        (&["2026-01-31", "2026-01-31T10:00:00Z"], "date"),
        (&["2026-13-01"], "text"),
        (&["1", "x"], "text"),
        (&["01", "02"], "text"),
        (&["1", "true"], "text"),
        (&["", "NA", "n/a", "NULL"], "empty"),
        (&["inf", "nan"], "text"),
    ] {
        let mut column = Column::new("c".to_owned());
        values.iter().for_each(|value| column.add(value));
        let profile = serde_json::to_value(column.finish()).unwrap();
        assert_eq!(profile["type"], kind, "{values:?}");
    }
}

#[test]
fn ranges_are_by_number_or_by_text() {
    let table = table(b"n,t\n10,b\n9,\"a\nb\"\n-1,\n", b',', true);
    assert_eq!(table["rows"], 3);
    let (n, t) = (&table["columns"][0], &table["columns"][1]);
    assert_eq!((&n["min"], &n["max"], &n["mean"]), (&json!("-1"), &json!("10"), &json!(6.0)));
    assert_eq!((&t["min"], &t["max"], &t["mean"]), (&json!("a\nb"), &json!("b"), &json!(null)));
    assert_eq!((&t["empty"], &t["distinct"]), (&json!(1), &json!(2)));
}

#[test]
fn odd_tables_are_reported_as_they_are() {
    let ragged = table("\u{feff}a,b\n1\n1,2,3\n".as_bytes(), b',', true);
    assert_eq!((&ragged["rows"], &ragged["ragged_rows"]), (&json!(2), &json!(2)));
    assert_eq!(ragged["columns"][0]["name"], "a");
    let bare = table(b"1,2\n3,4\n", b',', false);
    assert_eq!((&bare["rows"], &bare["columns"][1]["name"]), (&json!(2), &json!("column 2")));
    let nothing = table(b"", b',', true);
    assert_eq!((&nothing["rows"], &nothing["columns"]), (&json!(0), &json!([])));
}

#[test]
fn distinct_values_are_counted_up_to_a_bound() {
    let mut column = Column::new("c".to_owned());
    (0..column::DISTINCT_MAX * 2).for_each(|number| column.add(&format!("x{}", number % 5001)));
    let profile = serde_json::to_value(column.finish()).unwrap();
    assert_eq!(profile["distinct"], column::DISTINCT_MAX);
    assert_eq!(profile["distinct_is_least"], true);
    assert_eq!(profile["examples"], json!(["x0", "x1", "x2"]));
}

#[test]
fn what_is_no_table_is_refused() {
    let wide = vec!["a"; COLUMNS_MAX + 1].join(",");
    let error = profile("t.csv", wide.as_bytes(), b',', true, 0).unwrap_err();
    assert_eq!(error.message, "t.csv: 201 columns, at most 200");
    let error = profile("t.csv", &b"a\n\xff\n"[..], b',', true, 0).unwrap_err();
    assert_eq!(error.message, "t.csv: not UTF-8 text in line 2");
}

#[test]
fn delimiters_are_found() {
    for (text, expected) in [
        ("a,b\n1,2\n", b','),
        ("a;b\n1,5;2,5\n", b';'),
        ("a\tb\tc, d\n1\t2\t3\n", b'\t'),
        ("a|b\n1|2\n", b'|'),
        ("\"a;b\",c\n\"1;2\",3\n", b','),
        ("one\ntwo\n", b','),
        ("", b','),
    ] {
        assert_eq!(delimiter::detect(text.as_bytes()), expected, "{text:?}");
    }
    assert_eq!(delimiter::parse("\\t").unwrap(), b'\t');
    for given in ["", "::", "\"", "\n", "é"] {
        assert!(delimiter::parse(given).is_err(), "{given:?}");
    }
}
