// Makes pilota's structs of the messages in bench/idl.
fn main() {
    let idl = ["../idl/peer.thrift", "../idl/prom.thrift"];
    for file in idl {
        println!("cargo:rerun-if-changed={file}");
    }
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR").unwrap()).join("messages.rs");
    pilota_build::Builder::thrift()
        .ignore_unused(false)
        .compile(idl, pilota_build::Output::File(out));
}
