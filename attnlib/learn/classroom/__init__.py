"""Grade a folder of notebooks: ``python -m attnlib grade FOLDER``.

Each notebook is run by `nbclient` in a kernel of its own, in an empty folder with copies of the files beside
it, with an empty progress file and with limits. What its checks found goes to a CSV file and a report as soon
as it is through.

Three processes stand behind each run. The tool (`grade`) reads the folder, starts runs and writes what they
found. A run (`run`) drives one kernel and watches it (`watch`). The kernel (`kernel`) executes the cells; the
audit events of `check` leave it on a file whose name is gone before the first cell runs.

What this protects from: cells that never end, crash, print, take memory, fill the disk or start processes;
and marks made by printing what `check` prints, by a `check` of one's own, or by writing files.

What it does not protect from: code in the kernel's process can do all that `check` can, so it can make any
mark it likes, and whoever runs as the teacher's user can reach the teacher's files and processes, and the
network. It is no prison, and a mark is no certificate.
"""
