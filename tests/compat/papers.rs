//! What the adapters of MultiHop-RAG and UDA-Benchmark read from files of our own.

use ragstage_stages::prepare::{
    AdapterSpec, BenchmarkSpec, MultihopRagSpec, Selection, UdaDocuments, UdaSpec, UdaSubset,
};

use crate::golden::{Golden, folder};
use crate::harbour::Prepared;
use crate::memory::MemoryContext;

fn take(golden: &mut Golden, what: &str, adapter: AdapterSpec) {
    let spec = BenchmarkSpec { adapter, selection: Selection::default() };
    let prepared = Prepared::read(&MemoryContext::default(), spec);
    golden.take_values(what, &prepared.sources.action, &prepared.sources.ran);
    golden.take_values(what, &prepared.prepare.action, &prepared.prepare.ran);
}

#[test]
fn multihop_rag_reads_what_it_reads() {
    let adapter = AdapterSpec::MultihopRag(MultihopRagSpec { path: folder().join("news") });
    let mut golden = Golden::new("adapter-multihop_rag", adapter.version(), "AdapterSpec::version");
    take(&mut golden, "", adapter);
    golden.check();
}

#[test]
fn uda_reads_what_it_reads() {
    let of = |subset, documents| AdapterSpec::Uda(UdaSpec { path: folder().join("uda"), subset, documents });
    let version = of(UdaSubset::Fin, UdaDocuments::All).version();
    let mut golden = Golden::new("adapter-uda", version, "AdapterSpec::version");
    for subset in UdaSubset::ALL {
        take(&mut golden, subset.word(), of(subset, UdaDocuments::All));
    }
    take(&mut golden, "fin present", of(UdaSubset::Fin, UdaDocuments::Present));
    golden.check();
}
