"""The words around a question, in the notebook's language, and which language that is."""

from __future__ import annotations

import os

from adknb.engine.errors import BadData

WORDS = {
    "en": {
        "question": "Question {n}",
        "predict": "Predict, before you step on",
        "by_code": "By code: {code}",
        "hint": "Hint",
        "hint_n": "Hint {n} of {all}",
        "no_more": "Those were all the hints; a guess costs nothing.",
        "noted": "Noted: {key}. Step on; then comes why.",
        "folded": "Question {n}: what happens, and why",
        "open": "Open",
        "said": "You said {key}) {text}.",
        "and_it_is": "And so it is.",
        "it_is": "It is {key}) {text}.",
        "not_asked": "It is {key}) {text}.",
        "tempting": "What speaks for {key}): {thought}",
        "why": "Why: {why}",
        "seen": "Seen in the run",
        "go": "In Go: {go}",
        "how_to_open": "Question {n}, folded. predict({n}, {keys}) answers it; reveal({n}, opened=True) opens it.",
        "score": "{right} of {answered} foreseen",
        "none": "nothing answered yet",
        "open_yet": "not answered: {ns}",
        "all_answered": "all answered",
        "hints": "hints read: {n}",
        "pauses": "{n} of {all} pauses",
        "user_says": "The user says:",
        "clinic_code": "{f}.dbg is the run · {f}.hint() · {f}.check(path) · {f}.solution()",
        "solution": "{f}: the shortest path, the cause and the mend",
        "solution_folded": "{f}, the solution, folded: {f}.solution(opened=True) opens it.",
        "cause": "Cause.",
        "mend": "Mend.",
        "reference": "Seen on the reference.",
        "dead": "No kernel: run the notebook's first cell and this one, then answer here.",
    },
    "zh": {
        "question": "问题 {n}",
        "predict": "先预测，再往下走",
        "by_code": "用代码：{code}",
        "hint": "提示",
        "hint_n": "提示 {n}/{all}",
        "no_more": "提示就这些了；猜一猜，不会有损失。",
        "noted": "已记下：{key}。请往下走，随后说明原因。",
        "folded": "问题 {n}：结果与原因",
        "open": "展开",
        "said": "你的回答：{key}) {text}。",
        "and_it_is": "正是如此。",
        "it_is": "实际是：{key}) {text}。",
        "not_asked": "实际是：{key}) {text}。",
        "tempting": "为什么容易想成 {key})：{thought}",
        "why": "原因：{why}",
        "seen": "运行中看到的",
        "go": "Go 源码：{go}",
        "how_to_open": "问题 {n}（已折叠）。predict({n}, {keys}) 作答；reveal({n}, opened=True) 展开。",
        "score": "{answered} 题中预见到 {right} 题",
        "none": "还没有作答",
        "open_yet": "未作答：{ns}",
        "all_answered": "全部作答",
        "hints": "看了 {n} 条提示",
        "pauses": "已停 {n} 次，最多 {all} 次",
        "user_says": "用户说：",
        "clinic_code": "{f}.dbg 是运行 · {f}.hint() · {f}.check(path) · {f}.solution()",
        "solution": "{f}：最短路径、原因和修法",
        "solution_folded": "{f} 的解答（已折叠）：{f}.solution(opened=True) 展开。",
        "cause": "原因。",
        "mend": "修法。",
        "reference": "参考实现上所见：",
        "dead": "没有内核：先运行笔记本的第一个单元和本单元，再在这里作答。",
    },
}


def language_of_notebook() -> str:
    """`zh` in a notebook whose name ends in `.zh.ipynb`, or where ADKNB_LANGUAGE says so; else `en`.

    Jupyter tells a kernel the path of its notebook in JPY_SESSION_NAME.
    """
    asked = os.environ.get("ADKNB_LANGUAGE", "")
    if asked in WORDS:
        return asked
    return "zh" if os.environ.get("JPY_SESSION_NAME", "").endswith(".zh.ipynb") else "en"


def checked(language: str) -> str:
    """A language that there is.

    Raises:
        BadData: there is none of this name.
    """
    if language not in WORDS:
        raise BadData("language", f"expected one of {', '.join(WORDS)}, not {language!r}")
    return language


def word(language: str, name: str, **values: object) -> str:
    """A sentence with its values."""
    return WORDS[language][name].format(**values)
