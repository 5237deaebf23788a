//! Fields of an object in a request, taken out by type. `null` is as good as nothing.

use serde_json::{Map, Value};

use super::error::{RequestCode, RequestError};
use super::limits::{ID_BYTES_MAX, NAME_BYTES_MAX, STOPS_MAX};
use super::note::{NoteCode, Notes};
use super::path::Path;
use crate::call_form::NamespacedName;

/// An object of a request; what was taken is gone.
pub(super) struct Fields<'a> {
    map: Map<String, Value>,
    path: &'a Path<'a>,
}

// === impl Fields ===

impl<'a> Fields<'a> {
    /// Takes a value that must be an object.
    pub(super) fn of(value: Value, path: &'a Path<'a>) -> Result<Self, RequestError> {
        match value {
            Value::Object(map) => Ok(Self { map, path }),
            other => Err(RequestError::kind(path, "an object", &other)),
        }
    }

    pub(super) fn path(&self) -> &'a Path<'a> {
        self.path
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    /// Looks at a number without taking it.
    pub(super) fn peek_number(&self, key: &str) -> Option<f64> {
        self.map.get(key).and_then(Value::as_f64)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.swap_remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn string(&mut self, key: &str) -> Result<Option<String>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(RequestError::kind(&self.path.key(key), "a string", &other)),
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(RequestError::kind(&self.path.key(key), "true or false", &other)),
        }
    }

    /// A list; its items are at `path.key(key).item(…)`.
    pub(super) fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(RequestError::kind(&self.path.key(key), "an array", &other)),
        }
    }

    /// A number from 0 to `max`.
    pub(super) fn number(&mut self, key: &str, max: f64) -> Result<Option<f64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let path = self.path.key(key);
        let Some(number) = value.as_f64() else {
            return Err(RequestError::kind(&path, "a number", &value));
        };
        if (0.0..=max).contains(&number) {
            return Ok(Some(number));
        }
        let bound = if max.is_finite() { format!(" to {max}") } else { " upwards".to_owned() };
        let rest = format!("is {number}: it must be from 0{bound}");
        Err(RequestError::at(RequestCode::InvalidValue, &path, rest))
    }

    /// A number of tokens: 1 or more.
    pub(super) fn tokens(&mut self, key: &str) -> Result<Option<u64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let path = self.path.key(key);
        if !value.is_number() {
            return Err(RequestError::kind(&path, "a whole number", &value));
        }
        match value.as_u64().or_else(|| whole(value.as_f64()?)) {
            Some(count) if count > 0 => Ok(Some(count)),
            _ => {
                let rest = format!("is {value}: it must be a whole number from 1 upwards");
                Err(RequestError::at(RequestCode::InvalidValue, &path, rest))
            }
        }
    }

    /// Texts that end the reply: one, or a list.
    pub(super) fn stops(&mut self, key: &str) -> Result<Vec<String>, RequestError> {
        let path = self.path.key(key);
        let items = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        super::limits::check_count(items.len(), STOPS_MAX, &path, "texts")?;
        let mut stops = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::String(text) if text.is_empty() => {}
                Value::String(text) => stops.push(text),
                other => {
                    let wanted = "a string or an array of strings";
                    return Err(RequestError::kind(&path, wanted, &other));
                }
            }
        }
        Ok(stops)
    }

    /// The name of a tool, which must be there.
    pub(super) fn name(&mut self, key: &str) -> Result<String, RequestError> {
        let path = self.path.key(key);
        let name = self.string(key)?.unwrap_or_default();
        let wanted = "the name of a tool";
        if name.trim().is_empty() {
            return Err(RequestError::missing(&path, wanted));
        }
        if name.len() > NAME_BYTES_MAX || name.contains(char::is_control) {
            let rest =
                format!("must be {wanted}: at most {NAME_BYTES_MAX} bytes, no control characters");
            return Err(RequestError::at(RequestCode::InvalidValue, &path, rest));
        }
        Ok(name)
    }

    /// Both names of a tool called `name`, where it is of a namespace.
    pub(super) fn namespaced(
        &mut self,
        name: &str,
    ) -> Result<Option<NamespacedName>, RequestError> {
        let namespace = self.string("namespace")?.filter(|namespace| !namespace.is_empty());
        Ok(namespace.map(|namespace| NamespacedName { namespace, name: name.to_owned() }))
    }

    /// An id of a call, where there is one. Numbers are taken for their digits.
    pub(super) fn id(&mut self, key: &str) -> Result<Option<String>, RequestError> {
        let path = self.path.key(key);
        let id = match self.take(key) {
            None => return Ok(None),
            Some(Value::String(id)) => id,
            Some(Value::Number(id)) => id.to_string(),
            Some(other) => return Err(RequestError::kind(&path, "a string", &other)),
        };
        if id.len() > ID_BYTES_MAX || id.contains(char::is_control) {
            let rest =
                format!("must be an id: at most {ID_BYTES_MAX} bytes, no control characters");
            return Err(RequestError::at(RequestCode::InvalidValue, &path, rest));
        }
        Ok(Some(id).filter(|id| !id.is_empty()))
    }

    /// Refuses a field that asks for what cannot be done here; `rest` says what to do instead.
    pub(super) fn refuse(&mut self, key: &str, rest: &str) -> Result<(), RequestError> {
        match self.take(key) {
            None | Some(Value::Bool(false)) => Ok(()),
            Some(Value::Array(items)) if items.is_empty() => Ok(()),
            Some(_) => Err(RequestError::at(RequestCode::Unsupported, &self.path.key(key), rest)),
        }
    }

    /// Notes that what is left has no meaning here.
    pub(super) fn ignore_rest(&self, notes: &mut Notes) {
        for key in self.map.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key) {
            notes.add(NoteCode::FieldIgnored, &self.path.key(key), key);
        }
    }
}

fn whole(number: f64) -> Option<u64> {
    // What an f64 holds exactly: 2^53.
    let is_whole = number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    is_whole.then_some(number as u64)
}
