//! The sources of all datasets that can be downloaded.
//!
//! The sources of OpenViking's four datasets are those of spec/openviking 3.1, at the commits that its totals were measured on.

use super::source::{Form, Member, Pin, Source, SourceFile};
use super::unpack::ArchiveFormat::{TarGz, Zip};

const fn pin(bytes: u64, sha256: &'static str) -> Pin {
    Pin { bytes, sha256 }
}

/// A file of the dataset under its own name.
const fn file(url: &'static str, path: &'static str, pin: Option<Pin>) -> SourceFile {
    SourceFile { url, name: path, pin, form: Form::File(path) }
}

/// A dataset of BEIR: one archive with one folder in it.
const fn beir(name: &'static str, folder: &'static str, files: &'static [SourceFile]) -> Source {
    Source {
        name,
        folder,
        files,
        expected: &["corpus.jsonl", "queries.jsonl", "qrels/"],
        note: Some("`adapter: beir` reads it"),
    }
}

const fn beir_file(url: &'static str, name: &'static str) -> SourceFile {
    SourceFile { url, name, pin: None, form: Form::Archive { format: Zip, into: "", strip: true, members: &[] } }
}

const UDA_NOTE: Option<&str> = Some("the documents are a large archive: up to several GB");

/// The sources, by name.
pub static SOURCES: &[Source] = &[
    beir(
        "beir_arguana",
        "beir/arguana",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/arguana.zip", "arguana.zip")],
    ),
    beir(
        "beir_fiqa",
        "beir/fiqa",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/fiqa.zip", "fiqa.zip")],
    ),
    beir(
        "beir_hotpotqa",
        "beir/hotpotqa",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/hotpotqa.zip", "hotpotqa.zip")],
    ),
    beir(
        "beir_nfcorpus",
        "beir/nfcorpus",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/nfcorpus.zip", "nfcorpus.zip")],
    ),
    beir(
        "beir_scidocs",
        "beir/scidocs",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/scidocs.zip", "scidocs.zip")],
    ),
    beir(
        "beir_scifact",
        "beir/scifact",
        &[beir_file("https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/scifact.zip", "scifact.zip")],
    ),
    beir(
        "beir_trec-covid",
        "beir/trec-covid",
        &[beir_file(
            "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/trec-covid.zip",
            "trec-covid.zip",
        )],
    ),
    Source {
        name: "cranfield",
        folder: "cranfield",
        files: &[SourceFile {
            url: "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz",
            name: "cran.tar.gz",
            pin: None,
            form: Form::Archive { format: TarGz, into: "", strip: false, members: &[] },
        }],
        expected: &["cran.all.1400", "cran.qry", "cranqrel"],
        note: None,
    },
    Source {
        name: "financebench",
        folder: "financebench",
        files: &[SourceFile {
            url: "https://github.com/patronus-ai/financebench/archive/cc39aeb4afdf33909ee1412188bf89035950c2eb.tar.gz",
            name: "financebench.tar.gz",
            pin: None,
            form: Form::Archive {
                format: TarGz,
                into: "",
                strip: true,
                members: &[
                    Member {
                        path: "data/financebench_open_source.jsonl",
                        pin: pin(929_848, "a5a2aa673e573e55675fc3c0f9aa38c1cf59d2abc91edb077534f71f10a71877"),
                    },
                    Member {
                        path: "data/financebench_document_information.jsonl",
                        pin: pin(88_781, "1c69127783879de8cdadb159d2181f39bc3123b8e0ebf74031c3969d69189575"),
                    },
                ],
            },
        }],
        expected: &["data/financebench_open_source.jsonl", "data/financebench_document_information.jsonl", "pdfs/"],
        note: Some("the whole repository with 368 PDFs: several hundred MB"),
    },
    Source {
        name: "hotpotqa",
        folder: "hotpotqa",
        files: &[file(
            "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json",
            "hotpot_dev_distractor_v1.json",
            Some(pin(46_320_117, "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea")),
        )],
        expected: &["hotpot_dev_distractor_v1.json"],
        note: None,
    },
    Source {
        name: "locomo",
        folder: "locomo",
        files: &[file(
            "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
            "locomo10.json",
            Some(pin(2_805_274, "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4")),
        )],
        expected: &["locomo10.json"],
        note: None,
    },
    Source {
        name: "multihop_rag",
        folder: "multihop_rag",
        files: &[
            file(
                "https://huggingface.co/datasets/yixuantt/MultiHopRAG/resolve/71ac0d0bd1f951d2d6b70311f7d2ae404e1ffa82/corpus.json",
                "corpus.json",
                None,
            ),
            file(
                "https://huggingface.co/datasets/yixuantt/MultiHopRAG/resolve/71ac0d0bd1f951d2d6b70311f7d2ae404e1ffa82/MultiHopRAG.json",
                "MultiHopRAG.json",
                None,
            ),
        ],
        expected: &["corpus.json", "MultiHopRAG.json"],
        note: None,
    },
    Source {
        name: "musique",
        folder: "musique",
        files: &[file(
            "https://huggingface.co/datasets/dgslibisey/MuSiQue/resolve/c8f4f8c9465fb69d31a8eae894c3fd509c4ca321/musique_ans_v1.0_dev.jsonl",
            "musique_ans_v1.0_dev.jsonl",
            Some(pin(30_439_728, "15fa63794d18a94ce12411aca6e2327e65b6e83b0b1490efab3f1962e48abf3b")),
        )],
        expected: &["musique_ans_v1.0_dev.jsonl"],
        note: Some(
            "a copy of the file in its authors' archive, byte for byte; the archive itself can only be had through a web page",
        ),
    },
    Source {
        name: "qasper",
        folder: "qasper",
        files: &[
            SourceFile {
                url: "https://qasper-dataset.s3.us-west-2.amazonaws.com/qasper-train-dev-v0.3.tgz",
                name: "qasper-train-dev-v0.3.tgz",
                pin: None,
                form: Form::Archive { format: TarGz, into: "", strip: false, members: &[] },
            },
            SourceFile {
                url: "https://qasper-dataset.s3.us-west-2.amazonaws.com/qasper-test-and-evaluator-v0.3.tgz",
                name: "qasper-test-and-evaluator-v0.3.tgz",
                pin: None,
                form: Form::Archive {
                    format: TarGz,
                    into: "",
                    strip: false,
                    members: &[Member {
                        path: "qasper-test-v0.3.json",
                        pin: pin(18_078_957, "6e29ad410e6e39aa1936017fb965b30a20eb2e7751997f55b97c9d281aa884e5"),
                    }],
                },
            },
        ],
        expected: &["qasper-train-v0.3.json", "qasper-dev-v0.3.json", "qasper-test-v0.3.json"],
        note: None,
    },
    Source {
        name: "syllabusqa",
        folder: "syllabusqa",
        files: &[SourceFile {
            url: "https://github.com/umass-ml4ed/SyllabusQA/archive/72baa744eaa120539134a5b174cf1d51ba7cb064.tar.gz",
            name: "syllabusqa.tar.gz",
            pin: None,
            form: Form::Archive {
                format: TarGz,
                into: "",
                strip: true,
                members: &[
                    Member {
                        path: "data/dataset_split/train.csv",
                        pin: pin(1_377_633, "6ac3c110994933ca8c89c363e45933da12ba987804be2829b6343329e5dd8caa"),
                    },
                    Member {
                        path: "data/dataset_split/val.csv",
                        pin: pin(408_348, "260488784683fed11e404ee516e0ef870b7530accddf559486a8e3f7557357cf"),
                    },
                    Member {
                        path: "data/dataset_split/test.csv",
                        pin: pin(477_110, "46f0d0166d7c137014b8ec12627e102ba5e8dfd407c75a7518993f9609494a7b"),
                    },
                ],
            },
        }],
        expected: &[
            "data/dataset_split/train.csv",
            "data/dataset_split/val.csv",
            "data/dataset_split/test.csv",
            "syllabi/syllabi_redacted/word/",
        ],
        note: None,
    },
    Source {
        name: "uda_feta",
        folder: "uda_feta",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/feta_qa.csv",
                name: "feta_qa.csv",
                pin: Some(pin(273_859, "0c324a2e4f9d48faca4309068934df242e2ccae28cdf73cf08018118a7427b23")),
                form: Form::File("dataset/qa/feta_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_feta_qa.json",
                name: "bench_feta_qa.json",
                pin: Some(pin(2_141_699, "673dfc4fcffa93849b84a43b95c335cfe091bb2b0f930b5dc7ace76f28b75725")),
                form: Form::File("dataset/extended_qa_info_bench/bench_feta_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/wiki_feta_docs.zip",
                name: "wiki_feta_docs.zip",
                pin: None,
                form: Form::Archive {
                    format: Zip,
                    into: "dataset/src_doc_files/wiki_feta_docs",
                    strip: false,
                    members: &[],
                },
            },
        ],
        expected: &["dataset/qa/feta_qa.csv", "dataset/src_doc_files/wiki_feta_docs/"],
        note: UDA_NOTE,
    },
    Source {
        name: "uda_fin",
        folder: "uda_fin",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/fin_qa.csv",
                name: "fin_qa.csv",
                pin: Some(pin(1_158_964, "dea42d3f77f2e61bf28f93938809f28e30baacbdc5c4c220c20d61889b49d992")),
                form: Form::File("dataset/qa/fin_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_fin_qa.json",
                name: "bench_fin_qa.json",
                pin: Some(pin(3_409_468, "8e023630eed489239f0538038beccbf4069505c39cd8c5bf72f98d23066d17f2")),
                form: Form::File("dataset/extended_qa_info_bench/bench_fin_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/fin_docs.zip",
                name: "fin_docs.zip",
                pin: None,
                form: Form::Archive { format: Zip, into: "dataset/src_doc_files/fin_docs", strip: false, members: &[] },
            },
        ],
        expected: &["dataset/qa/fin_qa.csv", "dataset/src_doc_files/fin_docs/"],
        note: UDA_NOTE,
    },
    Source {
        name: "uda_nq",
        folder: "uda_nq",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/nq_qa.csv",
                name: "nq_qa.csv",
                pin: Some(pin(3_498_573, "20fa0712bcc0ea240ddc57f7e5489313139b4a9d333c98331d7b00856117a074")),
                form: Form::File("dataset/qa/nq_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_nq_qa.json",
                name: "bench_nq_qa.json",
                pin: Some(pin(490_068, "98ef0a8f5fa792bcc9aa4d6092462616216d0b6c3e9d01012120f2ad9c319956")),
                form: Form::File("dataset/extended_qa_info_bench/bench_nq_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/wiki_nq_docs.zip",
                name: "wiki_nq_docs.zip",
                pin: None,
                form: Form::Archive {
                    format: Zip,
                    into: "dataset/src_doc_files/wiki_nq_docs",
                    strip: false,
                    members: &[],
                },
            },
        ],
        expected: &["dataset/qa/nq_qa.csv", "dataset/src_doc_files/wiki_nq_docs/"],
        note: UDA_NOTE,
    },
    Source {
        name: "uda_paper_tab",
        folder: "uda_paper_tab",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/paper_tab_qa.csv",
                name: "paper_tab_qa.csv",
                pin: Some(pin(90_929, "eca7b3618dd5e5b474f398b2e086e3aa45642c961aa09a04f43bc50a203a8a92")),
                form: Form::File("dataset/qa/paper_tab_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_paper_tab_qa.json",
                name: "bench_paper_tab_qa.json",
                pin: Some(pin(998_572, "09bd45ea9cce84595c4553db8ea8fc75faff4fd2dd99181730159f264da41ec4")),
                form: Form::File("dataset/extended_qa_info_bench/bench_paper_tab_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/paper_docs.zip",
                name: "paper_docs.zip",
                pin: None,
                form: Form::Archive {
                    format: Zip,
                    into: "dataset/src_doc_files/paper_docs",
                    strip: false,
                    members: &[],
                },
            },
        ],
        expected: &["dataset/qa/paper_tab_qa.csv", "dataset/src_doc_files/paper_docs/"],
        note: UDA_NOTE,
    },
    Source {
        name: "uda_paper_text",
        folder: "uda_paper_text",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/paper_text_qa.csv",
                name: "paper_text_qa.csv",
                pin: Some(pin(599_746, "947e301b61b57173d09bbbc902c307b8f3b4c4a90548f991ac67cbd42d088a5b")),
                form: Form::File("dataset/qa/paper_text_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_paper_text_qa.json",
                name: "bench_paper_text_qa.json",
                pin: Some(pin(1_170_754, "1aec650b0dd6288b7f9612b1359f6af2aa6bc412d0752e4666fa18264c2cd5b5")),
                form: Form::File("dataset/extended_qa_info_bench/bench_paper_text_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/paper_docs.zip",
                name: "paper_docs.zip",
                pin: None,
                form: Form::Archive {
                    format: Zip,
                    into: "dataset/src_doc_files/paper_docs",
                    strip: false,
                    members: &[],
                },
            },
        ],
        expected: &["dataset/qa/paper_text_qa.csv", "dataset/src_doc_files/paper_docs/"],
        note: UDA_NOTE,
    },
    Source {
        name: "uda_tat",
        folder: "uda_tat",
        files: &[
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/qa/tat_qa.csv",
                name: "tat_qa.csv",
                pin: Some(pin(2_576_930, "9f8d2449bbc7469a13b6d88e04fafdcb55d0521fa1bfc4b11988ba8eb94d9669")),
                form: Form::File("dataset/qa/tat_qa.csv"),
            },
            SourceFile {
                url: "https://raw.githubusercontent.com/qinchuanhui/UDA-Benchmark/026d17457b4ba59b9117f990aa926292b2b28f1c/dataset/extended_qa_info_bench/bench_tat_qa.json",
                name: "bench_tat_qa.json",
                pin: Some(pin(266_962, "1cbf1cc58f1deb3e0aa39587e3db94f9e375b2529786a4b0ee55e2fb364f6832")),
                form: Form::File("dataset/extended_qa_info_bench/bench_tat_qa.json"),
            },
            SourceFile {
                url: "https://huggingface.co/datasets/qinchuanhui/UDA-QA/resolve/main/src_doc_files/tat_docs.zip",
                name: "tat_docs.zip",
                pin: None,
                form: Form::Archive { format: Zip, into: "dataset/src_doc_files/tat_docs", strip: false, members: &[] },
            },
        ],
        expected: &["dataset/qa/tat_qa.csv", "dataset/src_doc_files/tat_docs/"],
        note: UDA_NOTE,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_can_be_fetched() {
        assert!(SOURCES.is_sorted_by_key(|source| source.name));
        for source in SOURCES {
            let mut pins = Vec::new();
            for file in source.files {
                assert!(file.url.starts_with("http") && !file.name.contains('/'), "{}", file.url);
                pins.extend(file.pin);
                if let Form::Archive { members, .. } = &file.form {
                    pins.extend(members.iter().map(|member| member.pin));
                }
            }
            for pin in pins {
                let digits = pin.sha256.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
                assert!(digits && pin.sha256.len() == 64 && pin.bytes > 0, "{}", source.name);
            }
            assert!(!source.expected.is_empty(), "{}", source.name);
        }
        assert_eq!(Source::find("locomo").and_then(Source::bytes), Some(2_805_274));
        assert_eq!(Source::find("qasper").and_then(Source::bytes), None);
        assert_eq!(Source::nearest("financebnch"), Some("financebench"));
    }
}
