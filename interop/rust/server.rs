//! The test service on the crate thrift. Its first line ends with the port that it listens on.

use interop::thrift_test::*;
use interop::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use thrift::server::{TMultiplexedProcessor, TProcessor, TServer};
use thrift::transport::*;
use thrift::OrderedFloat;

struct Handler;

impl ThriftTestSyncHandler for Handler {
    fn handle_test_void(&self) -> thrift::Result<()> {
        Ok(())
    }

    fn handle_test_string(&self, thing: String) -> thrift::Result<String> {
        Ok(thing)
    }

    fn handle_test_bool(&self, thing: bool) -> thrift::Result<bool> {
        Ok(thing)
    }

    fn handle_test_byte(&self, thing: i8) -> thrift::Result<i8> {
        Ok(thing)
    }

    fn handle_test_i32(&self, thing: i32) -> thrift::Result<i32> {
        Ok(thing)
    }

    fn handle_test_i64(&self, thing: i64) -> thrift::Result<i64> {
        Ok(thing)
    }

    fn handle_test_double(&self, thing: OrderedFloat<f64>) -> thrift::Result<OrderedFloat<f64>> {
        Ok(thing)
    }

    fn handle_test_binary(&self, thing: Vec<u8>) -> thrift::Result<Vec<u8>> {
        Ok(thing)
    }

    fn handle_test_uuid(&self, thing: uuid::Uuid) -> thrift::Result<uuid::Uuid> {
        Ok(thing)
    }

    fn handle_test_struct(&self, thing: Xtruct) -> thrift::Result<Xtruct> {
        Ok(thing)
    }

    fn handle_test_nest(&self, thing: Xtruct2) -> thrift::Result<Xtruct2> {
        Ok(thing)
    }

    fn handle_test_map(&self, thing: BTreeMap<i32, i32>) -> thrift::Result<BTreeMap<i32, i32>> {
        Ok(thing)
    }

    fn handle_test_string_map(&self, thing: BTreeMap<String, String>) -> thrift::Result<BTreeMap<String, String>> {
        Ok(thing)
    }

    fn handle_test_set(&self, thing: BTreeSet<i32>) -> thrift::Result<BTreeSet<i32>> {
        Ok(thing)
    }

    fn handle_test_list(&self, thing: Vec<i32>) -> thrift::Result<Vec<i32>> {
        Ok(thing)
    }

    fn handle_test_enum(&self, thing: Numberz) -> thrift::Result<Numberz> {
        Ok(thing)
    }

    fn handle_test_typedef(&self, thing: UserId) -> thrift::Result<UserId> {
        Ok(thing)
    }

    fn handle_test_map_map(&self, _hello: i32) -> thrift::Result<BTreeMap<i32, BTreeMap<i32, i32>>> {
        let numbers = |sign: i32| (1..5).map(|i| (sign * i, sign * i)).collect();
        Ok(BTreeMap::from([(-4, numbers(-1)), (4, numbers(1))]))
    }

    fn handle_test_insanity(&self, argument: Insanity) -> thrift::Result<BTreeMap<UserId, BTreeMap<Numberz, Insanity>>> {
        Ok(BTreeMap::from([
            (1, BTreeMap::from([(Numberz::TWO, argument.clone()), (Numberz::THREE, argument)])),
            (2, BTreeMap::from([(Numberz::SIX, Insanity::default())])),
        ]))
    }

    fn handle_test_multi(
        &self,
        arg0: i8,
        arg1: i32,
        arg2: i64,
        _arg3: BTreeMap<i16, String>,
        _arg4: Numberz,
        _arg5: UserId,
    ) -> thrift::Result<Xtruct> {
        Ok(Xtruct::new("Hello2".to_owned(), arg0, arg1, arg2))
    }

    fn handle_test_exception(&self, arg: String) -> thrift::Result<()> {
        match arg.as_str() {
            "Xception" => Err(Xception::new(1001, arg).into()),
            "TException" => Err("This is a TException".into()),
            _ => Ok(()),
        }
    }

    fn handle_test_multi_exception(&self, arg0: String, arg1: String) -> thrift::Result<Xtruct> {
        match arg0.as_str() {
            "Xception" => Err(Xception::new(1001, "This is an Xception".to_owned()).into()),
            "Xception2" => {
                let thing = Xtruct::new("This is an Xception2".to_owned(), None, None, None);
                Err(Xception2::new(2002, thing).into())
            }
            _ => Ok(Xtruct::new(arg1, None, None, None)),
        }
    }

    fn handle_test_oneway(&self, seconds_to_sleep: i32) -> thrift::Result<()> {
        thread::sleep(Duration::from_secs(seconds_to_sleep as u64));
        Ok(())
    }
}

struct SecondHandler;

impl SecondServiceSyncHandler for SecondHandler {
    fn handle_secondtest_string(&self, thing: String) -> thrift::Result<String> {
        Ok(format!("testString(\"{thing}\")"))
    }
}

fn serve<P: TProcessor + Send + Sync + 'static>(processor: P) -> thrift::Result<()> {
    let (read, write): (Box<dyn TReadTransportFactory>, Box<dyn TWriteTransportFactory>) = if framed() {
        (Box::new(TFramedReadTransportFactory::new()), Box::new(TFramedWriteTransportFactory::new()))
    } else {
        (Box::new(TBufferedReadTransportFactory::new()), Box::new(TBufferedWriteTransportFactory::new()))
    };
    // A connection has a worker for itself.
    let mut server = TServer::new(read, Factory, write, Factory, processor, 20);
    // The server does not tell its port, nor when it listens.
    let mut port: u16 = flag("port", "0").parse().unwrap();
    if port == 0 {
        port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    }
    let address = format!("127.0.0.1:{port}");
    let asked = address.clone();
    thread::spawn(move || {
        while TcpStream::connect(&asked).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        println!("listening on {port}");
    });
    server.listen(address)
}

fn main() -> thrift::Result<()> {
    let test = ThriftTestSyncProcessor::new(Handler);
    if !multiplexed() {
        return serve(test);
    }
    let mut both = TMultiplexedProcessor::new();
    both.register("ThriftTest", Box::new(test), true)?;
    both.register("SecondService", Box::new(SecondServiceSyncProcessor::new(SecondHandler)), false)?;
    serve(both)
}
