"""Judges documents by a JSON Schema, with a validator that knows nothing of sunlake.

schema.py FILE: the file has `schema` and `documents`. Prints for each document whether the schema accepts it.
"""

import json
import sys

import jsonschema

with open(sys.argv[1]) as file:
    given = json.load(file)
jsonschema.Draft7Validator.check_schema(given["schema"])
validator = jsonschema.Draft7Validator(given["schema"])
print(json.dumps([validator.is_valid(document) for document in given["documents"]]))
