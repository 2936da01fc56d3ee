"""Fuzz one target, guided by what its inputs reach in the code: needs ``pip install .[fuzz]``.

Ends with status 0 if nothing was found. What was found is written into the folder of the corpus,
whose name is printed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

# Only our own code is traced: libraries are as they are.
with atheris.instrument_imports(include=["core", "dashboard", "targets"]):
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    import targets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=list(targets.TARGETS))
    parser.add_argument("--seconds", type=int, default=1200)
    parser.add_argument("--corpus", help="a folder of inputs, which grows")
    arguments = parser.parse_args()
    folder = Path(arguments.corpus or tempfile.mkdtemp(prefix=f"fuzz-{arguments.target}-"))
    folder.mkdir(exist_ok=True)
    for number, seed in enumerate(targets.seeds(arguments.target)):
        (folder / f"seed-{number:03d}").write_bytes(seed)
    print(f"{arguments.target}: the corpus is in {folder}", flush=True)
    options = {
        "max_total_time": arguments.seconds,
        "timeout": 30,  # seconds for one input
        "report_slow_units": 30,
        "rss_limit_mb": 3000,
        "malloc_limit_mb": 1000,
        "artifact_prefix": f"{folder}/found-",
        "print_final_stats": 1,
        "verbosity": 0,
    }
    flags = [f"-{name}={value}" for name, value in options.items()]
    atheris.Setup([sys.argv[0], *flags, str(folder)], targets.TARGETS[arguments.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
