#!/usr/bin/env python3
"""What other programs take for the work that `cargo bench --bench speed` times, printed as the same table.

Each is measured only where it is installed: pip install bm25s PyStemmer tantivy ranx pytrec_eval-terrier numba
faiss-cpu numpy ir-measures polars
SciFact is read from $RAGSTAGE_DATA/beir/scifact, the 100,000 made-up documents, the run of 10 million rows and the responses from
target/tmp, where `cargo bench --bench speed -- full_text trec lexical` leaves them. Always exits with 0.
"""

import gzip
import json
import os
import random
import re
import statistics
import time
from pathlib import Path


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def row(figure, value, unit):
    print(f"| {figure} | {value:.2f} {unit} |", flush=True)


def timed(call, times=5):
    """The last result and the median of the wall times in milliseconds."""
    elapsed = []
    for _ in range(times):
        start = time.perf_counter()
        result = call()
        elapsed.append((time.perf_counter() - start) * 1e3)
    return result, statistics.median(elapsed)


def scifact():
    """Documents, test queries and judgements; None where they are not there."""
    folder = Path(os.environ.get("RAGSTAGE_DATA", "")) / "beir" / "scifact"
    packed = folder / "corpus.jsonl.gz"
    if "RAGSTAGE_DATA" not in os.environ or not packed.is_file():
        return None
    with gzip.open(packed, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    judgements = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        judgements.setdefault(query, {})[document] = int(grade)
    with open(folder / "queries.jsonl", encoding="utf-8") as file:
        queries = {query["_id"]: query["text"] for query in map(json.loads, file) if query["_id"] in judgements}
    return documents, queries, judgements


def made_up():
    """The documents and queries that our own benchmark made; None where it has not run."""
    folder = Path(__file__).resolve().parent.parent / "target" / "tmp"
    if not (folder / "documents-100k.jsonl").is_file():
        return None
    with open(folder / "documents-100k.jsonl", encoding="utf-8") as file:
        documents = [json.loads(line)["text"] for line in file]
    with open(folder / "queries-100k.jsonl", encoding="utf-8") as file:
        queries = [json.loads(line)["query"] for line in file]
    return documents, queries


def by_bm25s(corpus, texts, queries, bm25s, stemmer, times):
    """Measures bm25s; gives what it found, 1,000 hits each."""
    stem = stemmer.Stemmer("english")

    def build():
        index = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
        index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stem, show_progress=False), show_progress=False)
        return index

    def ask(index, hits):
        tokens = bm25s.tokenize(queries, stopwords="en", stemmer=stem, show_progress=False)
        return index.retrieve(tokens, k=hits, show_progress=False)

    index, build_ms = timed(build, times)
    row(f"{corpus}: bm25s, tokenize and index {len(texts)} texts, one thread", build_ms, "ms")
    row(f"{corpus}: bm25s, {len(queries)} queries, 10 hits each", timed(lambda: ask(index, 10))[1], "ms")
    found, ask_ms = timed(lambda: ask(index, 1000))
    row(f"{corpus}: bm25s, {len(queries)} queries, 1,000 hits each", ask_ms, "ms")
    return found


def by_tantivy(corpus, texts, queries, tantivy, times):
    """Measures tantivy in memory, with its own English stemmer and as many threads as it likes."""
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=False, tokenizer_name="en_stem").build()

    def build():
        index = tantivy.Index(schema)
        writer = index.writer(heap_size=256_000_000)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index

    # Operators of its query language are none here.
    plain = [" ".join(re.findall(r"\w+", query)).lower() for query in queries]

    def ask(index, hits):
        searcher = index.searcher()
        return [searcher.search(index.parse_query(query, ["text"]), hits).hits for query in plain]

    index, build_ms = timed(build, times)
    row(f"{corpus}: tantivy, index {len(texts)} texts, all cores", build_ms, "ms")
    for hits in [10, 1000]:
        row(f"{corpus}: tantivy, {len(queries)} queries, {hits:,} hits each", timed(lambda: ask(index, hits))[1], "ms")


