//! Where programs that start servers of the Model Context Protocol name them, and what an entry of moss looks like
//! there: a row for each such client, and edits of its configuration that change one entry and leave every other byte as
//! it is. Texts in, texts out: who has the files is the caller's matter.
//!
//! | file | what |
//! | --- | --- |
//! | `clients` | the clients: their files, their formats, the form of an entry |
//! | `edit` | an entry read, put in, changed and taken out: JSON, TOML, YAML |

mod clients;
mod edit;

pub use crate::clients::{
    BaseDirectory, CLIENTS, ClientRow, EntryForm, FileFormat, NAME, ServerCommand, find,
};
pub use crate::edit::{NotEdited, entry, new_entry, with_entry, without_empty_keys, without_entry};
