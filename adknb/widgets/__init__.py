"""Pictures of a Stepper: the text form, static HTML and the living panel. JSON goes out, wishes come back.

Reading order: `book.py` (what is told once), `brief.py` and `timeline.py` (short texts, the tree of stops), `pages.py`
(the request as blocks), `past.py` (what past stops held), `forms.py` and `changing.py` (edits), `copies.py` (curl and
Python), `text.py` and `static.py` (where no widget runs), `panel/` (where one does), `export.py` (one offline file).
"""
