"""Exercises of layer 9, state: merging messages, one step of a graph, a reducer of one's own.

It does without `from __future__ import annotations`: the states of its graphs name the learner's
reducer, and such names resolve only at once.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypedDict

from langgraph.errors import InvalidUpdateError

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World
from minilc.messages import RemoveMessage
from minilc.state import _coerce_to_messages

# --- state-1: two lists of messages become one -----------------------------------------------

Merge = Callable[[list[Any], list[Any]], list[Any]]


def _with_ids(merge: Merge) -> Callable[[Any, Any], Any]:
    """The learner's function gets lists of messages that have ids."""

    def add_messages(left: Any, right: Any) -> Any:
        return merge(left, _coerce_to_messages(right))

    return add_messages


def _talk(lc: World) -> list[Any]:
    return [lc.HumanMessage("北京？", id="1"), lc.AIMessage("雨。", id="2")]


def _merged(lc: World, *right: Any) -> Any:
    return lc.add_messages(_talk(lc), list(right))


def _left_afterwards(lc: World) -> Any:
    left = _talk(lc)
    lc.add_messages(left, [lc.AIMessage("晴。", id="2"), lc.HumanMessage("谢谢", id="3")])
    return left


def _in_a_graph(lc: World) -> Any:
    """A node that corrects an answer, in a graph whose reducer is add_messages."""

    def corrects(state: Any) -> Any:
        return {"messages": [lc.AIMessage("晴。", id="2"), lc.AIMessage("28 度。", id="3")]}

    class Talk(TypedDict):
        # Looked up when it is called: the learner's function is in the module by then.
        messages: Annotated[list[Any], lambda left, right: lc.add_messages(left, right)]

    builder = lc.StateGraph(Talk)
    builder.add_node("corrects", corrects)
    builder.add_edge(lc.START, "corrects")
    return builder.compile().invoke({"messages": _talk(lc)})


def _appends(left: list[Any], right: list[Any]) -> list[Any]:
    return [*left, *right]


def _to_the_end(left: list[Any], right: list[Any]) -> list[Any]:
    ids = {message.id for message in right}
    return [m for m in [*left, *right] if m in right or m.id not in ids]


def _in_place(left: list[Any], right: list[Any]) -> list[Any]:
    for message in right:
        places = [index for index, one in enumerate(left) if one.id == message.id]
        if places:
            left[places[0]] = message
        else:
            left.append(message)
    return left


def _keeps_marks(left: list[Any], right: list[Any]) -> list[Any]:
    merged = {message.id: message for message in left}
    return list((merged | {message.id: message for message in right}).values())


def _removes_quietly(left: list[Any], right: list[Any]) -> list[Any]:
    return [m for m in _keeps_marks(left, right) if not isinstance(m, RemoveMessage)]


def _removes_at_once(left: list[Any], right: list[Any]) -> list[Any]:
    merged = {message.id: message for message in left}
    for message in right:
        if isinstance(message, RemoveMessage):
            if message.id not in merged:
                text = "Attempting to delete a message with an ID that doesn't exist "
                raise ValueError(f"{text}('{message.id}')")
            del merged[message.id]
        else:
            merged[message.id] = message
    return list(merged.values())


