import subprocess
import sys


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: thalweg ")
    bad = subprocess.run(
        [sys.executable, "-m", "thalweg", "diagnose"], capture_output=True, check=False
    )
    assert bad.returncode == 2
