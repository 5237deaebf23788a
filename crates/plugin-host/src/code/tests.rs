//! What a seal holds.

use super::*;
use crate::engine::{Allocation, Engine, EngineOptions};

const KEY: CodeKey = CodeKey::from_bytes([7; 32]);
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn engine() -> Engine {
    let options = EngineOptions { allocation: Allocation::OnDemand, ..EngineOptions::default() };
    Engine::new(options).unwrap()
}

#[test]
fn sealed_code_is_opened_with_its_key_and_loaded() {
    let engine = engine();
    let id = CodeId::new(engine.id(), Sha256Digest::of(COMPONENT));
    let sealed = compile_sealed(&KEY, COMPONENT).unwrap();
    let code = KEY.open(id, sealed).expect("it is what was made");
    assert!(code.sealed().is_some());
    code.load(engine.wasm()).unwrap();
}

#[test]
fn not_one_byte_of_it_can_be_changed() {
    let id = CodeId::new(engine().id(), Sha256Digest::of(COMPONENT));
    let sealed = compile_sealed(&KEY, COMPONENT).unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(KEY.open(id, changed).is_none(), "byte {at}");
    }
    for length in [0, SEAL_BYTES - 1, SEAL_BYTES, CODE_STARTS_AT, sealed.len() - 1] {
        assert!(KEY.open(id, sealed[..length].to_vec()).is_none(), "{length} bytes");
    }
    let mut longer = sealed.clone();
    longer.push(0);
    assert!(KEY.open(id, longer).is_none());
}

#[test]
fn code_under_another_key_or_of_another_component_is_none() {
    let engine = engine();
    let id = CodeId::new(engine.id(), Sha256Digest::of(COMPONENT));
    let sealed = compile_sealed(&KEY, COMPONENT).unwrap();
    assert!(CodeKey::from_bytes([8; 32]).open(id, sealed.clone()).is_none());
    let other = CodeId::new(engine.id(), Sha256Digest::of(b"other"));
    assert!(KEY.open(other, sealed).is_none());
    assert_ne!(id.name(), other.name());
    assert_eq!(id.name().len(), 64);
}

#[test]
fn a_pool_makes_no_difference_to_the_code() {
    let pooled = Engine::new(EngineOptions { calls_max: 1, ..EngineOptions::default() }).unwrap();
    assert!(pooled.is_pooled(), "the tests need address space for a pool of one call");
    let digest = Sha256Digest::of(COMPONENT);
    assert_eq!(CodeId::new(pooled.id(), digest), CodeId::new(engine().id(), digest));
}