MERGE = Exercise(
    id="state-1",
    title="Two lists of messages become one",
    minutes=15,
    difficulty="medium",
    target="minilc.state:add_messages",
    fit=_with_ids,
    task="""
        The reducer of a conversation. `left` is the conversation, `right` is what a node wrote;
        every message has an id already. A new id is appended. A known id replaces its message, in
        its place. A `RemoveMessage` takes the message with its id out; if there is none, it is a
        `ValueError` with LangGraph's text: *Attempting to delete a message with an ID that doesn't
        exist ('9')*. If one `right` removes a message
        and then brings its id anew, the new one stands where the old one stood.
        """,
    stub='''
from typing import Any

from minilc import RemoveMessage


def merge(left: list[Any], right: list[Any]) -> list[Any]:
    """The conversation after a node has written to it."""
    raise NotImplementedError
''',
    hints=(
        "A dict from id to message keeps the place of a key that is set again.",
        "Let a `RemoveMessage` stand in the dict like any other message, in the place of the one "
        "that it removes. What do you do with those that are left at the end?",
        "Build the dict from `left`. Go through `right`: a `RemoveMessage` whose id is not in the "
        "dict is the error; all else is set. At the end return the values that are no "
        "`RemoveMessage`.",
    ),
    checks=(
        Check(
            "a new message",
            lambda lc: _merged(lc, lc.HumanMessage("谢谢", id="3")),
            "a message with a new id must be appended to the conversation",
        ),
        Check(
            "a message with a known id",
            lambda lc: _merged(lc, lc.HumanMessage("上海？", id="1")),
            "a message with a known id must replace the old one, in its old place",
        ),
        Check(
            "left afterwards",
            _left_afterwards,
            "the old list was changed: a reducer returns a new value, and leaves what it was given",
        ),
        Check(
            "a RemoveMessage",
            lambda lc: _merged(lc, lc.RemoveMessage(id="1")),
            "a RemoveMessage is no part of a conversation: its message must go, and so must it",
        ),
        Check(
            "a RemoveMessage for an id that is not there",
            lambda lc: _merged(lc, lc.RemoveMessage(id="9")),
            "nothing has the id that is to be removed, and nobody is told",
        ),
        Check(
            "removed and written anew in one update",
            lambda lc: _merged(lc, lc.RemoveMessage(id="1"), lc.HumanMessage("上海？", id="1")),
            "a message that comes after its own removal stands where the removed one was",
        ),
        Check(
            "two new messages with one id",
            lambda lc: _merged(lc, lc.AIMessage("a", id="3"), lc.AIMessage("b", id="3")),
            "of two messages with one id the later one counts, also if both are new",
        ),
        Check("a graph with this reducer", _in_a_graph, "the conversation of a graph is different"),
    ),
    wrong_answers=(
        Wrong(_appends, "in its old place"),
        Wrong(_to_the_end, "in its old place"),
        Wrong(_in_place, "the old list was changed"),
        Wrong(_keeps_marks, "no part of a conversation"),
        Wrong(_removes_quietly, "nobody is told"),
        Wrong(_removes_at_once, "after its own removal"),
    ),
)


# --- state-2: a step in which the second sees what the first wrote ----------------------------

Step = Callable[..., Any]


def _shops(run_step: Step, *names: str) -> Any:
    """Shops that bid at once: each one a euro below the lowest bid that it sees."""

    def shop(name: str) -> Any:
        return lambda state: {"bids": [(name, min(bid for _, bid in state["bids"]) - 1)]}

    state = {"bids": [("list price", 20)]}
    return run_step(state, {name: shop(name) for name in names}, {"bids": operator.add})


def _one_shop(lc: World, run_step: Step) -> Any:
    return _shops(run_step, "a")


def _two_shops(lc: World, run_step: Step) -> Any:
    return _shops(run_step, "a", "b")


def _in_order(lc: World, run_step: Step) -> Any:
    return [name for name, _ in _shops(run_step, "c", "a", "b")["bids"]]


def _writes(value: Any) -> Any:
    return lambda state: value


def _two_plain(lc: World, run_step: Step) -> Any:
    """What two writers of a key without a reducer get."""
    nodes = {"a": _writes({"winner": "a"}), "b": _writes({"winner": "b"})}
    try:
        return run_step({}, nodes, {})
    except InvalidUpdateError as error:
        return str(error).partition(" Use")[0]


def _one_plain(lc: World, run_step: Step) -> Any:
    nodes = {"a": _writes({"winner": "a"}), "b": _writes({"price": 7}), "c": _writes(None)}
    return run_step({"winner": "nobody"}, nodes, {})


