"""`kernel`: the one way in which Thalweg compiles a loop.

Numba's `njit` with

    cache=True             compiled once per machine, not once per process
    nogil=True             so that Python threads can share the work
    error_model="numpy"    x/0 is inf: the default raises, and the branch stops vectorization
                           (4 times slower on an Adam pass)

and a disk cache that notices edits in the functions a kernel calls. The first time that a process
compiles, it says so. While it compiles, or reads from that cache, clocks stand (`core.clock`).
"""

import contextlib
import functools
import hashlib
import sys
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core import event, sigutils
from numba.core.ccallback import CFunc
from numba.core.runtime import rtsys

from thalweg.core.clock import COMPILING

# For what an inner loop calls: it becomes part of the loop, and does not count references to its
# arrays, as Numba's functions do while they hold them. That took as long as a whole step of SAG.
# In return it may not make arrays.
INNER: Any = {"forceinline": True, "_nrt": False}

# Divide by a loop's constants through their reciprocal, and fuse multiply with add. Neither is
# allowed to assume finite numbers or to reorder a sum. Without "arcp" an Adam pass over 10⁷ float32
# takes 1.4 times as long.
FAST_DIVISION = {"arcp", "contract"}


def kernel(function=None, *, fastmath=False, inline=False):
    """Compile `function`, as `@kernel` or `@kernel(fastmath=FAST_DIVISION)`.

    `inline` is for what an inner loop calls: see `INNER`.
    """
    if function is None:
        return functools.partial(kernel, fastmath=fastmath, inline=inline)
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if inline:
        options.update(INNER)
    try:
        dispatcher = njit(function, cache=True, **options)
    except RuntimeError:  # nowhere to write a cache: a read-only home, or source without a file
        return njit(function, **options)
    _guard_cache(dispatcher)
    _load_without_compiler(dispatcher)
    _stop_clocks(dispatcher)
    return dispatcher


def c_function(function, *arguments):
    """Compile `function`, which returns nothing, for C to call; `arguments` are Numba types.

    What comes back has an `address`. It runs without the interpreter, in whatever thread calls it.
    """
    signature = sigutils.normalize_signature(types.void(*arguments))
    made = CFunc(function, signature, locals={}, options={"error_model": "numpy"})
    with contextlib.suppress(RuntimeError):  # nowhere to write a cache
        made.enable_caching()
        _guard_cache(made)
        _load_without_compiler(made)
    with COMPILING:  # which Numba does not tell of, as it does of a dispatcher's
        made.compile()
    return made


class Announcement(event.Listener):
    """Says on stderr, once a process, that kernels are compiled, which takes some seconds."""

    def __init__(self):
        self.is_made = False

    def on_start(self, started):
        """A dispatcher, of Thalweg's or of another package, found nothing on disk."""
        function = started.data["dispatcher"].py_func
        if self.is_made or not (function.__module__ or "").startswith("thalweg."):
            return
        self.is_made = True
        _tell(
            "Thalweg compiles its kernels for this machine: some seconds, once; "
            "they are kept on disk."
        )

    def on_end(self, ended):
        """Nothing to say."""


class Standstill(event.Listener):
    """Stops all clocks while a dispatcher, of Thalweg's or of another package, is compiled.

    "numba:compiler_lock" would tell of reading from disk too, but begins before a thread waits for
    the lock, and never ends where Ctrl-C comes meanwhile.
    """

    def on_start(self, started):
        """From here on."""
        COMPILING.begin()

    def on_end(self, ended):
        """Up to here, whether it succeeded or not."""
        COMPILING.end()


event.register("numba:compile", Announcement())
event.register("numba:compile", Standstill())


def _guard_cache(dispatcher):
    """Have the disk cache of `dispatcher` give nothing wrong, and stop nothing, in place."""
    _stamp_with_all_sources(dispatcher)
    _forget_what_cannot_be_read(dispatcher)
    _take_only_its_own(dispatcher)
    _do_without_disk(dispatcher)


