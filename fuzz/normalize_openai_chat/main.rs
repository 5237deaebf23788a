//! Whatever is sent as a request of OpenAI Chat Completions: reading it never panics, and what was read is tidy.

#![no_main]

use libfuzzer_sys::fuzz_target;
use moss_model_bridge::Api;

fuzz_target!(|data: &[u8]| requests::check(Api::OpenAiChat, data));
