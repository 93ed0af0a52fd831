"""A RAG service for ragstage to evaluate: python3 server.py [PORT]. It takes documents in, answers, counts and forgets."""
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

knowledge_bases = {}  # by handle: the text of each document by its id


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def ingest(request):
    handle = request.get("handle", request["name"])  # the first batch has no handle yet
    texts = knowledge_bases.setdefault(handle, {})
    texts.update({document["id"]: document.get("text", "") for document in request["documents"]})
    return {"handle": handle, "count": len(texts)}


def query(request):
    texts, wanted = knowledge_bases[request["handle"]], words(request["query"])
    best = sorted(texts, key=lambda id: (-len(wanted & words(texts[id])), id))[: request["top_k"]]
    results = [{"id": id, "text": texts[id], "source": {"document_id": id}} for id in best]
    return {"results": results, "answer": texts[best[0]] if best else None}


class Rag(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, reply = 200, {
                "/ingest": ingest,
                "/query": query,
                "/count": lambda request: {"count": len(knowledge_bases[request["handle"]])},
                "/delete": lambda request: {"deleted": len(knowledge_bases.pop(request["handle"]))},
            }[self.path](request)
        except KeyError as unknown:  # a handle that is not there any more is no 500: nothing is wrong with the service
            status, reply = 404, {"error": f"there is no {unknown}"}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8765), Rag)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
