//! Who may call which method: one table, checked before any handler runs.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, header};
use moss_dispatch::{Caller, Reason, Role};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use moss_sdk::context::BoxFuture;

use super::revocable::Revocable;
use crate::listener::Peer;
use moss_daemon::caller::Access;
use moss_daemon::state::Daemon;

/// The role that each method needs. A test holds the table to the descriptors: a method that is
/// not here is refused to everybody.
const METHODS: &[(&str, Role)] = &[
    ("/moss.v1.ToolService/ListTools", Role::Caller),
    ("/moss.v1.ToolService/GetTool", Role::Caller),
    ("/moss.v1.ToolService/CallTool", Role::Caller),
    ("/moss.v1.ToolService/StreamCallTool", Role::Caller),
    ("/moss.v1.ToolService/WatchTools", Role::Caller),
    ("/moss.v1.BridgeService/Parse", Role::Caller),
    ("/moss.v1.BridgeService/RenderPrompt", Role::Caller),
    ("/moss.v1.BridgeService/Normalize", Role::Caller),
    ("/moss.v1.BridgeService/Encode", Role::Caller),
    ("/moss.v1.ConfirmationService/ListConfirmations", Role::Approver),
    ("/moss.v1.ConfirmationService/WatchConfirmations", Role::Approver),
    ("/moss.v1.ConfirmationService/ShowConfirmation", Role::Approver),
    ("/moss.v1.ConfirmationService/ResolveConfirmation", Role::Approver),
    ("/moss.v1.EditorService/Attach", Role::Approver),
    ("/moss.v1.HistoryService/ListHistory", Role::Caller),
    ("/moss.v1.HistoryService/GetHistoryEntry", Role::Caller),
    ("/moss.v1.HistoryService/UndoHistoryEntry", Role::Caller),
    ("/moss.v1.IndexService/RebuildIndex", Role::Approver),
    ("/moss.v1.JobService/ListJobs", Role::Caller),
    ("/moss.v1.JobService/GetJobOutput", Role::Caller),
    ("/moss.v1.JobService/StopJob", Role::Caller),
    ("/moss.v1.JobService/ListArtifacts", Role::Caller),
    ("/moss.v1.PolicyService/ListPolicyRules", Role::Caller),
    ("/moss.v1.PolicyService/ExplainPolicy", Role::Caller),
    ("/moss.v1.PolicyService/ListStandingApprovals", Role::Caller),
    ("/moss.v1.PolicyService/RevokeStandingApproval", Role::Approver),
    ("/moss.v1.PluginService/ListPlugins", Role::Caller),
    ("/moss.v1.PluginService/WatchPlugins", Role::Caller),
    ("/moss.v1.PluginService/ChangePlugins", Role::Approver),
    ("/moss.v1.StatusService/GetStatus", Role::Caller),
    ("/moss.v1.UserPromptService/GetUserPrompt", Role::Caller),
    ("/moss.v1.UserPromptService/ListUserPromptHistory", Role::Caller),
    ("/moss.v1.UserPromptService/UndoUserPrompt", Role::Caller),
];

/// Services that anybody who reached a Unix socket may use, and over the network every role.
const OPEN: &[&str] = &["/grpc.health.v1.", "/grpc.reflection.v1.", "/grpc.reflection.v1alpha."];

/// Names the approver's credential beside the caller's, on calls whose questions whoever calls decides.
pub const APPROVER_HEADER: &str = "moss-approver";

/// The approver's credential came with a request beside the caller's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attended;

/// Checks the credential of every request and puts the [`Caller`] into its extensions.
#[derive(Debug, Clone)]
pub(super) struct AuthLayer(Arc<Access>, Arc<Daemon>);

/// The service behind an [`AuthLayer`].
#[derive(Debug, Clone)]
pub(super) struct Auth<S> {
    inner: S,
    access: Arc<Access>,
    daemon: Arc<Daemon>,
}

