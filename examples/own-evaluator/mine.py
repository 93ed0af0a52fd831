"""An evaluator of one's own: does the answer say where it has it from, and how much of it is from there?"""

import re

NAME = "grounded"
DESCRIPTION = "how much of the answer stands in what was found"
SCORES = ["words", "numbers"]
READS = ["answer", "results"]


def tokens(text):
    return re.findall(r"\w+", text.lower())


def evaluate(case, response):
    if not response["answer"]:
        return None  # skipped: it enters no mean
    found = {token for hit in response["results"] for token in tokens(hit["text"])}
    words = tokens(response["answer"])
    numbers = [word for word in words if word.isdigit()]
    missing = sorted(set(words) - found)
    scores = {
        "words": sum(word in found for word in words) / len(words) if words else None,
        "numbers": all(number in found for number in numbers),
    }
    return scores, {"missing": missing}  # the second value is kept with the scores
