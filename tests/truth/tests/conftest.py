# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests with PyTorch share, as pytest sees it: options, the Pythons at hand, the programs of a build, counted checks.

usage: pytest-3 tests/truth/tests/test_NAME.py --build build/release [-k TEXT] [--python PYTHON]... [options of measurements]

A test has two forms (running.LONG). Cases that the long form alone runs are marked `long`. A module says with which PyTorch it runs:

    pytestmark = pytest.mark.torch("every")    the newest; in the long form every one at hand (as without a mark)
    pytestmark = pytest.mark.torch("older")    the newest and 2.6; in the long form every one at hand
    pytestmark = pytest.mark.torch("newest")   the newest in both forms

A test that takes `failures` makes many checks by `failures.expect()`; it fails where one did, or where it made none.
"""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import running  # noqa: E402  makes programs and tools known

NOTHING = "no PyTorch: tests/truth/environment.sh newest makes an environment"


def pytest_addoption(parser):
    parser.addoption("--build", default=running.BUILD, metavar="FOLDER", help="the build that is tested")
    parser.addoption("--python", action="append", default=[], help="a Python with PyTorch; otherwise those at hand")
    measure = parser.getgroup("measurements")
    measure.addoption("--seeds", type=int, metavar="N", help="so many of each family")
    measure.addoption("--first-seed", type=int, metavar="N")
    measure.addoption("--events", type=int, metavar="N", help="so many requests (test_allocator.py)")
    measure.addoption("--only", metavar="TEXT", help="cases whose name has it")
    measure.addoption("--held-back", action="store_true", help="with families that nobody tunes against")
    measure.addoption("--keep", metavar="FOLDER", help="leaves recordings there, and takes those that are there already")
    measure.addoption("--write", metavar="JSON", help="writes the figures into docs/accuracy.json")


def pytest_configure(config):
    running.BUILD = os.path.abspath(config.getoption("build"))
    config.found = running.pythons(config.getoption("python"))  # once: fixtures are kept for the same object alone
    config.addinivalue_line("markers", "long: runs in the long form alone (STRATA_LONG=1)")
    config.addinivalue_line("markers", "torch(which): every, older or newest: the PyTorch that it runs with")


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if item.get_closest_marker("long") and not running.LONG]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_generate_tests(metafunc):
    if "python" not in metafunc.fixturenames:
        return
    named, found = metafunc.config.getoption("python"), metafunc.config.found
    mark = metafunc.definition.get_closest_marker("torch")
    which = mark.args[0] if mark else "every"
    assert which in ("every", "older", "newest"), which
    chosen = found[:1] if which == "newest" else found if named else running.of_this_form(found, which == "older")
    if chosen:
        metafunc.parametrize("python", chosen, ids=[".".join(map(str, running.version(each)[:3])) for each in chosen], indirect=True)
    else:
        metafunc.parametrize("python", [pytest.param(None, marks=pytest.mark.skip(reason=NOTHING))], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    failures = pyfuncitem.funcargs.get("failures")
    if failures is None:
        return None
    pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    if failures.count or not failures.checks and not failures.left_out:
        pytest.fail("\n".join(failures.said) or "the test checked nothing", pytrace=False)
    if failures.left_out:
        pytest.skip("; ".join(failures.left_out))
    return True


@pytest.fixture
def failures():
    return running.Failures()


def of_build(*path):
    found = os.path.join(running.BUILD, *path)
    assert os.path.exists(found), f"{found} is not there: --build names a build of Strata"
    return found


@pytest.fixture(scope="session")
def build():
    """The folder of the build."""
    return of_build()


@pytest.fixture(scope="session")
def strata():
    return of_build("bin", "strata")


@pytest.fixture(scope="session")
def simgpu():
    """strata-simgpu, which starts a program on the simulated device."""
    return of_build("bin", "strata-simgpu")


@pytest.fixture(scope="session")
def capture():
    """The folder of the recorder's library."""
    return of_build("lib", "strata")


@pytest.fixture(scope="session")
def python(request):
    """A Python with PyTorch, of those that the mark `torch` names."""
    return request.param


@pytest.fixture(scope="session")
def newest(request):
    """The newest PyTorch at hand, for a test that is not repeated for each."""
    if not request.config.found:
        pytest.skip(NOTHING)
    return request.config.found[0]


@pytest.fixture(scope="session")
def whatif(request, strata, newest, tmp_path_factory):
    """What asks `strata whatif` about recordings of the newest PyTorch."""
    import whatif_cases
    return whatif_cases.Whatif(request.session, strata, newest, tmp_path_factory.mktemp("recordings"))
