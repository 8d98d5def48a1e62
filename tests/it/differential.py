"""Asks two servers the same random questions and prints where they differ, as JSON.

Arguments: a JSON file of {"ours", "theirs", "key", "data", "questions", "seed"}: two base addresses that one key opens, a CSV
file of the businesses both serve, and how many questions to ask.
"""

import collections
import csv
import http.client
import json
import random
import re
import sys
from datetime import date, timedelta
from urllib.parse import quote, urlsplit

TODAY = date(2026, 7, 31)
TYPES = ["llc", "corporation", "partnership", "nonprofit", "fictitious", "trust"]


class Questions:
    """Targets that look like what clients send, and what they send by mistake."""

    def __init__(self, rows, seed):
        self.rows, self.random = rows, random.Random(seed)
        self.industries = sorted({row["industry_sector"] for row in rows} | {row["industry_type"] for row in rows})
        self.industries += ["trades", "caregivers", "money", "construction"]

    def one_of(self, *choices):
        return self.random.choice(choices)

    def row(self):
        return self.random.choice(self.rows)

    def day(self):
        near = TODAY - timedelta(days=self.random.randint(-5, 130))
        far = TODAY - timedelta(days=self.random.randint(-100, 5200))
        filed = date.fromisoformat(self.row()["filed_date"])
        return self.one_of(near, near, far, filed, filed, TODAY).isoformat()

    def name(self):
        name = self.row()["name"]
        text = name[: self.random.choice([2, 2, 2, 3, 4, 6, 12, 80])]
        return self.one_of(text, text, text.lower(), text.title())

    def right(self, name):
        row = self.row()
        return {
            "q": self.name,
            "city": lambda: self.one_of(row["city"], row["city"].lower(), row["city"].upper(), "Nowhere"),
            "zip": lambda: (row["zip"] or "33702")[: self.random.choice([3, 4, 5, 5])],
            "county": lambda: self.one_of(row["county"] or "Duval", (row["county"] or "Bay").upper(), "Atlantis"),
            "filed_from": self.day,
            "filed_to": self.day,
            "type": lambda: self.one_of(*TYPES),
            "industry": lambda: self.random.choice(self.industries),
            "status": lambda: self.one_of("active", "active", "all"),
            "limit": lambda: str(self.one_of(1, 2, 7, 25, 50, 99, 100, 101, 1000)),
            "offset": lambda: str(self.one_of(0, 0, 1, 10, 100, 999, 1000, 1001, 5000)),
            "days": lambda: str(self.random.randint(1, 90)),
        }[name]()

    def wrong(self, name):
        anywhere = ["", "%00", "%ff", "%zz", "a%0Ab", "x" * 201]
        return self.random.choice(
            anywhere
            + {
                "q": ["S", "x" * 81, "%C3%89"],
                "city": ["x" * 41],
                "zip": ["33", "331011", "33A", "-331", "3310+"],
                "county": ["x" * 41],
                "filed_from": ["2026-02-30", "2026-7-1", "today", "20260701", "2026-07-01T00:00:00"],
                "filed_to": ["2026-13-01", "0000-00-00", "1", "2026-07-32"],
                "type": ["LLC", "other", "llc,trust"],
                "industry": ["nonsense", "Construction"],
                "status": ["dissolved", "ALL", "inactive"],
                "limit": ["0", "05", "1001", "-1", "5.0", "1e2", "%2B5", "5+", "99999999999999999999"],
                "offset": ["-1", "100001", "5001", "1.5", "0x10"],
                "days": ["0", "91", "7.0", "-7", "seven"],
            }[name]
        )

    def value(self, name):
        if self.random.random() < 0.06:
            return self.wrong(name)
        text = quote(self.right(name), safe="")
        return text.replace("%20", "+") if self.random.random() < 0.5 else text

    def query(self, names):
        pairs = [f"{name}={self.value(name)}" for name in names]
        if self.random.random() < 0.03:
            pairs.append(self.one_of("sort=name", "Q=SU", "page=2", "q", "=", "limit=5", "x=%zz"))
        self.random.shuffle(pairs)
        return "?" + "&".join(pairs) if pairs else ""

    def some(self, weights):
        return [name for name, weight in weights.items() if self.random.random() < weight]

    def search(self):
        weights = {
            "q": 0.45, "city": 0.2, "zip": 0.2, "county": 0.2, "filed_from": 0.45, "filed_to": 0.3,
            "type": 0.25, "industry": 0.15, "status": 0.15, "limit": 0.5, "offset": 0.3,
        }  # fmt: skip
        return "/v1/fl/businesses" + self.query(self.some(weights))

    def day_listing(self):
        day = self.one_of(self.day(), self.day(), self.day(), "2026-07-16", "2026-02-30", "today", "2026-7-1", "%zz")
        return f"/v1/fl/filings/daily/{day}" + self.query(self.some({"limit": 0.5, "offset": 0.4}))

    def daily(self):
        return "/v1/fl/filings/daily" + self.query(self.some({"days": 0.8}))

    def county(self):
        name = self.row()["county"] or "Duval"
        key = self.one_of(name.upper(), name.lower(), name, "ATLANTIS", "D1", "x" * 41, "%20DUVAL", "ST. JOHNS", "DESOTO")
        return "/v1/fl/counties/" + quote(key, safe="%") + self.query([])

    def look_up(self):
        row = self.row()
        number = row["document_number"]
        path = self.one_of(
            f"by-document/{number}", f"by-document/{number.lower()}", "by-document/Z9999999999", "by-document/L1",
            "by-document/L-1234567", "by-document", row["id"], "999999999", "0", "000", "-1", "abc", "9" * 40,
            f"{row['id']}/officers", "0/officers", "99999999/officers", "1/officers/2", "",
        )  # fmt: skip
        return "/v1/fl/businesses/" + path + self.query([])

    def fixed(self):
        return self.one_of(
            "/v1/fl/counties", "/v1/fl/stats", "/v1/fl/industries", "/v1/fl/entity-types", "/v1/fl/stats?x=1",
            "/v1/nowhere", "/v1", "/v1/fl/businesses/", "/V1/me", "/v1/fl/filings", "/v1//me", "/v1/fl/industries?%zz",
        )  # fmt: skip

    def next(self):
        kinds = [self.search] * 12 + [self.day_listing] * 3 + [self.daily, self.county, self.look_up, self.fixed]
        return self.random.choice(kinds)()


