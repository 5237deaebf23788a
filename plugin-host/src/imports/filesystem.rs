//! `wasi:filesystem`, with a narrower way to open: only regular files and directories.
//!
//! Opening a FIFO or a device can block for ever, on a thread that nobody can stop. Everything else
//! is WASI's own: beneath the directories that were handed in, read-only.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Descriptor, DescriptorFlags, DescriptorType, ErrorCode, Host, HostDescriptor, OpenFlags,
    PathFlags,
};

use crate::instance::State;

/// The interface in the version that the bindings link.
const TYPES: &str = "wasi:filesystem/types@0.2.12";

type OpenAt = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);

/// Links the interfaces.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    preopens::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    types::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store: StoreContextMut<'_, State>, arguments: OpenAt| {
            Box::new(async move {
                let mut filesystem = store.data_mut().filesystem();
                let opened = match open_at(&mut filesystem, arguments).await {
                    Ok(descriptor) => Ok(descriptor),
                    Err(error) => Err(filesystem.convert_error_code(error)?),
                };
                Ok((opened,))
            })
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

async fn open_at(
    filesystem: &mut impl HostDescriptor,
    (directory, path_flags, path, open_flags, flags): OpenAt,
) -> FsResult<Resource<Descriptor>> {
    let same = Resource::new_borrow(directory.rep());
    let stat = filesystem.stat_at(same, path_flags, path.clone()).await?;
    match stat.type_ {
        // An unfollowed link is WASI's to refuse.
        DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink => {
            filesystem.open_at(directory, path_flags, path, open_flags, flags).await
        }
        _ => Err(ErrorCode::NotPermitted.into()),
    }
}
