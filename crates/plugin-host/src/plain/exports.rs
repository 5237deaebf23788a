//! What a component exports: the functions that may be tools, and the types that they may use.

use wasmtime::component::types::{ComponentInstance, ComponentItem, Type};
use wasmtime::component::{Component, ComponentExportIndex};

use super::docs::{Docs, DocumentedType};
use super::names::Export;
use super::shape::Signature;
use moss_plugin_list::tool_names::TOOLS_MAX;
use moss_sdk::deceptive::quoted;

/// Most exports that are looked at.
const EXPORTS_MAX: usize = 4096;

/// A function before it is a tool.
pub(super) struct ExportedFunction {
    pub(super) export: Export,
    pub(super) signature: Signature,
    pub(super) function: ComponentExportIndex,
}

/// Looks through the exports of a component.
pub(super) struct ExportSearch<'a> {
    engine: &'a wasmtime::Engine,
    component: &'a Component,
    pub(super) candidates: Vec<ExportedFunction>,
    pub(super) left_out: Vec<String>,
    exports: usize,
}

/// The documented types that a function may use.
pub(super) fn named_types<'d>(
    engine: &wasmtime::Engine,
    component: &Component,
    export: &Export,
    docs: &'d Docs,
) -> Vec<DocumentedType<'d>> {
    if !docs.has_types() {
        return Vec::new();
    }
    let interface = export.short_interface();
    let kind = component.component_type();
    let mut named = Vec::new();
    let mut add = |interface: Option<&str>, name: &str, item: &ComponentItem| {
        if let ComponentItem::Type(kind) = item
            && let Some(docs) = docs.kind(interface, name)
            && let Some(names) = names_of(kind)
        {
            named.push(DocumentedType { names, docs });
        }
    };
    let of_instance = |instance: &ComponentInstance, add: &mut dyn FnMut(&str, &ComponentItem)| {
        instance.exports(engine).take(EXPORTS_MAX).for_each(|(name, item)| add(name, &item.ty));
    };
    let root = kind.exports(engine).take(EXPORTS_MAX);
    match &export.interface {
        Some(whole) => {
            for (_, item) in root.filter(|(name, _)| name == whole) {
                if let ComponentItem::ComponentInstance(instance) = &item.ty {
                    of_instance(instance, &mut |name, item| add(interface, name, item));
                }
            }
        }
        // The types of a world are imported, alone or with the interface that they come from.
        None => {
            for (name, item) in root.chain(kind.imports(engine).take(EXPORTS_MAX)) {
                match &item.ty {
                    ComponentItem::ComponentInstance(instance) => {
                        of_instance(instance, &mut |name, item| add(None, name, item));
                    }
                    item => add(None, name, item),
                }
            }
        }
    }
    named
}

/// The names of the fields, cases or names of a type that has such.
fn names_of(kind: &Type) -> Option<Vec<String>> {
    Some(match kind {
        Type::Record(record) => record.fields().map(|field| field.name.to_owned()).collect(),
        Type::Variant(variant) => variant.cases().map(|case| case.name.to_owned()).collect(),
        Type::Enum(names) => names.names().map(str::to_owned).collect(),
        Type::Flags(names) => names.names().map(str::to_owned).collect(),
        _ => return None,
    })
}

// === impl ExportSearch ===

impl<'a> ExportSearch<'a> {
    pub(super) fn new(engine: &'a wasmtime::Engine, component: &'a Component) -> Self {
        Self { engine, component, candidates: Vec::new(), left_out: Vec::new(), exports: 0 }
    }

    /// Finds the functions.
    ///
    /// # Errors
    ///
    /// Where there are too many exports.
    pub(super) fn run(&mut self) -> Result<(), String> {
        let component = self.component;
        for (name, item) in component.component_type().exports(self.engine) {
            match item.ty {
                ComponentItem::ComponentInstance(_) if name.starts_with("wasi:") => {
                    self.leave_out(
                        name,
                        "an interface of WASI is for the host that it is made for",
                    );
                }
                ComponentItem::ComponentInstance(instance) => self.interface(name, &instance)?,
                item => self.item(None, name, &item)?,
            }
        }
        if self.candidates.len() > TOOLS_MAX {
            let functions = self.candidates.len();
            return Err(format!("it exports {functions} functions; at most {TOOLS_MAX} are tools"));
        }
        Ok(())
    }

    fn interface(&mut self, interface: &str, instance: &ComponentInstance) -> Result<(), String> {
        for (name, item) in instance.exports(self.engine) {
            if matches!(item.ty, ComponentItem::ComponentInstance(_)) {
                let name = format!("{interface}#{name}");
                self.leave_out(&name, "an interface within an interface is not looked into");
            } else {
                self.item(Some(interface), name, &item.ty)?;
            }
        }
        Ok(())
    }

    fn item(
        &mut self,
        interface: Option<&str>,
        name: &str,
        item: &ComponentItem,
    ) -> Result<(), String> {
        self.exports += 1;
        if self.exports > EXPORTS_MAX {
            return Err(format!("it has more than {EXPORTS_MAX} exports"));
        }
        let ComponentItem::ComponentFunc(function) = item else { return Ok(()) };
        let export = Export { interface: interface.map(str::to_owned), function: name.to_owned() };
        if name.starts_with('[') {
            self.leave_out(&export.shown(), "it belongs to a resource, which no call can hold");
            return Ok(());
        }
        let outer = interface.and_then(|name| self.component.get_export_index(None, name));
        let index = self.component.get_export_index(outer.as_ref(), name);
        match (index, Signature::of(function)) {
            (Some(function), Ok(signature)) => {
                self.candidates.push(ExportedFunction { export, signature, function });
            }
            (None, _) => self.leave_out(&export.shown(), "it cannot be found again"),
            (_, Err(why)) => self.leave_out(&export.shown(), &why),
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &str, why: &str) {
        self.left_out.push(format!("`{}`: {why}", quoted(name)));
    }
}