def _stamp_with_all_sources(dispatcher):
    """Make the disk cache of `dispatcher` depend on all rules and kernels, in place.

    Numba stamps a cached kernel with the source of its own file only. Kernels inline the rules, so
    after an edit of a rule the next process would silently run the old formula. The stamp is
    private to Numba; where it is not found, its own behaviour remains.
    """
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = (cache_file._source_stamp, _digest_of_sources())


def _forget_what_cannot_be_read(dispatcher):
    """Have `dispatcher` compile anew where files of its disk cache are damaged, in place.

    Or where they name a type that an older version of a kernel took, and that is gone: Numba reads
    them before it compares stamps. What is used here is private to Numba, as above.
    """
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    index, data = (getattr(cache_file, name, None) for name in ("_load_index", "_load_data"))
    if index is None or data is None:
        return

    def load_index():
        try:
            return index()
        except Exception:  # a damaged pickle raises whatever it likes, and a disk its errors
            return {}

    def load_data(name):
        try:
            return data(name)
        except Exception as unreadable:
            raise FileNotFoundError(name) from unreadable

    cache_file._load_index, cache_file._load_data = load_index, load_data


def _take_only_its_own(dispatcher):
    """Have files of the disk cache of `dispatcher` say what they hold, in place.

    Numba writes an index, which names a file for each signature, and then the file, which does not
    say what it is of. A process that is killed between the two, a disk that is full by then, or two
    processes that write at once leave a name for a file of older source or of other types, and that
    would be run without a word. What is used here is private to Numba, as above.
    """
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    save, load = (getattr(cache_file, name, None) for name in ("save", "load"))
    if save is None or load is None:
        return

    def save_named(key, compiled):
        save(key, (cache_file._source_stamp, key, compiled))

    def load_own(key):
        found = load(key)
        is_own = isinstance(found, tuple) and found[:2] == (cache_file._source_stamp, key)
        return found[2] if is_own else None

    cache_file.save, cache_file.load = save_named, load_own


def _do_without_disk(dispatcher):
    """Have `dispatcher` go on where what it compiled cannot be kept, in place."""
    cache = getattr(dispatcher, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:
        return

    def save_overload(signature, compiled):
        try:
            save(signature, compiled)
        except OSError as problem:
            _tell_loss(problem.strerror or str(problem))

    cache.save_overload = save_overload


@functools.cache
def _tell_loss(why):
    """Once a process, and a reason."""
    _tell(f"Thalweg cannot keep its kernels on disk ({why}): the next process compiles them again.")


def _tell(sentence):
    """A line on stderr, if it takes one."""
    if sys.stderr is not None:  # print would take stdout then
        with contextlib.suppress(OSError):
            print(sentence, file=sys.stderr, flush=True)


def _load_without_compiler(dispatcher):
    """Have `dispatcher` look on disk before Numba makes ready to compile, in place.

    Numba imports all that its compiler knows (0.3 s) before it looks for a kernel on disk. A kernel
    that is there needs none of it but the runtime. What is used here is private to Numba; where it
    is not found, its own behaviour remains.
    """
    cache = getattr(dispatcher, "_cache", None)
    load, look = (getattr(cache, name, None) for name in ("load_overload", "_load_overload"))
    if load is None or look is None:
        return

    def load_overload(signature, context):
        try:
            rtsys.initialize(context)
            found = look(signature, context)
        except Exception:  # whatever it is, Numba's own way meets and handles it
            found = None
        return load(signature, context) if found is None else found

    cache.load_overload = load_overload


def _stop_clocks(dispatcher):
    """Have clocks stand while the cache of `dispatcher` reads and writes on disk, in place."""
    cache = getattr(dispatcher, "_cache", None)
    for name in ("load_overload", "save_overload"):
        if hasattr(cache, name):
            setattr(cache, name, _standing_still(getattr(cache, name)))


def _standing_still(function):
    @functools.wraps(function)
    def timed(*arguments):
        with COMPILING:
            return function(*arguments)

    return timed


@functools.cache
def _digest_of_sources():
    """A hash of every source file that a kernel can inline."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in ("rules", "kernels"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
