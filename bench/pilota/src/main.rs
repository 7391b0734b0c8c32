// Measures pilota on the messages that main.go, beside Cargo.toml, has written into a folder. It
// answers lines of standard input, whose words have tabs between them:
//
//	TYPE FILE ROW check OUT        the sum; the message, encoded again, is in OUT
//	TYPE FILE ROW measure NS       processor time of a message in ns, over about NS
//
// TYPE is Small, Business, Rows or Request. ROW is safe (TBinaryProtocol) or unsafe
// (TBinaryUnsafeInputProtocol, which does not check that the bytes are there).
use bytes::{Bytes, BytesMut};
use pilota::thrift::binary::TBinaryProtocol;
use pilota::thrift::binary_unsafe::TBinaryUnsafeInputProtocol;
use pilota::thrift::Message;
use std::io::{BufRead, Write};

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
mod sums;

fn decode<M: Message>(wire: &Bytes, checked: bool) -> M {
    let mut wire = wire.clone(); // counts a reference, copies nothing
    if checked {
        M::decode(&mut TBinaryProtocol::new(&mut wire, true)).unwrap()
    } else {
        // SAFETY: the message is whole; main.go has written it.
        M::decode(&mut unsafe { TBinaryUnsafeInputProtocol::new(&mut wire) }).unwrap()
    }
}

fn processor_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Runs read for about ns, after a tenth of that, and returns the time of one.
fn measure(ns: u64, read: impl Fn() -> u64) -> f64 {
    let times = |n: u64| {
        let start = processor_time();
        for _ in 0..n {
            std::hint::black_box(read());
        }
        processor_time() - start
    };
    let mut n = 1;
    let mut took = times(n);
    while took < ns / 10 {
        n *= 2;
        took = times(n);
    }
    n = (n * ns / took).max(1);
    times(n) as f64 / n as f64
}

fn answer<M: Message>(sum: impl Fn(&M) -> u64, words: &[&str]) -> String {
    let wire = Bytes::from(std::fs::read(words[1]).unwrap());
    let checked = words[2] == "safe";
    if words[3] == "check" {
        let m: M = decode(&wire, checked);
        let mut out = BytesMut::new();
        m.encode(&mut TBinaryProtocol::new(&mut out, false)).unwrap();
        std::fs::write(words[4], out).unwrap();
        return sum(&m).to_string();
    }
    measure(words[4].parse().unwrap(), || sum(&decode::<M>(&wire, checked))).to_string()
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split('\t').collect();
        let text = match words[0] {
            "Small" => answer(sums::small, &words),
            "Business" => answer(sums::business, &words),
            "Rows" => answer(sums::rows, &words),
            "Request" => answer(sums::request, &words),
            other => panic!("no type {other}"),
        };
        println!("{text}");
        std::io::stdout().flush().unwrap();
    }
}
