//! Calls a server with the crate thrift and checks what comes back. --test is all (every method,
//! then methods and fields that the server does not know), concurrent (8 clients), idle (the
//! server closes the connection meanwhile) or frames (the server takes none of more than 64 KiB).
//! The exit code is a sum: 1 base types, 2 structs, 4 containers, 8 exceptions, 16 the other
//! tests, 64 no connection.

use interop::thrift_test::*;
use interop::wide::{TWideSyncClient, Tree, WideSyncClient, WideXtruct};
use interop::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use thrift::protocol::*;
use thrift::transport::*;
use thrift::{ApplicationErrorKind, OrderedFloat};

const BASETYPES: i32 = 1;
const STRUCTS: i32 = 2;
const CONTAINERS: i32 = 4;
const EXCEPTIONS: i32 = 8;
const OTHERS: i32 = 16;

type Input = Box<dyn TInputProtocol + Send>;
type Output = Box<dyn TOutputProtocol + Send>;
type Outcome = Result<(), String>;

/// A connection with a client of each service. Each has buffers of its own: calls are made one
/// after the other.
struct Connection {
    test: ThriftTestSyncClient<Input, Output>,
    second: SecondServiceSyncClient<Input, Output>,
    wide: WideSyncClient<Input, Output>,
    nobody: ThriftTestSyncClient<Input, Output>,
}

fn connect() -> thrift::Result<Connection> {
    let stream = TcpStream::connect(format!("{}:{}", flag("host", "127.0.0.1"), flag("port", "9090")))?;
    stream.set_nodelay(true)?;
    let protocols = |service: &str| -> thrift::Result<(Input, Output)> {
        let (input, output) = TTcpChannel::with_stream(stream.try_clone()?).split()?;
        let (read, write): (Box<dyn TReadTransport + Send>, Box<dyn TWriteTransport + Send>) = if framed() {
            (Box::new(TFramedReadTransport::new(input)), Box::new(TFramedWriteTransport::new(output)))
        } else {
            (Box::new(TBufferedReadTransport::new(input)), Box::new(TBufferedWriteTransport::new(output)))
        };
        let output: Output = if multiplexed() && compact() {
            Box::new(TMultiplexedOutputProtocol::new(service, TCompactOutputProtocol::new(write)))
        } else if multiplexed() {
            Box::new(TMultiplexedOutputProtocol::new(service, TBinaryOutputProtocol::new(write, !old())))
        } else {
            TOutputProtocolFactory::create(&Factory, write)
        };
        Ok((TInputProtocolFactory::create(&Factory, read), output))
    };
    let (test, second, wide, nobody) =
        (protocols("ThriftTest")?, protocols("SecondService")?, protocols("ThriftTest")?, protocols("Nobody")?);
    Ok(Connection {
        test: ThriftTestSyncClient::new(test.0, test.1),
        second: SecondServiceSyncClient::new(second.0, second.1),
        wide: WideSyncClient::new(wide.0, wide.1),
        nobody: ThriftTestSyncClient::new(nobody.0, nobody.1),
    })
}

struct Suite {
    failed: i32,
    c: Connection,
}

fn same<T: PartialEq + Debug>(want: &T, got: thrift::Result<T>) -> Outcome {
    match got {
        Ok(got) if got == *want => Ok(()),
        other => Err(format!("expected {want:?} but got {other:?}").chars().take(500).collect()),
    }
}

fn done(got: thrift::Result<()>) -> Outcome {
    got.map_err(|e| e.to_string())
}

/// Returns the declared exception that a call has ended with.
fn raised<E: std::error::Error + Clone + 'static, T: Debug>(got: thrift::Result<T>) -> Result<E, String> {
    match got {
        Err(thrift::Error::User(ref e)) if e.downcast_ref::<E>().is_some() => Ok(e.downcast_ref::<E>().unwrap().clone()),
        other => Err(format!("{other:?} in the place of an exception")),
    }
}

fn application<T: Debug>(kind: ApplicationErrorKind, got: thrift::Result<T>) -> Outcome {
    match got {
        Err(thrift::Error::Application(ref e)) if e.kind == kind => Ok(()),
        other => Err(format!("{other:?} in the place of an application error {kind:?}")),
    }
}

