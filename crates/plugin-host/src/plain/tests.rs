//! Tests of plain components.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

use super::docs::TypeDocs;
use super::shape::{Integer, Shape};
use super::*;
use crate::{Allocation, EngineOptions};

fn engine() -> Engine {
    let options = EngineOptions { allocation: Allocation::OnDemand, ..EngineOptions::default() };
    Engine::new(options).unwrap()
}

fn plain(wat: &str) -> Result<Plain, String> {
    let engine = engine();
    let component = Component::new(engine.wasm(), wat::parse_str(wat).unwrap()).unwrap();
    Plain::of(&engine, &component, "p", &Docs::default())
}

/// A component that exports `f`, which takes nothing flat, of a type that is defined before.
fn of_type(definitions: &str, kind: &str) -> String {
    format!(
        "(component
           (core module $m (memory (export \"memory\") 1)
             (func (export \"f\") (param i32))
             (func (export \"realloc\") (param i32 i32 i32 i32) (result i32) (i32.const 0)))
           (core instance $i (instantiate $m))
           {definitions}
           (func $f (param \"x\" {kind}) (canon lift (core func $i \"f\")
             (memory (core memory $i \"memory\")) (realloc (core func $i \"realloc\"))))
           (export \"f\" (func $f)))"
    )
}

// === types ===

#[test]
fn a_type_that_is_too_deep_or_too_wide_is_refused() {
    let mut deep = "u32".to_owned();
    for _ in 0..40 {
        deep = format!("(option {deep})");
    }
    // A list, so that it has few flat values.
    let tuple = format!("(tuple {})", ["u8"].repeat(900).join(" "));
    let mut twice = tuple.clone();
    for _ in 0..3 {
        twice = format!("(tuple {twice} {twice})");
    }
    let fields: String = (0..9000).map(|index| format!("(field \"f{index}\" u8)")).collect();
    let record = format!("(type $r0 (record {fields})) (export $r \"r\" (type $r0))");
    for (definitions, kind, expected) in [
        ("", format!("(list {deep})"), "is nested deeper than 32 levels"),
        ("", format!("(list {twice})"), "has more than 4096 parts"),
        (record.as_str(), "(list $r)".to_owned(), "has more than 4096 parts"),
    ] {
        let wat = of_type(definitions, &kind).replace("(param i32))", "(param i32 i32))");
        let error = plain(&wat).err().unwrap();
        assert!(error.contains("`f`: its `x` ") && error.contains(expected), "{error}");
    }
    // Within the bounds of types, but not of schemas.
    let mut deep = "u32".to_owned();
    for _ in 0..20 {
        deep = format!("(result {deep})");
    }
    let wat = of_type("", &format!("(list {deep})")).replace("(param i32))", "(param i32 i32))");
    let error = plain(&wat).err().unwrap();
    assert!(error.contains("the schema of its parameters is nested deeper than"), "{error}");
}

#[test]
fn a_function_may_have_many_parameters() {
    let parameters: String = (0..40).map(|index| format!("(param \"p{index}\" u8)")).collect();
    let wat = of_type("", "u8").replace("(param \"x\" u8)", &parameters);
    let plain = plain(&wat).unwrap();
    let properties = &plain.tools[0].parameters["properties"];
    assert_eq!(properties.as_object().unwrap().len(), 40);
    assert!(plain.tools[0].description.len() < 1000);
}

#[test]
fn capabilities_are_requested_by_what_is_imported() {
    let import = |name: &str| format!("(import \"{name}\" (instance))");
    let imports = [
        "wasi:cli/environment@0.2.3",
        "wasi:filesystem/types@0.2.3",
        "wasi:filesystem/preopens@0.2.3",
        "wasi:http/outgoing-handler@0.2.3",
        "wasi:http/types@0.2.3",
    ];
    let imports: String = imports.map(import).concat();
    let plain = plain(&of_type(&imports, "u8")).unwrap();
    let described = plain.describe();
    let requests: Vec<_> = described
        .capabilities
        .iter()
        .map(|each| (each.kind.as_str(), each.scope.as_str(), each.reason.as_str()))
        .collect();
    assert_eq!(
        requests,
        [
            ("fs", ".", "the component imports wasi:filesystem"),
            ("http", "*", "the component imports wasi:http"),
            ("http", "http://*", "the component imports wasi:http"),
            ("env", "*", "the component imports wasi:cli"),
        ]
    );
    assert_eq!(described.tools[0].annotations.open_world, Some(true));
    crate::description::read("p", described).unwrap();
}

// === names ===

fn export(interface: Option<&str>, function: &str) -> Export {
    Export { interface: interface.map(str::to_owned), function: function.to_owned() }
}

#[test]
fn tools_are_named_after_plugin_and_function() {
    let exports = [
        export(None, "get-time"),
        export(Some("a:b/clock@1.0.0"), "now"),
        export(Some("a:b/clock@1.0.0"), "set-URL"),
        export(Some("c:d/watch"), "set-url"),
        export(Some("plain"), "now-or-never"),
    ];
    assert_eq!(
        names::tools("my-plugin", &exports).unwrap(),
        [
            "my_plugin_get_time",
            "my_plugin_now",
            "my_plugin_clock_set_url",
            "my_plugin_watch_set_url",
            "my_plugin_now_or_never",
        ]
    );
    let exports = [export(Some("a:b/x"), "y"), export(Some("a:b/z"), "y"), export(None, "x-y")];
    assert_eq!(
        names::tools("p", &exports).unwrap_err(),
        "`a:b/x#y` and `x-y` would both be the tool `p_x_y`"
    );
}

// === documentation ===

/// A component without anything but custom sections.
fn sections(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    for (name, data) in sections {
        let size = 1 + name.len() + data.len();
        bytes.extend([0, (size & 0x7f) as u8 | 0x80, (size >> 7) as u8, name.len() as u8]);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(data);
    }
    bytes
}

fn package(docs: &serde_json::Value) -> Vec<u8> {
    [&[1], docs.to_string().as_bytes()].concat()
}

#[test]
fn damaged_sections_are_no_documentation() {
    let whole = sections(&[
        ("version", b"1"),
        (
            "package-docs",
            &package(&json!({
                "worlds": { "w": { "func_exports": { "f": { "docs": "F." } } } }
            })),
        ),
    ]);
    assert_eq!(docs(&whole).function(None, "f"), Some("F."));
    for end in 0..whole.len() {
        assert_eq!(docs(&whole[..end]).function(None, "f"), None, "{end}");
    }
    for data in [&b""[..], b"\x02{}", b"\x01{", b"\x01[1]", b"\x01{\"worlds\":3}", b"\x01\xff"] {
        assert_eq!(docs(&sections(&[("package-docs", data)])), Docs::default());
    }
    for version in [&b""[..], b" ", b"1\n2", b"1 2", "1\u{202e}".as_bytes(), b"\xff"] {
        assert_eq!(docs(&sections(&[("version", version)])).version, None);
    }
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(docs(&sections(&[("package-docs", &package(&json!(deep)))])), Docs::default());
}

#[test]
fn texts_are_bounded_and_contested_ones_are_dropped() {
    let long = "ü".repeat(4000);
    let read = docs(&sections(&[(
        "package-docs",
        &package(&json!({
            "worlds": {
                "a": { "func_exports": {
                    "f": { "docs": "one" },
                    "g": { "docs": "a\tb\u{7}\r\nc " },
                } },
                "b": { "func_exports": { "f": { "docs": "two" }, "g": { "docs": "a b\nc" } } },
            },
            "interfaces": {
                "i": { "types": { "t": { "docs": "T of i." }, "u": { "docs": "U." } } },
                "j": { "funcs": { "f": long }, "types": { "t": { "docs": "T of j." } } },
            },
        })),
    )]));
    assert_eq!(read.function(None, "f"), None);
    assert_eq!(read.function(None, "g"), Some("a b\nc"));
    let text = read.function(Some("j"), "f").unwrap();
    assert!(text.len() <= 4096 && text.ends_with("ü…"), "{}", text.len());
    assert_eq!(read.kind(Some("i"), "t").unwrap().text, "T of i.");
    assert_eq!(read.kind(None, "u").unwrap().text, "U.");
    assert_eq!(read.kind(None, "t"), None);
    let kept: Docs = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
    assert_eq!(kept, read);
}

proptest! {
    #[test]
    fn any_bytes_have_some_documentation(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        docs(&bytes);
        docs(&sections(&[("package-docs", &[&[1], bytes.as_slice()].concat())]));
    }
}

// === values ===

fn schema(shape: &Shape) -> serde_json::Value {
    let signature = Signature { parameters: Vec::new(), returns: Returns::Value(shape.clone()) };
    Schemas { named: &[] }.output(&signature)
}

#[test]
fn each_type_has_its_schema() {
    let string = || Box::new(Shape::String);
    for (shape, expected) in [
        (
            Shape::Integer(Integer::S64),
            json!({ "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX }),
        ),
        (Shape::Option(string()), json!({ "type": ["string", "null"] })),
        (
            Shape::Option(Box::new(Shape::Enum(vec!["a".to_owned()]))),
            json!({ "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] }),
        ),
        (
            Shape::Option(Box::new(Shape::Option(string()))),
            json!({
                "type": ["object", "null"],
                "properties": { "some": { "type": ["string", "null"] } },
                "required": ["some"],
                "additionalProperties": false,
            }),
        ),
        (
            Shape::Result(Some(string()), None),
            json!({ "anyOf": [
                { "type": "string", "enum": ["error"] },
                {
                    "type": "object",
                    "properties": { "ok": { "type": "string" } },
                    "required": ["ok"],
                    "additionalProperties": false,
                },
            ] }),
        ),
        (
            Shape::Tuple(vec![Shape::Bool, Shape::Char]),
            json!({
                "type": "array",
                "prefixItems": [
                    { "type": "boolean" },
                    { "type": "string", "minLength": 1, "maxLength": 1 },
                ],
                "items": false,
                "minItems": 2,
                "maxItems": 2,
            }),
        ),
    ] {
        assert_eq!(schema(&shape), expected, "{shape:?}");
    }
}

#[test]
fn texts_of_types_with_the_same_names_are_taken_only_where_they_agree() {
    let one = TypeDocs { text: "One.".to_owned(), ..TypeDocs::default() };
    let two = TypeDocs { text: "Two.".to_owned(), ..TypeDocs::default() };
    let named = |docs| DocumentedType { names: vec!["a".to_owned()], docs };
    let shape = Shape::Enum(vec!["a".to_owned()]);
    let signature = Signature { parameters: Vec::new(), returns: Returns::Value(shape) };
    for (named, expected) in [
        (vec![named(&one), named(&one)], json!("One.")),
        (vec![named(&one), named(&two)], json!(null)),
    ] {
        assert_eq!(Schemas { named: &named }.output(&signature)["description"], expected);
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    use Integer::{S8, S16, S32, S64, U8, U16, U32, U64};

    let names = || subsequence(vec!["a".to_owned(), "b-c".to_owned(), "some".to_owned()], 1..=3);
    let leaf = prop_oneof![
        Just(Shape::Bool),
        select(vec![S8, U8, S16, U16, S32, U32, S64, U64]).prop_map(Shape::Integer),
        Just(Shape::Float32),
        Just(Shape::Float64),
        Just(Shape::Char),
        Just(Shape::String),
        names().prop_map(Shape::Enum),
        names().prop_map(Shape::Flags),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let payload = || prop::option::of(inner.clone());
        let several = || prop::collection::vec(inner.clone(), 3);
        prop_oneof![
            inner.clone().prop_map(|item| Shape::List(Box::new(item))),
            inner.clone().prop_map(|held| Shape::Option(Box::new(held))),
            inner.clone().prop_map(|held| Shape::Option(Box::new(Shape::Option(Box::new(held))))),
            several().prop_map(Shape::Tuple),
            (names(), several())
                .prop_map(|(names, shapes)| Shape::Record(names.into_iter().zip(shapes).collect())),
            (names(), prop::collection::vec(payload(), 3)).prop_map(|(names, shapes)| {
                Shape::Variant(names.into_iter().zip(shapes).collect())
            }),
            (payload(), payload())
                .prop_map(|(ok, error)| Shape::Result(ok.map(Box::new), error.map(Box::new))),
        ]
    })
}

fn values(shape: &Shape) -> BoxedStrategy<Val> {
    let payload = |payload: Option<&Shape>| match payload {
        None => Just(None).boxed(),
        Some(shape) => values(shape).prop_map(|held| Some(Box::new(held))).boxed(),
    };
    match shape {
        Shape::Bool => any::<bool>().prop_map(Val::Bool).boxed(),
        Shape::Integer(Integer::S8) => any::<i8>().prop_map(Val::S8).boxed(),
        Shape::Integer(Integer::U8) => any::<u8>().prop_map(Val::U8).boxed(),
        Shape::Integer(Integer::S16) => any::<i16>().prop_map(Val::S16).boxed(),
        Shape::Integer(Integer::U16) => any::<u16>().prop_map(Val::U16).boxed(),
        Shape::Integer(Integer::S32) => any::<i32>().prop_map(Val::S32).boxed(),
        Shape::Integer(Integer::U32) => any::<u32>().prop_map(Val::U32).boxed(),
        Shape::Integer(Integer::S64) => any::<i64>().prop_map(Val::S64).boxed(),
        Shape::Integer(Integer::U64) => any::<u64>().prop_map(Val::U64).boxed(),
        Shape::Float32 => any::<f32>().prop_map(Val::Float32).boxed(),
        // Reading JSON may miss the last bit of a longer number.
        Shape::Float64 => any::<f32>().prop_map(|number| Val::Float64(number.into())).boxed(),
        Shape::Char => any::<char>().prop_map(Val::Char).boxed(),
        Shape::String => any::<String>().prop_map(Val::String).boxed(),
        Shape::List(item) => prop::collection::vec(values(item), 0..4).prop_map(Val::List).boxed(),
        Shape::Tuple(items) => {
            items.iter().map(values).collect::<Vec<_>>().prop_map(Val::Tuple).boxed()
        }
        Shape::Record(fields) => fields
            .iter()
            .map(|(name, shape)| (Just(name.clone()), values(shape)))
            .collect::<Vec<_>>()
            .prop_map(Val::Record)
            .boxed(),
        Shape::Variant(cases) => select(cases.clone())
            .prop_flat_map(move |(name, shape)| (Just(name), payload(shape.as_ref())))
            .prop_map(|(name, held)| Val::Variant(name, held))
            .boxed(),
        Shape::Result(ok, error) => prop_oneof![
            payload(ok.as_deref()).prop_map(|held| Val::Result(Ok(held))),
            payload(error.as_deref()).prop_map(|held| Val::Result(Err(held))),
        ]
        .boxed(),
        Shape::Enum(names) => select(names.clone()).prop_map(Val::Enum).boxed(),
        Shape::Flags(names) => {
            subsequence(names.clone(), 0..=names.len()).prop_map(Val::Flags).boxed()
        }
        Shape::Option(held) => {
            prop::option::of(values(held)).prop_map(|held| Val::Option(held.map(Box::new))).boxed()
        }
    }
}

proptest! {
    #[test]
    fn a_value_becomes_json_of_its_schema_and_itself_again(
        (shape, value) in shapes().prop_flat_map(|shape| {
            let values = values(&shape);
            (Just(shape), values)
        })
    ) {
        let finite = !format!("{value:?}").contains("NaN") && !format!("{value:?}").contains("inf");
        prop_assume!(finite);
        let text = output::json(&value, 1 << 20).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let schema = schema(&shape);
        prop_assert!(jsonschema::draft202012::is_valid(&schema, &json), "{schema} {json}");
        prop_assert_eq!(arguments::value(&shape, &json).unwrap(), value.clone());
        prop_assert_eq!(output::json(&value, text.len()), Ok(text.clone()));
        prop_assert_eq!(output::json(&value, text.len() - 1), Err(Unwritable::TooLong));
    }

    #[test]
    fn json_that_a_schema_refuses_is_no_value(shape in shapes(), other in shapes()
        .prop_flat_map(|shape| values(&shape)))
    {
        if let Ok(text) = output::json(&other, 1 << 20) {
            let json = serde_json::from_str(&text).unwrap();
            let is_valid = jsonschema::draft202012::is_valid(&schema(&shape), &json);
            prop_assert_eq!(arguments::value(&shape, &json).is_ok(), is_valid);
        }
    }
}

#[test]
fn an_infinite_part_is_named_by_its_location() {
    let value = Val::Record(vec![(
        "a".to_owned(),
        Val::List(vec![Val::Float32(1.0), Val::Float32(f32::NEG_INFINITY)]),
    )]);
    let why = output::json(&value, 100).unwrap_err().explanation().unwrap();
    assert_eq!(why, "the output at `/a/1` is -inf, which JSON cannot hold");
}
