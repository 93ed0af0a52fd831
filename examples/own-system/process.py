"""A RAG process for ragstage to evaluate: one request per line in, one reply per line out. Documents stay in ./knowledge_bases."""
import json
import re
import sys
from pathlib import Path

FOLDER = Path("knowledge_bases")  # several processes run at once, and all of them end with the run


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def load(handle):
    return json.loads((FOLDER / f"{handle}.json").read_text(encoding="utf-8"))


def ingest(request):
    handle = request.get("handle", request["name"])
    texts = load(handle) if "handle" in request else {}
    texts.update({document["id"]: document.get("text", "") for document in request["documents"]})
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{handle}.json").write_text(json.dumps(texts), encoding="utf-8")
    return {"handle": handle, "count": len(texts)}


def query(request):
    texts, wanted = load(request["handle"]), words(request["query"])
    best = sorted(texts, key=lambda id: (-len(wanted & words(texts[id])), id))[: request["top_k"]]
    results = [{"id": id, "text": texts[id], "source": {"document_id": id}} for id in best]
    return {"results": results, "answer": texts[best[0]] if best else None}


def delete(request):
    (FOLDER / f"{request['handle']}.json").unlink()
    return {}


operations = {"ingest": ingest, "count": lambda request: {"count": len(load(request["handle"]))}, "delete": delete}
for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = operations.get(request.get("op"), query)(request)
    except FileNotFoundError:
        reply = {"error": f"there is no knowledge base {request['handle']}"}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