def _state_kept(lc: World, run_step: Step) -> Any:
    state = {"bids": [("list price", 20)], "winner": "nobody"}
    nodes = {"a": _writes({"bids": [("a", 19)]}), "b": _writes({"winner": "a"})}
    run_step(state, nodes, {"bids": operator.add})
    return state


def _super_step(lc: World, state: Any, nodes: Any, reducers: Any) -> Any:
    """The same step in a graph, all of whose nodes stand behind START."""
    keys = {"winner": Any, "price": Any} | {key: Annotated[list, reducers[key]] for key in reducers}
    builder = lc.StateGraph(TypedDict("Shops", keys, total=False))  # type: ignore[operator]
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(lc.START, name)
    return builder.compile().invoke(state)


def _as_langgraph(run: Callable[[World, Step], Any]) -> Callable[[World], Any]:
    return lambda lc: run(lc, partial(_super_step, lc))


def _put(state: dict[str, Any], updates: Any, reducers: Any, checked: bool = True) -> Any:
    """The updates put together; the wrong answers differ in what they hand in."""
    new, written = dict(state), set()
    for update in updates:
        for key, value in (update or {}).items():
            if key in reducers:
                new[key] = reducers[key](new[key], value)
            elif checked and key in written:
                raise InvalidUpdateError(f"At key '{key}': Can receive only one value per step.")
            else:
                new[key] = value
                written.add(key)
    return new


def _one_by_one(state: Any, nodes: Any, reducers: Any) -> Any:
    for name in sorted(nodes):
        state = _put(state, [nodes[name](state)], reducers)
    return state


def _as_given(state: Any, nodes: Any, reducers: Any) -> Any:
    return _put(state, [node(state) for node in nodes.values()], reducers)


def _last_wins(state: Any, nodes: Any, reducers: Any) -> Any:
    return _put(state, [nodes[name](state) for name in sorted(nodes)], reducers, checked=False)


def _one_write_alone(state: Any, nodes: Any, reducers: Any) -> Any:
    updates = [nodes[name](state) or {} for name in sorted(nodes)]
    keys = [key for update in updates for key in update]
    for key in keys:
        if key not in reducers and (keys.count(key) > 1 or key in state):
            raise InvalidUpdateError(f"At key '{key}': Can receive only one value per step.")
    return _put(state, updates, reducers)


def _changes_the_state(state: Any, nodes: Any, reducers: Any) -> Any:
    updates = [nodes[name](state) for name in sorted(nodes)]
    state.update(_put(state, updates, reducers))
    return state


