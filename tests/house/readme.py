"""What the README and CONTRIBUTING tell to type exists: scripts, programs, options and paths."""

import re
import subprocess

from common import build, report, root, text

findings = []


def help_of(*command):
    run = subprocess.run([build / "bin" / command[0], *command[1:], "--help"], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


for page in ("README.md", "CONTRIBUTING.md"):
    source = text(page)
    for block in re.findall(r"^```sh\n(.*?)^```", source, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            words = re.sub(r"^(\w+=\S+ )+", "", line.split("#")[0]).split()  # variables before a command
            if not words:
                continue
            program = words[0].removeprefix("build/release/bin/")
            if program in ("heed", "heed-opt", "heed-lsp-server"):
                command = words[1:2] if program == "heed" else []
                shown = help_of(program, *command)
                if shown is None:
                    findings.append(f"{page}: expected `{program} {' '.join(command)}` to exist")
                for option in re.findall(r"(?<=\s)--[a-z][\w-]*", line):
                    if shown is not None and option not in shown:
                        findings.append(f"{page}: expected `{program} {' '.join(command)} --help` to name {option}")
            elif "/" in program and not (root / program).exists():
                findings.append(f"{page}: expected {program} to exist")
    # Paths in backticks; <Names> and generated files stand for themselves.
    for path in re.findall(r"`((?:compiler|dialect|runtime|examples|tests)/[^`\s<>{}*…]*)`", source):
        if not (root / path).exists():
            findings.append(f"{page}: expected {path} to exist")
report(findings)
