//! What server and client share: the generated code, and the command line, as Apache's
//! test/README.md has it, with some more flags.

// Generated, and copied here
pub mod thrift_test;
pub mod wide;

use thrift::protocol::*;
use thrift::transport::*;

/// Returns a flag's value: --name=value.
pub fn flag(name: &str, otherwise: &str) -> String {
    let prefix = format!("--{name}=");
    std::env::args()
        .find_map(|arg| arg.strip_prefix(&prefix).map(str::to_owned))
        .unwrap_or(otherwise.to_owned())
}

pub fn framed() -> bool {
    flag("transport", "buffered") == "framed"
}

pub fn multiplexed() -> bool {
    flag("protocol", "binary").starts_with("multi")
}

pub fn compact() -> bool {
    ["compact", "multic"].contains(&flag("protocol", "binary").as_str())
}

/// Whether messages are sent without the strict header's version.
pub fn old() -> bool {
    std::env::args().any(|arg| arg == "--old")
}

/// Makes the compact protocol, or the binary one, strict or not; the crate's own factories make the
/// strict one.
pub struct Factory;

impl TInputProtocolFactory for Factory {
    fn create(&self, transport: Box<dyn TReadTransport + Send>) -> Box<dyn TInputProtocol + Send> {
        if compact() {
            return Box::new(TCompactInputProtocol::new(transport));
        }
        Box::new(TBinaryInputProtocol::new(transport, !old()))
    }
}

impl TOutputProtocolFactory for Factory {
    fn create(&self, transport: Box<dyn TWriteTransport + Send>) -> Box<dyn TOutputProtocol + Send> {
        if compact() {
            return Box::new(TCompactOutputProtocol::new(transport));
        }
        Box::new(TBinaryOutputProtocol::new(transport, !old()))
    }
}
