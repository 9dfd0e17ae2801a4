"""Makes and deletes keys in a service that implements AWS KMS.

usage: aws_key.py ENDPOINT create ROLE GENERATION SPEC [USAGE]
       aws_key.py ENDPOINT delete ROLE GENERATION
"""

import sys

import boto3


def client(endpoint, service):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="eu-central-1",
        aws_access_key_id="smoke",
        aws_secret_access_key="secret",
    )


def create(endpoint, role, generation, spec, usage="ENCRYPT_DECRYPT"):
    kms = client(endpoint, "kms")
    key = kms.create_key(KeySpec=spec, KeyUsage=usage)["KeyMetadata"]["KeyId"]
    kms.create_alias(AliasName=f"alias/journalq/{role}/{generation}", TargetKeyId=key)


def delete(endpoint, role, generation):
    kms = client(endpoint, "kms")
    key = kms.describe_key(KeyId=f"alias/journalq/{role}/{generation}")["KeyMetadata"]["KeyId"]
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)


if __name__ == "__main__":
    endpoint, command, *arguments = sys.argv[1:]
    {"create": create, "delete": delete}[command](endpoint, *arguments)