fn tree(depth: i32) -> Tree {
    let children = if depth > 1 {
        vec![Box::new(tree(depth - 1)), Box::new(Tree::new(-depth, Vec::new()))]
    } else {
        Vec::new()
    };
    Tree::new(depth, children)
}

fn wide(depth: i32) -> WideXtruct {
    WideXtruct::new(
        "ünknown".to_owned(),
        true,
        vec![vec![], vec!["a".to_owned(), String::new()]],
        -1,
        5,
        9,
        OrderedFloat(f64::NEG_INFINITY),
        1 << 40,
        BTreeMap::from([(String::new(), BTreeSet::new()), ("b".to_owned(), BTreeSet::from([1, 2]))]),
        tree(depth),
        vec![0u8, 255],
        "last".to_owned(),
    )
}

impl Suite {
    fn check(&mut self, bit: i32, what: &str, test: impl FnOnce(&mut Connection) -> Outcome) {
        match test(&mut self.c) {
            Ok(()) => println!("{what} ok"),
            Err(e) => {
                println!("{what} *** FAILURE ***\n{e}");
                self.failed |= bit;
            }
        }
    }

    fn echo<T: Clone + PartialEq + Debug>(
        &mut self,
        bit: i32,
        what: &str,
        call: impl Fn(&mut Connection, T) -> thrift::Result<T>,
        values: Vec<T>,
    ) {
        self.check(bit, what, |c| values.into_iter().try_for_each(|v| same(&v, call(c, v.clone()))));
    }

