//! Many clients at once, each on a connection of its own, that make one kind of call over and over.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::caller::{BenchClient, done};

/// Clients, and what they call.
pub(crate) struct Crowd {
    pub(crate) clients: usize,
    pub(crate) length: Duration,
    /// The tool and the arguments of a client's n-th call.
    pub(crate) call: Arc<dyn Fn(usize, usize) -> (String, String) + Send + Sync>,
}

// === impl Crowd ===

impl Crowd {
    /// Calls until the time is over, and returns how long each call took; one that fails ends it all.
    pub(crate) async fn run(&self, socket: PathBuf, token: String) -> Result<Vec<Duration>> {
        let mut clients = JoinSet::new();
        let end = Instant::now() + self.length;
        for client in 0..self.clients {
            let (socket, token, call) = (socket.clone(), token.clone(), Arc::clone(&self.call));
            clients.spawn(async move {
                let caller = BenchClient::connect(&socket, || Ok(token.clone())).await?;
                let mut durations = Vec::new();
                for number in 0.. {
                    let (tool, arguments) = call(client, number);
                    let started = Instant::now();
                    if started >= end {
                        break;
                    }
                    done(caller.call(&tool, arguments).await.context(tool)?)?;
                    durations.push(started.elapsed());
                }
                anyhow::Ok(durations)
            });
        }
        let mut all = Vec::new();
        while let Some(ended) = clients.join_next().await {
            all.extend(ended.context("a client failed")??);
        }
        Ok(all)
    }

    /// How many calls in a second so many are.
    pub(crate) fn per_second(&self, calls: usize) -> u64 {
        (calls as f64 / self.length.as_secs_f64()).round() as u64
    }
}
