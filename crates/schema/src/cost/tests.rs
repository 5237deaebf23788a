//! Tests of the module `cost`.

use serde_json::{Map, json};

use super::*;

/// `a0` to `a<n>`, each made of two of the next.
fn doubled(count: usize, of_two: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for number in 0..count {
        let next = json!({ "$ref": format!("#/$defs/a{}", number + 1) });
        definitions.insert(format!("a{number}"), of_two(next));
    }
    definitions.insert(format!("a{count}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/a0", "$defs": definitions })
}

fn refused(schema: &Value) -> String {
    SchemaCost::of(schema).unwrap_err()
}

#[test]
fn ways_that_double_are_refused_wherever_they_lead() {
    let forms: [fn(Value) -> Value; 3] = [
        |next| json!({ "allOf": [next, next] }),
        |next| json!({ "properties": { "a": next, "b": next } }),
        |next| json!({ "items": next, "contains": next }),
    ];
    for form in forms {
        let why = refused(&doubled(40, form));
        assert!(why.contains("leads through more") || why.contains("nests more"), "{why}");
        SchemaCost::of(&doubled(3, form)).unwrap();
    }
}

#[test]
fn tracking_what_was_evaluated_counts_at_each_level() {
    let nested = |levels: usize| {
        (0..levels).fold(
            json!({ "type": "object" }),
            |inner, _| json!({ "unevaluatedProperties": false, "anyOf": [inner] }),
        )
    };
    assert!(refused(&nested(8)).contains("leads through more"));
    SchemaCost::of(&nested(3)).unwrap();
}

#[test]
fn what_comes_back_does_so_in_one_way_and_goes_deeper() {
    let tree = |node: Value| json!({ "$ref": "#/$defs/node", "$defs": { "node": node } });
    let node = json!({ "$ref": "#/$defs/node" });
    for plain in [
        json!({ "properties": { "left": node, "right": node, "all": { "items": node } } }),
        json!({ "anyOf": [{ "type": "null" }, { "items": node }, { "additionalProperties": node }] }),
        json!({ "prefixItems": [node, node] }),
    ] {
        assert!(SchemaCost::of(&tree(plain.clone())).unwrap().all.is_recursive, "{plain}");
    }
    for doubled in [
        json!({ "anyOf": [{ "properties": { "a": node } }, { "properties": { "a": node } }] }),
        json!({ "properties": { "a": node }, "patternProperties": { "b": node } }),
        json!({ "properties": { "a": { "properties": { "a": node } } }, "allOf": [
            { "properties": { "a": node } }] }),
        json!({ "items": node, "prefixItems": [true, node] }),
        json!({ "unevaluatedProperties": false, "anyOf": [{ "properties": { "a": node } }] }),
    ] {
        assert!(refused(&tree(doubled.clone())).contains("in two ways"), "{doubled}");
    }
    for endless in [node.clone(), json!({ "anyOf": [true, { "not": node }] })] {
        assert!(refused(&tree(endless)).contains("without going into the value"));
    }
    let mut circle = tree(json!({ "properties": { "a": { "$ref": "#/$defs/other" } } }));
    circle["$defs"]["other"] = json!({ "items": { "$ref": "#/$defs/node" } });
    assert!(SchemaCost::of(&circle).unwrap().all.is_recursive);
}

#[test]
fn what_is_not_there_or_too_much_is_said() {
    assert!(refused(&json!({ "$ref": "#/$defs/none" })).contains("`#/$defs/none`"));
    let many: Map<_, _> = (0..DEFINITIONS_MAX).map(|n| (n.to_string(), json!(true))).collect();
    assert!(refused(&json!({ "$defs": many })).contains("definitions"));
    let patterned = json!({ "allOf": vec![json!({ "pattern": "a" }); 101] });
    assert!(refused(&patterned).contains("patterns"));
    let mut nested = json!(true);
    for _ in 0..PLACE_DEPTH_MAX + 2 {
        nested = json!({ "not": nested });
    }
    assert!(refused(&nested).contains("nests more"));
}