    fn all(&mut self) {
        let large = "x".repeat(1 << 20);
        let texts = ["", "Test", "ラスト, ქართული, 𐍈", "quote: \" \\ \u{8}\u{c}\n\r\t \0", &large];
        self.check(BASETYPES, "testVoid", |c| done(c.test.test_void()));
        self.echo(BASETYPES, "testString", |c, v| c.test.test_string(v), texts.map(str::to_owned).to_vec());
        self.echo(BASETYPES, "testBool", |c, v| c.test.test_bool(v), vec![true, false]);
        self.echo(BASETYPES, "testByte", |c, v| c.test.test_byte(v), vec![0, -1, i8::MIN, i8::MAX]);
        self.echo(BASETYPES, "testI32", |c, v| c.test.test_i32(v), vec![0, -1, i32::MIN, i32::MAX]);
        self.echo(BASETYPES, "testI64", |c, v| c.test.test_i64(v), vec![0, -1, i64::MIN, i64::MAX]);
        let doubles = vec![0.0, -0.0, -5.235098235, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        self.check(BASETYPES, "testDouble", |c| {
            doubles.into_iter().try_for_each(|v: f64| {
                same(&v.to_bits(), c.test.test_double(OrderedFloat(v)).map(|got| got.to_bits()))
            })
        });
        let all: Vec<u8> = (0..=255).collect();
        self.echo(BASETYPES, "testBinary", |c, v| c.test.test_binary(v), vec![vec![], all, vec![7; 1 << 20]]);
        let id = uuid::Uuid::parse_str("00112233-4455-6677-8899-aabbccddeeff").unwrap();
        self.echo(BASETYPES, "testUuid", |c, v| c.test.test_uuid(v), vec![id, uuid::Uuid::nil()]);
        self.echo(BASETYPES, "testTypedef", |c, v| c.test.test_typedef(v), vec![0, 0xff_ffff_ffff_ffff, -1]);
        let zero = Xtruct::new("Zero".to_owned(), 1, -3, -5);
        let nobody = Xtruct::new(String::new(), 0, 0, 0);
        self.echo(STRUCTS, "testEnum", |c, v| c.test.test_enum(v), vec![Numberz::ONE, Numberz::EIGHT, Numberz(77)]);
        self.echo(STRUCTS, "testStruct", |c, v| c.test.test_struct(v), vec![zero.clone(), nobody]);
        self.echo(STRUCTS, "testNest", |c, v| c.test.test_nest(v), vec![Xtruct2::new(1, zero.clone(), 5)]);
        self.check(STRUCTS, "testInsanity", |c| {
            let users = BTreeMap::from([(Numberz::FIVE, 5), (Numberz::EIGHT, 8)]);
            let crazy = Insanity::new(users, vec![zero.clone(), zero]);
            let mut got = c.test.test_insanity(crazy.clone()).map_err(|e| e.to_string())?;
            let six = got.remove(&2).and_then(|mut m| m.remove(&Numberz::SIX)).ok_or("no 2, 6")?;
            if six.user_map.is_some_and(|m| !m.is_empty()) || six.xtructs.is_some_and(|l| !l.is_empty()) {
                return Err("2, 6 is not empty".to_owned());
            }
            let first = BTreeMap::from([(Numberz::TWO, crazy.clone()), (Numberz::THREE, crazy)]);
            same(&BTreeMap::from([(1, first)]), Ok(got))
        });
        self.check(STRUCTS, "testMulti", |c| {
            let (arg1, arg2, arg3) = (0xff00ff, 0xffffffffd0d0, BTreeMap::from([(0, "abc".to_owned())]));
            let got = c.test.test_multi(74, arg1, arg2, arg3, Numberz::FIVE, 0xf0f0f0);
            same(&Xtruct::new("Hello2".to_owned(), 74, arg1, arg2), got)
        });
        let numbers: BTreeMap<i32, i32> = (0..100_000).map(|i| (i, -i)).collect();
        let list: Vec<i32> = numbers.values().copied().collect();
        let set: BTreeSet<i32> = numbers.keys().copied().collect();
        let few = BTreeMap::from([(1, 2), (-3, i32::MIN)]);
        let texts = BTreeMap::from([("a", "2"), ("", ""), ("ü", "blah")].map(|(k, v)| (k.to_owned(), v.to_owned())));
        self.echo(CONTAINERS, "testMap", |c, v| c.test.test_map(v), vec![BTreeMap::new(), few, numbers]);
        self.echo(CONTAINERS, "testStringMap", |c, v| c.test.test_string_map(v), vec![BTreeMap::new(), texts]);
        self.echo(CONTAINERS, "testSet", |c, v| c.test.test_set(v), vec![BTreeSet::new(), BTreeSet::from([8, 1, 42]), set]);
        self.echo(CONTAINERS, "testList", |c, v| c.test.test_list(v), vec![vec![], vec![1, 4, 9, -42], list]);
        self.check(CONTAINERS, "testMapMap", |c| {
            let numbers = |sign: i32| (1..5).map(|i| (sign * i, sign * i)).collect();
            same(&BTreeMap::from([(-4, numbers(-1)), (4, numbers(1))]), c.test.test_map_map(1))
        });
        self.check(EXCEPTIONS, "testException", |c| {
            let x: Xception = raised(c.test.test_exception("Xception".to_owned()))?;
            same(&Xception::new(1001, "Xception".to_owned()), Ok(x))?;
            same(&1, c.test.test_i32(1))?;
            application(ApplicationErrorKind::InternalError, c.test.test_exception("TException".to_owned()))?;
            same(&2, c.test.test_i32(2))?;
            done(c.test.test_exception("success".to_owned()))
        });
        self.check(EXCEPTIONS, "testMultiException", |c| {
            let x: Xception = raised(c.test.test_multi_exception("Xception".to_owned(), String::new()))?;
            same(&Xception::new(1001, "This is an Xception".to_owned()), Ok(x))?;
            let x: Xception2 = raised(c.test.test_multi_exception("Xception2".to_owned(), String::new()))?;
            same(&Some(2002), Ok(x.error_code))?;
            same(&Some("This is an Xception2".to_owned()), Ok(x.struct_thing.and_then(|s| s.string_thing)))?;
            let got = c.test.test_multi_exception("success".to_owned(), "foobar".to_owned());
            same(&Some("foobar".to_owned()), got.map(|x| x.string_thing))
        });
        self.check(BASETYPES, "testOneway", |c| {
            let start = Instant::now();
            done(c.test.test_oneway(1))?;
            if start.elapsed() > Duration::from_millis(500) {
                return Err("a oneway call took more than half a second".to_owned());
            }
            done(c.test.test_void())
        });
        if multiplexed() {
            self.check(BASETYPES, "secondtestString", |c| {
                same(&"testString(\"foobar\")".to_owned(), c.second.secondtest_string("foobar".to_owned()))
            });
            self.check(OTHERS, "unknown service", |c| {
                application(ApplicationErrorKind::UnknownMethod, c.nobody.test_void())?;
                same(&3, c.test.test_i32(3))
            });
        } else {
            self.check(OTHERS, "method of another service", |c| {
                application(ApplicationErrorKind::UnknownMethod, c.second.secondtest_string("x".to_owned()))?;
                same(&3, c.test.test_i32(3))
            });
        }
        self.check(OTHERS, "unknown method", |c| {
            application(ApplicationErrorKind::UnknownMethod, c.wide.not_there(wide(3)))?;
            same(&4, c.test.test_i32(4))?;
            let mut thing = WideXtruct::default();
            thing.string_thing = Some(large.clone());
            application(ApplicationErrorKind::UnknownMethod, c.wide.not_there(thing))?;
            same(&5, c.test.test_i32(5))
        });
        self.check(OTHERS, "unknown fields", |c| {
            [1, 2, 30].into_iter().try_for_each(|depth| {
                let got = c.wide.test_struct(wide(depth), tree(depth), "an argument more".to_owned());
                same(&wide(depth), got)
            })
        });
        // Apache's servers answer, and so does this one, which the next call takes for its reply.
        self.check(OTHERS, "unknown oneway method", |c| {
            done(c.wide.tell_nobody("hello".to_owned()))?;
            application(ApplicationErrorKind::BadSequenceId, c.wide.test_i32(5))?;
            *c = connect().map_err(|e| e.to_string())?;
            same(&6, c.wide.test_i32(6))
        });
    }
}

/// Makes one of several calls, whose reply tells which client's and which call's it is.
fn calls(c: &mut Connection, client: i32, call: i32) -> Outcome {
    let text = format!("{client}/{call} {}", "y".repeat((call * 37 % 5000) as usize));
    match call % 4 {
        0 => same(&text, c.test.test_string(text.clone())),
        1 => {
            let x = Xtruct::new(text, client as i8, call, (client * call) as i64);
            same(&x, c.test.test_struct(x.clone()))
        }
        2 => {
            let _: Xception = raised(c.test.test_exception("Xception".to_owned()))?;
            same(&(1000 * client + call), c.test.test_i32(1000 * client + call))
        }
        _ => {
            let got = c.test.test_multi_exception("success".to_owned(), text.clone());
            same(&Some(text), got.map(|x| x.string_thing))
        }
    }
}

fn concurrent(_: &mut Connection) -> Outcome {
    let run = |client| {
        let mut c = connect().map_err(|e| e.to_string())?;
        (0..200).try_for_each(|call| calls(&mut c, client, call))
    };
    let threads: Vec<_> = (0..8).map(|client| thread::spawn(move || run(client))).collect();
    threads.into_iter().try_for_each(|t| t.join().unwrap())
}

fn idle(c: &mut Connection) -> Outcome {
    same(&1, c.test.test_i32(1))?;
    thread::sleep(Duration::from_secs(1));
    if let Ok(v) = c.test.test_i32(2) {
        return Err(format!("{v} from a connection that the server has closed"));
    }
    *c = connect().map_err(|e| e.to_string())?;
    same(&3, c.test.test_i32(3))
}

fn frames(c: &mut Connection) -> Outcome {
    same(&1, c.test.test_i32(1))?;
    if c.test.test_string("z".repeat(100_000)).is_ok() {
        return Err("a request that is too large was answered".to_owned());
    }
    *c = connect().map_err(|e| e.to_string())?;
    same(&2, c.test.test_i32(2))
}

fn main() {
    let c = connect().unwrap_or_else(|e| {
        println!("Connect failed: {e}");
        std::process::exit(64)
    });
    let mut suite = Suite { failed: 0, c };
    match flag("test", "all").as_str() {
        "all" => suite.all(),
        "concurrent" => suite.check(OTHERS, "8 clients at a time", concurrent),
        "idle" => suite.check(OTHERS, "a call after a pause", idle),
        "frames" => suite.check(OTHERS, "frames that are too large", frames),
        other => panic!("unknown test {other}"),
    }
    std::process::exit(suite.failed);
}
