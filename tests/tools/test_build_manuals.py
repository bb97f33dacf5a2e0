import subprocess

import pytest

from tools import build_manuals as build
from tools.plain_manual import inline, is_prose, paragraphs

PAGE = """
:mod:`bisect` --- Array bisection
=================================

.. module:: bisect
   :synopsis: not read
.. sectionauthor:: Nobody <nobody@example.org>

This module keeps a list in *sorted*
order, see :func:`~heapq.heappush` and ``list.sort()``.

.. function:: bisect_left(a, x, lo=0)

   Locate the insertion point, like so::

      for i in range(3):

          print(i)

   The :term:`key <key function>` is of :pep:`8`.

   .. versionchanged:: 3.10
      Added the *key* parameter. (Contributed by Ada Nobody in :issue:`4`.)

   .. note::

      It is `documented <https://example.org>`_.

====== ======
Table  of
====== ======
two    words
====== ======

* one point
  over two lines
* another \N{RIGHT SINGLE QUOTATION MARK}quoted\N{RIGHT SINGLE QUOTATION MARK}

>>> bisect([1], 2)
the result is

After the example.
"""


def test_a_page_becomes_plain_paragraphs():
    assert paragraphs(PAGE) == [
        "bisect --- Array bisection",
        "This module keeps a list in sorted order, see heappush and list.sort().",
        "bisect_left(a, x, lo=0)",
        "Locate the insertion point, like so:",
        "The key is of PEP 8.",
        "Changed in version 3.10: Added the key parameter.",
        "Note: It is documented.",
        "- one point over two lines",
        "- another 'quoted'",
        "After the example.",
    ]


def test_a_docstring_keeps_what_its_parameters_mean():
    text = "Sum things.\n\nParameters\n----------\na : array_like\n    What to\n    sum.\n\n:param b: Added.\n:rtype: int\n"
    assert paragraphs(text) == ["Sum things.", "Parameters", "a : array_like", "What to sum.", "b: Added."]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        (r"of shape :math:`(N, C_{in}) \times 2`", "of shape (N, C_in) x 2"),
        ("**bold** and *args stay", "bold and *args stay"),
        ("a note [1]_ and a `link`_", "a note and a link"),
    ],
)
def test_marks_are_taken_out(line, plain):
    assert inline(line) == plain


@pytest.mark.parametrize(
    "line",
    [
        "x = 3",
        "import os",
        r"\frac{a}{b} is left",
        "write to nobody@example.org",
        "1 2 3 4 = 5",
        "日本語 text",
        "{input} here",
        "The module was written by Ada Nobody in spring.",
    ],
)
def test_what_is_no_prose_is_left_out(line):
    assert not is_prose(line)


def test_what_a_function_does_is_kept():
    assert is_prose("The object is created by this function.")


def test_docstrings_come_in_order_and_so_do_those_of_c_functions(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        '"""Module."""\nclass A:\n  """Class."""\n  def f(self):\n    """Method."""\nadd_docstr(f, r"""\nC.\n""")\n'
    )
    assert [text.strip() for text in build.docstrings(path) if text] == ["Module.", "Class.", "Method.", "C."]
    path.write_text("this is a {{ template }}")
    assert list(build.docstrings(path)) == []


def files(name, count):
    words = [f"{name}{i}" for i in range(60)]
    return [
        [" ".join(words[j:] + words[:j]) + f" {name} {j}" for j in (2 * i, 2 * i + 1)] for i in range(count)
    ]


def test_every_fiftieth_document_is_held_out_and_copied_ones_are_not_used(monkeypatch):
    monkeypatch.setattr(build, "HELD", 5)
    different = [[f"{i} " + " ".join(f"{a}{i}" for a in "abcdefghij") * 9] for i in range(23)]
    woven = build.arrange([different])
    assert sorted(woven) == sorted(line for (line,) in different)
    alike = files("same", 30)  # whatever is held out, another file says too
    assert build.arrange([alike])[0] == build.cut(alike[0])[0]
    assert len(build.arrange([alike])) < 30


def test_paragraphs_come_once_unless_they_are_short():
    seen = set()
    long = "a paragraph that is surely longer than forty letters"
    assert build.drop_seen([long, "Parameters", long, "Parameters"], seen) == [
        long,
        "Parameters",
        "Parameters",
    ]
    assert build.drop_seen([long], seen) == []


def test_a_text_that_differs_is_told(tmp_path, monkeypatch, capsys):
    pages = tmp_path / "source"
    pages.mkdir()
    (pages / "a.py").write_text(f'"""{"A sentence about lists and numbers. " * 9}"""')

    def fetch(command, cwd, **_):
        if command[0] == "apt-get":
            (cwd / "doc.deb").touch()
        else:
            target = cwd / "unpacked/usr/share/doc/python3.11/html/_sources/library"
            target.mkdir(parents=True)
            (target / "x.rst.txt").write_text("A page of the manual about nothing at all. " * 9)
            (target / "license.rst.txt").write_text("Not read, since it is a licence. " * 20)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(build.subprocess, "run", fetch)
    monkeypatch.setattr(
        build.sysconfig, "get_paths", lambda: {"stdlib": str(pages), "purelib": str(tmp_path)}
    )
    monkeypatch.setattr(build, "TARGET", tmp_path / "made.xz")
    assert build.main() == 1
    assert "NOT as expected" in capsys.readouterr().out
    text = build.lzma.decompress((tmp_path / "made.xz").read_bytes())
    assert b"a licence" not in text
    assert text.count(b"\f") == 1
    monkeypatch.setattr(build, "SHA256", build.hashlib.sha256(text).hexdigest())
    assert build.main() == 0
