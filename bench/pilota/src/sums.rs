// The sum of every number, and of each string its length, first and last byte, as bench/data has
// it for all peers. Sums wrap around. Fields without requiredness are optional in pilota.
use crate::messages::{peer, prom};
use std::num::Wrapping;

type Sum = Wrapping<u64>;
type Text = Option<pilota::FastStr>;
type Map = pilota::AHashMap<pilota::FastStr, pilota::FastStr>;

fn bytes(s: &[u8]) -> Sum {
    match (s.first(), s.last()) {
        (Some(first), Some(last)) => Wrapping(s.len() as u64 + *first as u64 + *last as u64),
        _ => Wrapping(0),
    }
}

fn text(s: &Text) -> Sum {
    s.as_ref().map_or(Wrapping(0), |s| bytes(s.as_bytes()))
}

fn int<N: Into<i64> + Copy>(n: Option<N>) -> Sum {
    n.map_or(Wrapping(0), |n| Wrapping(n.into() as u64))
}

fn double(n: Option<f64>) -> Sum {
    n.map_or(Wrapping(0), |n| Wrapping(n.to_bits()))
}

fn pairs(m: &Option<Map>) -> Sum {
    m.iter().flatten().map(|(k, v)| bytes(k.as_bytes()) + bytes(v.as_bytes())).sum()
}

fn user(m: &Option<peer::User>) -> Sum {
    let Some(m) = m else { return Wrapping(0) };
    int(m.uid) + text(&m.name) + text(&m.email) + int(m.age) + int(m.vip)
}

pub fn small(m: &peer::Small) -> u64 {
    let mut s = text(&m.service) + text(&m.method) + text(&m.caller) + int(m.code) + int(m.trace_id);
    s += int(m.timestamp) + int(m.sampled) + double(m.weight);
    if let Some(sub) = &m.sub {
        s += text(&sub.name) + text(&sub.region) + int(sub.id);
    }
    s.0
}

pub fn business(m: &peer::Business) -> u64 {
    let mut s = int(m.id) + text(&m.title) + int(m.status) + double(m.score) + int(m.flag);
    s += user(&m.owner) + int(m.ts) + text(&m.trailer) + pairs(&m.extra);
    if let Some(meta) = &m.meta {
        s += text(&meta.region) + text(&meta.cluster) + user(&meta.user) + pairs(&meta.tags);
    }
    for it in m.items.iter().flatten() {
        s += int(it.id) + text(&it.name) + text(&it.desc) + int(it.count) + double(it.price) + int(it.ok);
    }
    for n in m.nums.iter().flatten() {
        s += Wrapping(*n as u64);
    }
    for w in m.words.iter().flatten() {
        s += bytes(w.as_bytes());
    }
    s.0
}

pub fn rows(m: &peer::VStreamRowsResponse) -> u64 {
    let mut s = text(&m.gtid);
    for row in m.rows.iter().flatten() {
        for n in row.lengths.iter().flatten() {
            s += Wrapping(*n as u64);
        }
        s += row.values.as_ref().map_or(Wrapping(0), |v| bytes(v));
    }
    s.0
}

pub fn request(m: &prom::WriteRequest) -> u64 {
    let mut s = Wrapping(0);
    for series in m.timeseries.iter().flatten() {
        for label in series.labels.iter().flatten() {
            s += text(&label.name) + text(&label.value);
        }
        for sample in series.samples.iter().flatten() {
            s += double(sample.value) + int(sample.timestamp);
        }
    }
    s.0
}