STEP = Exercise(
    id="state-2",
    title="Drill: the last shop always wins",
    minutes=10,
    difficulty="medium",
    task="""
        Somebody reports: *we ask all shops at once for a bid, and the shop that comes last in the
        alphabet always wins. And when two nodes write `winner`, nobody complains.* The fault is in
        this function, which runs the nodes of one super-step. `nodes` is a dict of functions,
        `reducers` has the reducer of each key that has one. Mend it. Two writers of a key without
        a reducer are an `InvalidUpdateError` *At key 'winner': Can receive only one value per
        step.*
        """,
    stub='''
from typing import Any

from langgraph.errors import InvalidUpdateError


def run_step(state: dict[str, Any], nodes: dict[str, Any], reducers: dict[str, Any]) -> Any:
    """The state after all nodes of a step have run."""
    state = dict(state)
    for name in sorted(nodes):
        update = nodes[name](state) or {}
        for key, value in update.items():
            state[key] = reducers[key](state[key], value) if key in reducers else value
    return state
''',
    hints=(
        "Which state does the second node get? Which one should it get?",
        "Run all nodes first, and keep what they return. Then put it together in a second loop.",
        "For a key without a reducer, remember in the second loop that it has been written in this "
        "step. The old value, from before the step, is no write.",
    ),
    checks=(
        Check(
            "one shop",
            _one_shop,
            "what a node writes goes through the reducer of its key, if it has one",
            _as_langgraph(_one_shop),
        ),
        Check(
            "two shops that bid at once",
            _two_shops,
            "the second node sees what the first one wrote: all nodes of a step must read the "
            "state from before the step",
            _as_langgraph(_two_shops),
        ),
        Check(
            "three nodes, given in another order",
            _in_order,
            "writes are put together in the order of the nodes' names, so that equal runs have "
            "equal results",
            _as_langgraph(_in_order),
        ),
        Check(
            "one writer for each plain key, and a node that writes nothing",
            _one_plain,
            "one write of a key without a reducer is allowed: it replaces the value from before",
            _as_langgraph(_one_plain),
        ),
        Check(
            "two writers of one plain key",
            _two_plain,
            "two nodes wrote one key without a reducer, and one of the two is lost in silence",
            _as_langgraph(_two_plain),
        ),
        Check(
            "the state from before the step",
            _state_kept,
            "the state from before the step was changed: return a new one",
            _as_langgraph(_state_kept),
        ),
    ),
    wrong_answers=(
        Wrong(_one_by_one, "the state from before the step"),
        Wrong(_as_given, "the order of the nodes' names"),
        Wrong(_one_write_alone, "is allowed"),
        Wrong(_last_wins, "lost in silence"),
        Wrong(_changes_the_state, "return a new one"),
    ),
)


# --- state-3: a reducer of one's own -----------------------------------------------------------

Offers = dict[str, float]


def _offers(lc: World, cheapest: Any, *offers: tuple[str, float], given: Any = None) -> Any:
    """The offers that LangGraph gathers: a Send for each, all in one step."""

    class Search(TypedDict):
        offers: Annotated[Offers, cheapest]

    builder = lc.StateGraph(Search)
    builder.add_node("shop", lambda offer: {"offers": dict([offer])})
    builder.add_conditional_edges(
        lc.START, lambda state: [lc.Send("shop", offer) for offer in offers], ["shop"]
    )
    return builder.compile().invoke({"offers": given or {}})["offers"]


def _different(lc: World, cheapest: Any) -> Any:
    return _offers(lc, cheapest, ("train", 90), ("bus", 40))


def _same(lc: World, cheapest: Any) -> Any:
    return _offers(lc, cheapest, ("train", 90), ("train", 70), ("train", 80))


def _first(lc: World, cheapest: Any) -> Any:
    return _offers(lc, cheapest, ("train", 70), ("train", 90))


def _from_before(lc: World, cheapest: Any) -> Any:
    return _offers(lc, cheapest, ("train", 90), given={"bus": 40, "train": 95})


def _free(lc: World, cheapest: Any) -> Any:
    return _offers(lc, cheapest, ("walk", 0), ("walk", 5))


def _untouched(lc: World, cheapest: Any) -> Any:
    old, new = {"train": 90, "bus": 40}, {"train": 70, "walk": 0}
    cheapest(old, new)
    return old, new


def _newest(old: Offers, new: Offers) -> Offers:
    return old | new


def _oldest(old: Offers, new: Offers) -> Offers:
    return new | old


def _lowest_of_all(old: Offers, new: Offers) -> Offers:
    both = old | new
    return {name: price for name, price in both.items() if price == min(both.values())}


def _only_new(old: Offers, new: Offers) -> Offers:
    return {name: min(price, old.get(name, price)) for name, price in new.items()}


def _zero_is_nothing(old: Offers, new: Offers) -> Offers:
    return {
        name: min(old.get(name) or new[name], new.get(name) or old[name])
        if name in old and name in new
        else (old | new)[name]
        for name in old | new
    }


def _writes_into_old(old: Offers, new: Offers) -> Offers:
    for name, price in new.items():
        old[name] = min(price, old.get(name, price))
    return old


