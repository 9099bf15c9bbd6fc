"""What an editor shows of attention.mlir: editor.py heed-lsp-server --load-dialect-plugin=...

Opens the file as editors do, asks what stands under the cursor, and fails where the server finds a fault in the file.
"""
import json
import pathlib
import subprocess
import sys

text = pathlib.Path("attention.mlir").read_text()
line = next(number for number, content in enumerate(text.splitlines()) if "kerple.log_bias" in content)
document = {"uri": "test:///attention.mlir", "languageId": "mlir", "version": 1, "text": text}
calls = [
    ("initialize", {"capabilities": {}}, 0),
    ("textDocument/didOpen", {"textDocument": document}, None),
    ("textDocument/hover", {"textDocument": document, "position": {"line": line, "character": 10}}, 1),
    ("shutdown", {}, 2),
    ("exit", {}, None),
]
sent = b""
for method, parameters, number in calls:
    call = {"jsonrpc": "2.0", "method": method, "params": parameters} | ({} if number is None else {"id": number})
    body = json.dumps(call).encode()
    sent += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
said = subprocess.run(sys.argv[1:], input=sent, capture_output=True, check=True).stdout

answers = []
while said:
    header, said = said.split(b"\r\n\r\n", 1)
    length = int(header.split(b":")[1])
    answers.append(json.loads(said[:length]))
    said = said[length:]
faults = next(a for a in answers if a.get("method") == "textDocument/publishDiagnostics")["params"]["diagnostics"]
if faults:
    sys.exit(f"expected a file without faults, but got {faults[0]['message']}")
shown = next(a for a in answers if a.get("id") == 1)["result"]["contents"]["value"]
print(shown)
if "kerple.log_bias" not in shown:
    sys.exit("expected the operation to be shown")