# What our message says, as an expression, and the decision behind it, where the other server does not look.
DECIDED = {
    r"without control characters, not \".*\\": "text that has control characters is a 400",
    r"broken percent-encoding": "text that has broken percent-encoding is a 400",
    r"not valid UTF-8": "text that is not valid UTF-8 is a 400",
    r'not "05"': "a whole number has no leading zeros",
}


class Server:
    """One connection that stays open."""

    def __init__(self, base, key):
        self.at, self.key = urlsplit(base), key
        self.connection = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=60)

    def ask(self, method, target):
        self.connection.request(method, target, headers={"Authorization": f"Bearer {self.key}"})
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body)


def comparable(status, body):
    """What must be the same: for an error its status alone, else everything but the server's own links and clock."""
    if status != 200:
        return status
    data = body.get("data")
    for record in data if isinstance(data, list) else [data]:
        if isinstance(record, dict):
            record.pop("url", None)
            record.pop("updated_at", None)
    return body


def problems(body):
    message = body["message"]
    return message if isinstance(message, list) else [message]


def only_ours(message):
    """The decision that makes this a broken rule with us alone."""
    return next((why for words, why in DECIDED.items() if re.search(words, message)), None)


def reason(ours, theirs):
    """Which decision explains a difference of statuses or bodies, if any."""
    (our_status, our_body), (their_status, their_body) = ours, theirs
    if our_status == 404 and their_status == 200 and "never fetched" in our_body["message"]:
        return "a detail or an officer list that is not in the lake is a 404 that says so"
    if our_status == 400 and their_status in (200, 403, 404):
        reasons = [only_ours(message) for message in problems(our_body)]
        return reasons[0] if all(reasons) else None
    if our_status == their_status == 200 and "segments" in our_body["data"]:
        for body in (our_body, their_body):
            body["data"]["segments"].sort(key=lambda segment: segment["key"])
        if our_body == their_body:
            return "segments are listed in the order of their keys"
    if our_status == 405 and their_status == 404:
        return "another method on a known route is a 405"
    return None


def same_number_of_problems(ours, theirs):
    """Whether both name the same number of broken rules, without the rules that only we have."""
    mine, others = problems(ours), problems(theirs)
    return len([message for message in mine if not only_ours(message)]) <= len(others) <= len(mine)


def main(task):
    with open(task["data"], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = Questions(rows, task["seed"])
    ours, theirs = Server(task["ours"], task["key"]), Server(task["theirs"], task["key"])
    statuses, decided = collections.Counter(), collections.Counter()
    open_differences = []
    rows_compared = 0
    for number in range(task["questions"]):
        target = questions.next()
        method = "POST" if number % 100 == 99 else "GET"
        one, other = ours.ask(method, target), theirs.ask(method, target)
        statuses[other[0]] += 1
        if comparable(*one) == comparable(*other):
            if one[0] == 200 and isinstance(one[1].get("data"), list):
                rows_compared += len(one[1]["data"])
            if one[0] < 400 or same_number_of_problems(one[1], other[1]):
                continue
        why = reason(one, other)
        if why:
            decided[why] += 1
        else:
            open_differences.append({"target": target, "ours": one, "theirs": other})
    return {
        "questions": task["questions"],
        "statuses": statuses,
        "rows": rows_compared,
        "decided": decided,
        "differences": open_differences,
    }


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps(main(json.load(file))))
