"""The living form of a question's card. State goes out as one small `view`, wishes come back as messages.

Wishes: {"type": "choose", "key": "b"}, {"type": "hint"}, {"type": "open"}. Anything else is passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from adknb.course.cards import Card
from adknb.engine.errors import BadData

HERE = Path(__file__).parent


class Living(anywidget.AnyWidget):
    """A card that can be clicked and typed into; all cards of a question follow its answers."""

    _esm = (HERE / "card.js").read_text(encoding="utf-8")
    _css = (HERE / "card.css").read_text(encoding="utf-8")
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, card: Card) -> None:
        self.card = card
        super().__init__(view=card.view())
        card.quiz.subscribe(self._follow)
        self.on_msg(self._on_message)

    def __repr__(self) -> str:
        return f"Card({self.card.kind} {self.card.question.n})"

    def _follow(self, n: int) -> None:
        if n == self.card.question.n:
            self.view = self.card.view()

    def _on_message(self, _widget: Any, message: Any, _buffers: Any) -> None:
        wish = message if isinstance(message, dict) else {}
        n = self.card.question.n
        try:
            if wish.get("type") == "choose":
                self.card.quiz.predict(n, str(wish.get("key")))
            elif wish.get("type") == "hint":
                self.card.quiz.hint(n)
            elif wish.get("type") == "open":
                self.card.opened()
                self.view = self.card.view()
        except BadData:  # a key that is none: an old page
            self.view = self.card.view()
