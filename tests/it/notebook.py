"""Runs the code of a notebook, cell after cell: NOTEBOOK. The lake is the folder `output` here. Prints the numbers of cells and figures."""

import contextlib
import json
import os
import sys

os.environ["MPLBACKEND"] = "Agg"
import matplotlib.pyplot as plt

drawn = 0


def show():
    global drawn
    drawn += len(plt.get_fignums())
    plt.close("all")


plt.show = show
with open(sys.argv[1], encoding="utf-8") as file:
    cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
names = {}
with contextlib.redirect_stdout(sys.stderr):
    for number, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
print(json.dumps({"cells": len(cells), "figures": drawn}))
