//! How a service of gRPC is made of plain methods.

/// Implements a service by the methods that its type has of the same names.
///
/// `async_trait` would do the same with less, but the compiler would prove for each method anew, under the
/// bounds of its lifetimes, that all of the daemon may go from one thread to another: most of the time that
/// this crate took to compile. A function without bounds makes the future here, for which that is known.
macro_rules! methods {
    ($service:ident for $rpc:ident {
        $(type $stream:ident = $streamed:ty;)*
        $(fn $method:ident($request:ty) -> $response:ty;)+
    }) => {
        impl $service for $rpc {
            $(type $stream = $streamed;)*
            $(fn $method<'service, 'future>(
                &'service self,
                request: ::tonic::Request<$request>,
            ) -> $crate::services::methods::RpcFuture<'future, $response>
            where
                'service: 'future,
                Self: 'future,
            {
                fn unbounded(
                    rpc: $rpc,
                    request: ::tonic::Request<$request>,
                ) -> $crate::services::methods::RpcFuture<'static, $response> {
                    Box::pin(async move { $rpc::$method(&rpc, request).await })
                }
                unbounded(self.clone(), request)
            })+
        }
    };
}

pub(super) use methods;

/// What a method of a service returns.
pub(super) type RpcFuture<'a, T> =
    std::pin::Pin<Box<dyn Future<Output = Result<tonic::Response<T>, tonic::Status>> + Send + 'a>>;
