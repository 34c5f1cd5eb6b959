"""A verdict of dkimpy on each signature of the mail on standard input: `rsa-sha256 True`. The zone is JSON, the first argument."""
import json
import re
import sys

import dkim

zone = json.loads(sys.argv[1])
mail = dkim.DKIM(sys.stdin.buffer.read())


def txt(name, timeout=5):
    return zone.get(name.decode().rstrip("."), "").encode()


signatures = [value for name, value in mail.headers if name.lower() == b"dkim-signature"]
for index, signature in enumerate(signatures):
    algorithm = re.search(rb"a=([a-z0-9-]+)", signature).group(1).decode()
    print(algorithm, mail.verify(idx=index, dnsfunc=txt))