def full_text(bm25s, stemmer, tantivy):
    if (data := made_up()) is not None:
        texts, queries = data
        if bm25s and stemmer:
            by_bm25s("100,000 documents", texts, queries, bm25s, stemmer, 1)
        if tantivy:
            by_tantivy("100,000 documents", texts, queries, tantivy, 3)
    if (data := scifact()) is None:
        return
    documents, queries, judgements = data
    ids = [document["_id"] for document in documents]
    texts = [f"{document.get('title', '')} {document['text']}" for document in documents]
    if tantivy:
        by_tantivy("SciFact", texts, list(queries.values()), tantivy, 3)
    if not (bm25s and stemmer):
        return
    found, scores = by_bm25s("SciFact", texts, list(queries.values()), bm25s, stemmer, 3)
    pytrec_eval = optional("pytrec_eval")
    if pytrec_eval is None:
        return
    run = {
        query: {ids[hit]: float(score) for hit, score in zip(hits, values) if score > 0}
        for query, hits, values in zip(queries, found, scores)
    }
    values = pytrec_eval.RelevanceEvaluator(judgements, {"ndcg_cut.10"}).evaluate(run)
    row("SciFact: nDCG@10 of that, by pytrec_eval", statistics.mean(v["ndcg_cut_10"] for v in values.values()), "")


def rescore():
    """10,000 cases with ten hits and one judgement each, already in memory in the program's own form."""
    draw = random.Random(1)
    judgements = {f"q{i}": {f"d{draw.randrange(2000)}": 1} for i in range(10_000)}
    run = {query: {f"d{draw.randrange(2000)}": draw.random() for _ in range(10)} for query in judgements}
    if (pytrec_eval := optional("pytrec_eval")) is not None:
        evaluator = pytrec_eval.RelevanceEvaluator(judgements, {"ndcg_cut.10"})
        row("nDCG@10 of 10,000 cases x 10 hits, pytrec_eval", timed(lambda: evaluator.evaluate(run))[1], "ms")
    if (ranx := optional("ranx")) is not None:

        def evaluate():
            return ranx.evaluate(ranx.Qrels(judgements), ranx.Run(run), "ndcg@10")

        evaluate()  # numba compiles
        row("nDCG@10 of 10,000 cases x 10 hits, ranx", timed(evaluate)[1], "ms")


