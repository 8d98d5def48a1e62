"""Does things to the objects below a name in a bucket that no sunlake does: ADDRESS BUCKET list|flip|delete|put [NAME...].

`put` takes NAME=FILE.
"""

import json
import sys

import boto3

address, bucket, what, *names = sys.argv[1:]
store = boto3.client(
    "s3",
    endpoint_url=f"http://{address}",
    region_name="us-east-1",
    aws_access_key_id="tests",
    aws_secret_access_key="tests",
)


def flip(name):
    content = bytearray(store.get_object(Bucket=bucket, Key=name)["Body"].read())
    content[len(content) // 2] ^= 4
    store.put_object(Bucket=bucket, Key=name, Body=bytes(content))


def put(name):
    name, file = name.split("=", 1)
    store.upload_file(file, bucket, name)


def delete(name):
    store.delete_object(Bucket=bucket, Key=name)


for name in names:
    {"flip": flip, "put": put, "delete": delete}[what](name)
pages = store.get_paginator("list_objects_v2").paginate(Bucket=bucket)
json.dump([found["Key"] for page in pages for found in page.get("Contents", [])], sys.stdout)
