//! Spans of calls for an OpenTelemetry collector, where somebody asked for them: which tool, how it
//! ended, how long it took, and the request that it belongs to. Never arguments, paths or contents.

use moss_dispatch::TraceParent;
use std::time::{Duration, SystemTime};

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

/// How long the last spans may take to leave when the daemon ends.
const FLUSH_MAX: Duration = Duration::from_secs(2);
/// The header by which a caller names its own span.
pub const PARENT: &str = "traceparent";
/// What the standard names the variable that overrides the name of the service.
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";

/// Sends spans to a collector, in batches and without holding up calls.
#[derive(Debug, Clone)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// A call that ended.
#[derive(Debug)]
pub struct EndedCall<'a> {
    /// Id of the call, as in the journal.
    pub call_id: &'a str,
    /// The tool, as the catalog names it.
    pub tool: &'a str,
    /// How it ended, in one word.
    pub outcome: &'static str,
    /// How long it took.
    pub duration: Duration,
    /// What it is a part of.
    pub parent: Option<&'a TraceParent>,
}

/// A collector that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// Not the address of a collector.
    #[error("{0:?} is not a collector: traces go to http://HOST:PORT, over OTLP/gRPC without TLS")]
    Address(String),
    /// The exporter does not take it.
    #[error("traces cannot be sent: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// The only header that is looked at: what else belongs to the standard is free text of the caller.
struct OnlyParent<'a>(&'a str);

// === impl Traces ===

impl Traces {
    /// Prepares to send to a collector, in the background and in batches. It need not be there:
    /// spans that it does not take are dropped, and the log says so.
    ///
    /// # Errors
    ///
    /// Where the address is not `http://HOST:PORT`.
    pub fn new(collector: &str) -> Result<Self, TracesError> {
        let address: Option<http::Uri> = collector.parse().ok();
        if !address.is_some_and(|uri| uri.scheme_str() == Some("http") && uri.host().is_some()) {
            return Err(TracesError::Address(collector.to_owned()));
        }
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector).build()?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let mut resource = Resource::builder().with_attribute(version);
        if std::env::var_os(SERVICE_NAME).is_none_or(|name| name.is_empty()) {
            resource = resource.with_service_name("moss");
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        Ok(Self { tracer: provider.tracer("moss"), provider })
    }

    /// Makes the span of a call.
    pub fn call_ended(&self, ended: &EndedCall<'_>) {
        let now = SystemTime::now();
        let parent = ended.parent.map_or_else(Context::new, parent_of);
        let attributes = [
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", ended.tool.to_owned()),
            KeyValue::new("moss.call_id", ended.call_id.to_owned()),
            KeyValue::new("moss.outcome", ended.outcome),
        ];
        let mut span = self
            .tracer
            .span_builder(format!("execute_tool {}", ended.tool))
            .with_kind(SpanKind::Server)
            .with_start_time(now.checked_sub(ended.duration).unwrap_or(now))
            .with_attributes(attributes)
            .start_with_context(&self.tracer, &parent);
        if ended.outcome != "ok" {
            span.set_attribute(KeyValue::new("error.type", ended.outcome));
            span.set_status(Status::error(ended.outcome));
        }
        span.end_with_timestamp(now);
    }

    /// Sends what is left, in bounded time. Blocks.
    pub fn close(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_MAX) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// The span that a caller names as its own; none where it names none that there can be.
fn parent_of(parent: &TraceParent) -> Context {
    TraceContextPropagator::new().extract(&OnlyParent(&parent.0))
}

// === impl OnlyParent ===

impl Extractor for OnlyParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == PARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![PARENT]
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::TraceContextExt as _;

    use super::*;

    #[test]
    fn only_a_valid_parent_is_taken() {
        let of = |text: &str| {
            let context = parent_of(&TraceParent(text.to_owned()));
            context.has_active_span().then_some(context)
        };
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let parent = of(&format!("00-{trace}-b7ad6b7169203331-01")).unwrap();
        assert_eq!(parent.span().span_context().trace_id().to_string(), trace);
        for wrong in ["", "00", "00-0-0-01", &format!("00-{trace}-0000000000000000-01"), trace] {
            assert!(of(wrong).is_none(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn collectors_are_reached_over_http() {
        for wrong in ["", "127.0.0.1:4317", "https://collector.example:4317", "ftp://x", "http://"]
        {
            assert!(matches!(Traces::new(wrong), Err(TracesError::Address(_))), "{wrong}");
        }
    }
}