def processor(call):
    """Processor seconds of this process that `call` takes, and its result."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def trec():
    """The run of 10 million rows that our own benchmark made, from files to five means."""
    folder = Path(__file__).resolve().parent.parent / "target" / "tmp"
    if not (folder / "trec.run").is_file():
        return
    qrels_file, run_file = str(folder / "trec.qrels"), str(folder / "trec.run")
    if (pytrec_eval := optional("pytrec_eval")) is not None:

        def by_pytrec_eval():
            with open(qrels_file, encoding="utf-8") as file:
                qrels = pytrec_eval.parse_qrel(file)
            with open(run_file, encoding="utf-8") as file:
                run = pytrec_eval.parse_run(file)
            names = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
            return pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)

        row("10 million rows, TREC text, five measures: pytrec_eval", processor(by_pytrec_eval)[1], "s of processor")
    if (ir_measures := optional("ir_measures")) is not None:

        def by_ir_measures():
            measures = [ir_measures.parse_measure(name) for name in ["nDCG@10", "AP", "RR", "P@10", "R@100"]]
            qrels, run = ir_measures.read_trec_qrels(qrels_file), ir_measures.read_trec_run(run_file)
            return ir_measures.calc_aggregate(measures, qrels, run)

        row("10 million rows, TREC text, five measures: ir-measures", processor(by_ir_measures)[1], "s of processor")
    if (polars := optional("polars")) is not None:

        def by_polars():
            names = ["query", "q0", "document", "rank", "score", "tag"]
            run = polars.read_csv(run_file, separator=" ", has_header=False, new_columns=names, columns=[0, 2, 4])
            return run.sort(["query", "score", "document"], descending=[False, True, True])

        row("10 million rows, TREC text, read and ranked only: polars", processor(by_polars)[1], "s of processor")


def normal(text):
    return " ".join(text.casefold().split())


def tokens(text):
    words = "".join(c for c in text.lower() if c.isalnum() or c.isspace()).split()
    return [word for word in words if word not in ("a", "an", "the")]


def token_f1(answer, gold):
    left, right = tokens(answer), tokens(gold)
    same = sum(min(left.count(word), right.count(word)) for word in set(left))
    return 2 * same / (len(left) + len(right)) if same else 0.0


def lexical():
    """Five lexical evaluators over the 10,000 responses that our own benchmark made, in plain Python."""
    folder = Path(__file__).resolve().parent.parent / "target" / "tmp"
    if not (folder / "lexical-responses.jsonl").is_file():
        return

    def evaluate():
        with open(folder / "lexical-cases.jsonl", encoding="utf-8") as file:
            golds = {case["case_id"]: case["expected"] for case in map(json.loads, file)}
        sums = [0.0] * 5
        with open(folder / "lexical-responses.jsonl", encoding="utf-8") as file:
            for response in map(json.loads, file):
                gold, answer = golds[response["case_id"]], response["answer"]
                plain, wanted = normal(answer), [normal(text) for text in gold["answers"]]
                evidence = [normal(piece["text"]) for piece in gold["evidence"]]
                texts = [normal(hit["text"]) for hit in response["results"]]
                sums[0] += any(text in plain for text in wanted)
                sums[1] += any(text == plain for text in wanted)
                sums[2] += max(token_f1(answer, text) for text in gold["answers"])
                for place, depth in [(3, 5), (4, 10)]:
                    sums[place] += sum(any(e in t for t in texts[:depth]) for e in evidence) / len(evidence)
        return sums

    row("10,000 responses x 10 hits, five lexical evaluators: plain Python", processor(evaluate)[1], "s of processor")


def vectors(numpy):
    """The nearest 10 of 100,000 vectors of 384 numbers by cosine: 200 queries at once, and one at a time."""
    draw = numpy.random.default_rng(1)
    rows = draw.random((100_000, 384), dtype=numpy.float32) - 0.5
    queries = draw.random((200, 384), dtype=numpy.float32) - 0.5
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    queries /= numpy.linalg.norm(queries, axis=1, keepdims=True)
    singles = [queries[i : i + 1] for i in range(len(queries))]

    def rate(search):
        search(queries)
        _, batched = timed(lambda: search(queries))
        _, alone = timed(lambda: [search(query) for query in singles], 3)
        return (len(queries) * 1e3 / batched, len(queries) * 1e3 / alone)

    def by_numpy(queries):
        scores = queries @ rows.T
        best = numpy.argpartition(-scores, 10, axis=1)[:, :10]
        return numpy.take_along_axis(best, numpy.argsort(-numpy.take_along_axis(scores, best, 1), 1), 1)

    peers = {"numpy": by_numpy}
    if (faiss := optional("faiss")) is not None:
        index = faiss.IndexFlatIP(384)
        index.add(rows)
        peers["faiss flat"] = lambda queries: index.search(queries, 10)
    for name, search in peers.items():
        batched, alone = rate(search)
        row(f"exact top 10 of 100,000 x 384, {name}: 200 queries at once, all cores", batched, "queries/s")
        row(f"exact top 10 of 100,000 x 384, {name}: one query at a time, all cores", alone, "queries/s")


def main():
    bm25s, stemmer, tantivy = optional("bm25s"), optional("Stemmer"), optional("tantivy")
    numpy = optional("numpy")
    if not any([bm25s and stemmer, tantivy, numpy, optional("pytrec_eval"), optional("ranx")]):
        print("no peers are installed: pip install bm25s PyStemmer tantivy ranx pytrec_eval-terrier faiss-cpu numpy")
    print("| peer | measured |\n|---|---:|")
    full_text(bm25s, stemmer, tantivy)
    rescore()
    trec()
    lexical()
    if numpy is not None:
        vectors(numpy)


if __name__ == "__main__":
    main()