CHEAPEST = Exercise(
    id="state-3",
    title="A reducer that keeps the cheapest",
    minutes=10,
    difficulty="medium",
    task="""
        Many shops are asked at once, by a `Send` each. Each writes its offer, for example
        `{"offers": {"train": 90}}`. Write the reducer of `offers`: all names stay, and of two
        prices for one name the lower one. A price may be 0. The reducer is called once for each
        write, and what it is given must stay as it is.
        """,
    stub='''
def cheapest(old: dict[str, float], new: dict[str, float]) -> dict[str, float]:
    """The offers after one more write."""
    raise NotImplementedError
''',
    hints=(
        "If the last price won, it would be `old | new`. For which names is that wrong?",
        "Go through the items of `new`, in a copy of `old`. What do you compare a price with if "
        "`old` does not have its name?",
        "`old.get(name, price)` is the old price, or the new one if there is no old one. The "
        "smaller of it and `price` is what you want.",
    ),
    checks=(
        Check(
            "offers for two names",
            _different,
            "every name must stay in the offers, whichever shop wrote it",
            {"train": 90, "bus": 40},
        ),
        Check(
            "three prices for one name",
            _same,
            "of several prices for one name the lowest must win, not the last and not the first",
            {"train": 70},
        ),
        Check(
            "the lower price comes first",
            _first,
            "a later write with a higher price must not replace the lower one",
            {"train": 70},
        ),
        Check(
            "offers from before the step",
            _from_before,
            "what stood in the state before the step must stay, and be compared with as well",
            {"bus": 40, "train": 90},
        ),
        Check("a price of 0", _free, "0 is a price, and the lowest there is", {"walk": 0}),
        Check(
            "what it was given",
            _untouched,
            "a reducer must not change what it is given: the state from before the step is read by "
            "others, and kept by a checkpointer",
            ({"train": 90, "bus": 40}, {"train": 70, "walk": 0}),
        ),
    ),
    wrong_answers=(
        Wrong(_lowest_of_all, "every name must stay"),
        Wrong(_only_new, "every name must stay"),
        Wrong(_newest, "the lowest must win"),
        Wrong(_oldest, "the lowest must win"),
        Wrong(_zero_is_nothing, "0 is a price"),
        Wrong(_writes_into_old, "must not change what it is given"),
    ),
)


LESSON = Lesson(
    exercises=(MERGE, STEP, CHEAPEST),
    quizzes=(
        Quiz(
            id="state-1",
            question="Three nodes run in one step. Each writes the key `city`, two with the "
            "same value. `city` has no reducer. What is in the state after the step?",
            options=(
                Option(
                    "the value of the node whose name comes last in the alphabet",
                    "That is the order of writes for a key with a reducer.",
                ),
                Option(
                    "the value that two of them wrote, since a step counts equal writes once",
                    "Values are not compared. Several writes are several writes.",
                ),
                Option(
                    "nothing: the run ends with an InvalidUpdateError",
                    "One value a step is all that a key without a reducer takes.",
                    right=True,
                ),
                Option(
                    "the value of the node that was done last",
                    "Who was faster never counts: equal runs have equal results.",
                ),
            ),
        ),
        Quiz(
            id="state-2",
            question="`a` and `b` run in one step. Behind `a` stands a path. Both write to `log`, "
            "which has a reducer. What does the path read in `log`?",
            options=(
                Option(
                    "what was there before the step, and what `a` wrote",
                    "A path belongs to its node's task: it sees that task's writes and no other's.",
                    right=True,
                ),
                Option(
                    "what was there before the step",
                    "So it is for the nodes. A path that could not see its node's answer could not "
                    "tell whether there are calls in it.",
                ),
                Option(
                    "what was there before the step, and what `a` and `b` wrote, in this order",
                    "That is what the nodes of the next step read. The path runs before the step "
                    "is over.",
                ),
            ),
        ),
    ),
)