#[test]
fn a_value_is_held_to_a_schema_as_long_as_that_is_little_work() {
    let choices: Vec<_> = (0..STEPS_MAX - 10).collect();
    let cost = SchemaCost::of(&json!({ "items": { "enum": choices } })).unwrap();
    let parts = WORK_MAX / STEPS_MAX;
    let allows = |cost: &SchemaCost, count: u64| {
        cost.work(&json!(vec![0; usize::try_from(count).unwrap()])).is_allowed()
    };
    assert!(allows(&cost, parts - 10));
    assert!(!allows(&cost, parts + 10));
    let fields = SchemaCost::of(&json!({ "properties": { "a": { "enum": choices } } })).unwrap();
    assert!(allows(&fields, parts + 10), "one field costs once");
}

/// What is allowed at most is held to a value as deep as JSON may be, on the stack of a worker.
#[test]
fn the_deepest_that_is_allowed_fits_on_a_stack() {
    let mut node = json!({ "items": { "$ref": "#/$defs/node" } });
    for _ in 0..PLACE_DEPTH_MAX - 1 {
        node = json!({ "anyOf": [node] });
    }
    let schema = json!({ "$ref": "#/$defs/node", "$defs": { "node": node } });
    SchemaCost::of(&schema).unwrap();
    let mut value = json!(1);
    for _ in 0..126 {
        value = json!([value]);
    }
    let held = move || {
        let validator = jsonschema::draft202012::options().build(&schema).unwrap();
        validator.iter_errors(&value).count()
    };
    let stack = std::thread::Builder::new().stack_size(2 << 20).spawn(held).unwrap();
    assert_eq!(stack.join().unwrap(), 0);
}

#[test]
fn long_texts_and_what_looks_at_all_of_a_value_count_by_their_size() {
    let works = |schema: Value, value: Value| SchemaCost::of(&schema).unwrap().work(&value);
    let pattern = json!({ "properties": { "a": { "pattern": "a[ab]{90}c" } } });
    let text = |bytes: usize| json!({ "a": "a".repeat(bytes) });
    assert!(works(pattern.clone(), text(1000)).is_light());
    let long = works(pattern.clone(), text(200_000));
    assert!(!long.is_light() && long.is_reportable());
    assert!(!works(pattern, text(8 << 20)).is_allowed());
    let unique = json!({ "allOf": vec![json!({ "uniqueItems": true }); 3000] });
    assert!(!works(unique, json!(vec![0; 90_000])).is_allowed());
    let names: Vec<_> = (0..7000).map(|number| format!("n{number}")).collect();
    let needed = json!({ "items": { "dependentRequired": { "a": names } } });
    let needed = works(needed, json!(vec![json!({ "a": 0 }); 500]));
    assert!(!needed.is_light() && !needed.is_reportable());
}

#[test]
fn a_pattern_counts_for_the_texts_that_it_stands_at() {
    let works = |schema: &Value, value: Value| SchemaCost::of(schema).unwrap().work(&value);
    let pattern = json!({ "pattern": "^[0-9a-f]{64}$" });
    let fields = json!({ "properties": { "hash": pattern, "text": { "type": "string" } } });
    let long = "a".repeat(100_000);
    assert!(works(&fields, json!({ "hash": "a", "text": long })).is_light());
    assert!(!works(&fields, json!({ "hash": long, "text": "a" })).is_light());
    // Where the field is not one of the value itself, any text may be the one.
    for anywhere in [
        json!({ "items": fields }),
        json!({ "additionalProperties": fields }),
        json!({ "patternProperties": { "^h": pattern } }),
        json!({ "properties": { "more": fields } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": fields } }),
        json!({ "properties": { "hash": { "$ref": "#/$defs/a" } }, "$defs": { "a": pattern } }),
    ] {
        assert!(!works(&anywhere, json!({ "text": long })).is_light(), "{anywhere}");
    }
    // However often it stands there.
    let often = |count| json!({ "properties": { "a": { "allOf": vec![pattern.clone(); count] } } });
    let once = works(&often(1), json!({ "a": long })).steps;
    assert!(works(&often(50), json!({ "a": long })).steps > 40 * once);
    assert!(refused(&often(101)).contains("patterns"));
}
