"""Copies of google-genai's records, quickly: what a request holds must not be the session's own.

    frozen.py     a record as the plain data of its set fields, and back
    packed.py     a part in a few bytes, for what histories are made of
    promises.py   a content that is built when somebody looks

None of this is needed to understand the Flow: `copy.deepcopy` would do, and take five times as long.
"""