/// The names of the services of moss.
pub(super) fn service_names() -> Vec<&'static str> {
    let mut names: Vec<_> =
        METHODS.iter().filter_map(|(path, _)| path[1..].split('/').next()).collect();
    names.dedup();
    names
}

/// Returns who makes a request; none for a service that anybody may use.
fn check(access: &Access, path: &str, token: Option<&str>) -> Result<Option<Caller>, Status> {
    let is_open = OPEN.iter().any(|open| path.starts_with(open));
    if is_open && access.is_open() {
        return Ok(None);
    }
    let method = METHODS.iter().find(|(method, _)| *method == path);
    // Who shows no credential does not learn over the network what there is.
    if method.is_none() && !is_open && access.is_open() {
        return Err(no_method(path));
    }
    let Some(token) = token else {
        return Err(super::error::unauthenticated(
            "no credential: send the metadata `authorization: Bearer <token>` with the text of \
             caller.token, or over TCP of the daemon's token file",
        ));
    };
    let Some(caller) = access.caller_of(token) else {
        return Err(super::error::unauthenticated(
            "the credential is not known: read caller.token or approver.token again, or over TCP \
             the daemon's token file; a named token may be revoked (`moss token list`)",
        ));
    };
    match method {
        Some((_, needed)) if caller.role() < *needed => {
            Err(super::error::role_missing(path, *needed))
        }
        None if !is_open => Err(no_method(path)),
        _ => Ok(Some(caller)),
    }
}

fn no_method(path: &str) -> Status {
    Status::unimplemented(format!("there is no method {path}"))
}

/// Whether the approver's credential is there, too. One that is not known is as none.
fn is_attended<B>(access: &Access, request: &Request<B>) -> bool {
    bearer_in(request, APPROVER_HEADER)
        .and_then(|token| access.caller_of(token))
        .is_some_and(|caller| caller.role() == Role::Approver)
}

fn bearer<B>(request: &Request<B>) -> Option<&str> {
    bearer_in(request, header::AUTHORIZATION.as_str())
}

fn bearer_in<'a, B>(request: &'a Request<B>, name: &str) -> Option<&'a str> {
    let value = request.headers().get(name)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

// === impl AuthLayer ===

impl AuthLayer {
    pub(super) fn new(access: Access, daemon: Arc<Daemon>) -> Self {
        Self(Arc::new(access), daemon)
    }
}

impl<S> Layer<S> for AuthLayer {
    type Service = Auth<S>;

    fn layer(&self, inner: S) -> Auth<S> {
        Auth { inner, access: Arc::clone(&self.0), daemon: Arc::clone(&self.1) }
    }
}

// === impl Auth ===

impl<S> Auth<S> {
    /// Returns who makes a request, where its connection has a slot for that. One that has none
    /// is closed after the response.
    fn enter(&self, request: &Request<Body>) -> Result<Option<Caller>, Status> {
        let checked = check(&self.access, request.uri().path(), bearer(request));
        let Some(peer) = request.extensions().get::<Peer>() else { return checked };
        let entered = checked.and_then(|caller| {
            let vouched = peer.vouch(caller.as_ref(), is_attended(&self.access, request));
            vouched.map(|()| caller).map_err(|full| {
                peer.dismiss();
                super::error::exhausted(Reason::ConnectionsFull, &full.to_string())
            })
        });
        if entered.is_err() && peer.is_out_of_place() {
            peer.dismiss();
        }
        entered
    }
}

