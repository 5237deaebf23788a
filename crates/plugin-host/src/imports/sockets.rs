//! `wasi:sockets`, which refuses everything: it is there because the run-time systems of some
//! languages import it, used or not. The network is reached through `wasi:http`.

use wasmtime::component::Linker;
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::p2::bindings::sockets;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};

/// Links the interfaces of sockets: [`refuse`] keeps guests from using them.
pub(crate) fn add_to_linker<T: WasiSocketsView + 'static>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    let options = sockets::network::LinkOptions::default();
    sockets::network::add_to_linker::<T, WasiSockets>(linker, &options, T::sockets)?;
    sockets::instance_network::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    sockets::tcp::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    sockets::udp_create_socket::add_to_linker::<T, WasiSockets>(linker, T::sockets)?;
    sockets::udp::add_to_linker::<T, WasiSockets>(linker, T::sockets)
}

/// Refuses to make sockets and to look up names.
pub(crate) fn refuse(wasi: &mut WasiCtxBuilder) {
    wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
}