impl<S> Service<Request<Body>> for Auth<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match self.enter(&request) {
            Ok(Some(caller)) => {
                if is_attended(&self.access, &request) {
                    request.extensions_mut().insert(Attended);
                }
                request.extensions_mut().insert(caller.clone());
                if caller.is_revocable() {
                    let request = request.map(|body| Revocable::request(body, caller.clone()));
                    let response = self.inner.call(request);
                    let guarded = |response: Response<Body>| {
                        response.map(|body| Revocable::response(body, caller))
                    };
                    return Box::pin(async move { response.await.map(guarded) });
                }
            }
            Ok(None) => {}
            Err(status) => {
                if status.code() == tonic::Code::Unauthenticated {
                    self.daemon.metrics.unauthenticated();
                }
                return Box::pin(async move { Ok(status.into_http()) });
            }
        }
        Box::pin(self.inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use prost::Message as _;

    use super::*;
    use moss_daemon::caller::{Credentials, RemoteTokens};

    #[test]
    fn every_method_of_the_descriptors_needs_a_role() {
        let descriptors =
            prost_types::FileDescriptorSet::decode(moss_proto::FILE_DESCRIPTOR_SET).unwrap();
        let mut described: Vec<String> = Vec::new();
        for file in descriptors.file.iter().filter(|file| file.package() == "moss.v1") {
            for service in &file.service {
                for method in &service.method {
                    described.push(format!("/moss.v1.{}/{}", service.name(), method.name()));
                }
            }
        }
        let mut listed: Vec<_> = METHODS.iter().map(|(path, _)| (*path).to_owned()).collect();
        described.sort();
        listed.sort();
        assert_eq!(listed, described);
    }

    fn role(checked: Result<Option<Caller>, Status>) -> Result<Option<Role>, tonic::Code> {
        let checked = checked.map_err(|status| status.code())?;
        Ok(checked.map(|caller| caller.role()))
    }

    fn credentials() -> Credentials {
        Credentials { caller: "c".repeat(64), approver: "a".repeat(64) }
    }

    #[test]
    fn every_method_is_refused_to_who_lacks_its_role() {
        let credentials = credentials();
        let access = Access::local(credentials.clone());
        for (path, needed) in METHODS {
            let code = |token| role(check(&access, path, token));
            assert_eq!(code(None), Err(tonic::Code::Unauthenticated));
            assert_eq!(code(Some("x")), Err(tonic::Code::Unauthenticated));
            assert_eq!(code(Some("")), Err(tonic::Code::Unauthenticated));
            assert_eq!(code(Some(&credentials.approver)), Ok(Some(Role::Approver)));
            let as_caller = match needed {
                Role::Caller => Ok(Some(Role::Caller)),
                Role::Approver => Err(tonic::Code::PermissionDenied),
            };
            assert_eq!(code(Some(&credentials.caller)), as_caller, "{path}");
        }
    }

    #[test]
    fn only_exact_paths_are_methods() {
        let access = Access::local(credentials());
        for path in ["//moss.v1.ToolService/ListTools", "/moss.v1.ToolService/ListTools/", "/x"] {
            let status = check(&access, path, Some("a")).unwrap_err();
            assert_eq!(status.code(), tonic::Code::Unimplemented, "{path}");
        }
    }

    #[test]
    fn over_the_network_nothing_is_served_without_a_credential() {
        let temp = tempfile::tempdir().unwrap();
        let (file, token) = (temp.path().join("token"), "0123456789abcdef".repeat(2));
        std::fs::write(&file, &token).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let access = Access::remote(RemoteTokens::load(&file, None).unwrap());
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        for path in ["/grpc.health.v1.Health/Check", reflection, "/x", METHODS[0].0] {
            for token in [None, Some(""), Some("x")] {
                let status = check(&access, path, token).unwrap_err();
                assert_eq!(status.code(), tonic::Code::Unauthenticated, "{path}");
            }
        }
        let code = |path| role(check(&access, path, Some(&token)));
        assert_eq!(code(reflection), Ok(Some(Role::Caller)));
        assert_eq!(code("/x"), Err(tonic::Code::Unimplemented));
        for (path, needed) in METHODS.iter().filter(|(_, role)| *role == Role::Approver) {
            assert_eq!(code(path), Err(tonic::Code::PermissionDenied), "{path} {needed:?}");
        }
    }
}
