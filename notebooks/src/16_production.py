# %% [markdown] lang="en"
# # How does a tool that pays money back become safe?
#
# Article A ends with six advices for tools. Are they taste, or can one measure them? We open a refund desk, let it lose money, and follow the advices one by one. After each we count what the bank has paid.
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [11_injection](11_injection.ipynb): who is asking; [13_middleware](13_middleware.ipynb): what stands around a call |
# | **Articles** | A: the six production advices, problem 10 |
# | **We use** | LangChain's own agent and middleware; minilc for the judge |
#
# This is where the real things stand in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import exercises as ex
from minilc.course.doctor import diagnose
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["HumanInTheLoopMiddleware", "ToolRetryMiddleware", "interrupt", "ToolRuntime"]:
    print(f"{name:<25}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# Article A's example for its third and fourth advice is `create_refund`. It ends in three dots, and we leave them there.

# %%
from langchain.tools import ToolRuntime, tool
from pydantic import BaseModel, Field


class RefundArgs(BaseModel):
    order_id: str = Field(description="Order id, such as O202607070001")
    reason: str = Field(description="Refund reason provided by the user")
    amount: float = Field(gt=0, description="Refund amount in CNY")


@tool(args_schema=RefundArgs)
def create_refund(order_id: str, reason: str, amount: float) -> str:
    """Create a refund request after validating order status."""
    order = load_order(order_id)
    if order.status != "PAID":
        return "Cannot refund: order is not paid."
    if amount > order.remaining_refundable_amount:
        return "Cannot refund: amount exceeds refundable balance."
    ...


# %% [markdown] lang="en"
# `chat` makes an agent whose scripted model calls the tool once, with `ARGS`. What comes out of a rightful refund?

# %%
from minilc.course.refunds import ARGS, QUESTION, bank, call, chat, found, offered, read, sent

with expect_error(NameError, "name 'load_order' is not defined"):
    chat(create_refund).invoke(QUESTION)

# %% [markdown] lang="en"
# `load_order` is nowhere in the article. Ours knows three orders, in fen: 1000 are 10 CNY. O1 has 3000 left. Again: what does the model read, and what about an order that does not exist? Guess before you look.

# %%
from minilc.course.refunds import load_order

answer = chat(create_refund).invoke(QUESTION)["messages"][2]
assert (answer.content, answer.status) == ("null", "success")
with expect_error(AttributeError, "'NoneType' object has no attribute 'status'"):
    chat(create_refund, args=ARGS | {"order_id": "O9"}).invoke(QUESTION)

# %% [markdown] lang="en"
# `null`, with the status *success*, and nothing is paid. An order that does not exist ends the run. The example is a beginning; the rest of this notebook is what the dots stand for.
#
# ## 2. A desk that loses money
#
# Our bank remembers what it paid. It can pay and then lose the line before it answers. With a `key` it pays once; who has no key has no such promise. Below it is the tool as one writes it in a hurry.

# %% source="minilc.course.refunds:Bank, run"
from minilc.course.refunds import Bank, run

# %% [markdown] lang="en"
# ### The probe
#
# Thirteen days at the desk. A day has what *should* come out, the bank's troubles, what a person would decide if anybody asked, and the model's arguments where they are not `ARGS`. `desk` runs a day on the real `create_agent`, and tells what was paid and which status the model reads.

# %% source="minilc.course.refunds:DAYS, desk, open_desk"
from minilc.course.refunds import DAYS, desk, open_desk

# %% [markdown] lang="en"
# On how many of thirteen days does the hurried tool do the right thing?

# %%
probe = Probe(lambda day: day.right, DAYS, aim="the plan")
result = probe(desk(run))
assert result.score == 2
result

# %% [markdown] lang="en"
# Two. On one day the customer pays the shop, on two others 小红's order is paid out to 小明.
#
# ## 3. Names, and descriptions that say when
#
# **Advices 1 and 2.** What does the model have to choose by? Names, descriptions and parameters, and nothing else. Here are three tools with the article's bad names, with good ones, and with descriptions that say *when*.
#
# A scripted model chooses nothing. So we count words: the tool that shares most with the question is taken, and a tie is a guess. That is no language model. But like one it has only the text that was sent.

# %% source="minilc.course.refunds:HURRIED, NAMED, DESCRIBED, ASKED, chosen"
from minilc.course.refunds import ASKED, DESCRIBED, HURRIED, NAMED, chosen

# %% [markdown] lang="en"
# Six questions. How many find their tool, with each of the three?

# %%
scores = [found(texts) for texts in (HURRIED, NAMED, DESCRIBED)]
assert scores == [2, 3, 6]

# %% [markdown] lang="en"
# **Wait a minute.** We wrote the questions *and* the descriptions. So this proves nothing about models; it shows that before there was little to tell the tools apart by. The doctor has not seen our questions. What does it say? And what is the price?

# %%
import json

before, after = offered(HURRIED), offered(DESCRIBED)
vague = {"name-says-nothing", "description-says-nothing"}
assert vague <= set(diagnose(before).codes) and not vague & set(diagnose(after).codes)
sizes = [len(json.dumps(sent(*tools))) for tools in (before, after)]
assert sizes[0] < sizes[1]
sizes

# %% [markdown] lang="en"
# The second number is what goes out with *every* request. A description is worth its words, not more.
#
# ## 4. `Field` for parameters
#
# **Advice 3.** The article has `amount: float`. Money does not like that: of 0.30 we pay back 0.20, and then the last 0.10 are *more than is left*. So ours is an `int`, in fen. The bad name and the `user_id` are gone, too.

# %% source="minilc.course.refunds:Refund, refund_tool"
from minilc.course.refunds import Refund, refund_tool


# %%
assert 0.1 > 0.3 - 0.2


@refund_tool
def refund_v1(order_id: str, amount: int, reason: str) -> str:
    bank.pay(order_id, amount)
    return "success"


# %% [markdown] lang="en"
# What is the model sent about the amount, before and after?

# %%
before, after = (sent(one)[0]["parameters"]["properties"]["amount"] for one in (run, refund_v1))
assert before == {"type": "number"}
after

# %% [markdown] lang="en"
# The unit, an example, and `exclusiveMinimum`: the limit is *told* to the model, and checked when the call comes. With which text is a call refused?

# %%
text = read(refund_v1, amount=-1000)
assert "amount: Input should be greater than 0" in text and bank.paid == []
assert probe(desk(refund_v1)).score == 3
print(text)

# %% [markdown] lang="en"
# The probe went from two to three. A schema knows the form of an amount. It knows no order.
#
# ## 5. A second validation inside
#
# **Advice 4.** The article returns a text when it refuses. We raise a `ToolException`, and `refund_tool` has said that the tool handles it ([03_base](03_base.ipynb)). `left` counts what has been paid back by now.

# %% source="minilc.course.refunds:validate, left"
from minilc.course.refunds import left, validate


# %%
@refund_tool
def refund_v2(order_id: str, amount: int, reason: str) -> str:
    validate(order_id, amount)
    bank.pay(order_id, amount)
    return "success"


result = probe(desk(refund_v2))
assert result.score == 6
result

# %% [markdown] lang="en"
# **Wait a minute.** A returned text refuses as well. What is the difference? To the model the text; the *status* is for everybody else: logs, retries, the doctor. And ours has the number that a better call needs.

# %%
silent = chat(create_refund, args=ARGS | {"amount": 5000}).invoke(QUESTION)["messages"][2]
assert silent.status == "success" and "exceeds" in silent.content
print(silent.content, read(refund_v2, amount=5000), sep="\n")

# %% [markdown] lang="en"
# ## 6. Who is asking?
#
# The desk pays 小红's order to anybody. With the user from the run's context the score is eight. A tool that believes a `user_id` of the model gets seven: it stops the mistake, and not the lie.

# %%
from minilc.course.refunds import Context


@refund_tool
def refund_v3(order_id: str, amount: int, reason: str, runtime: ToolRuntime[Context]) -> str:
    validate(order_id, amount, runtime.context.user_id)
    bank.pay(order_id, amount)
    return "success"


class Trusting(Refund):
    user_id: str


def trusted(order_id: str, amount: int, reason: str, user_id: str) -> str:
    validate(order_id, amount, user_id)
    return bank.pay(order_id, amount)


trusting = refund_tool(trusted, Trusting)
assert [probe(desk(one)).score for one in (trusting, refund_v3)] == [7, 8]

# %% [markdown] lang="en"
# The doctor points at the trusting one. And what if the model writes a whole `runtime`, with 小红 in it? It is replaced, as [11_injection](11_injection.ipynb) has shown.

# %%
codes = [diagnose([one]).codes for one in (trusting, refund_v3)]
assert ["identity-from-model" in one for one in codes] == [True, False]
lie = {"user_id": "小红", "runtime": {"context": {"user_id": "小红"}}}
text = read(refund_v3, order_id="O3", **lie)
assert text == read(refund_v3, order_id="O9").replace("O9", "O3")
text

# %% [markdown] lang="en"
# See the last assert: the refusal is the same for *another's order* and *no such order*. Two texts would tell a stranger which orders exist.
#
# ## 7. Retries
#
# LangChain has a middleware for it. Which errors are worth a second try? Those that may be gone by then: a lost line, not a closed account.

# %%
from langchain.agents.middleware import ToolRetryMiddleware
from minilc.course.refunds import MING, THREAD

QUICK = {"max_retries": 2, "initial_delay": 0, "jitter": False}
WORTH_IT = (ConnectionError, TimeoutError)


def knocks(errors):
    bank.open(*[PermissionError("the account is closed")] * 9)
    again = ToolRetryMiddleware(retry_on=errors, on_failure="error", **QUICK)
    with expect_error(PermissionError, "the account is closed"):
        open_desk(refund_v3, again).invoke(QUESTION, THREAD, **MING)
    return bank.tries


assert [knocks((Exception,)), knocks(WORTH_IT)] == [3, 1]

# %% [markdown] lang="en"
# Three knocks at a closed door, or one. Name the errors: what is tried again if you do not depends on LangChain's version.
#
# Now the probe. On two days the bank is down, on two the line is lost.

# %%
retry = ToolRetryMiddleware(retry_on=WORTH_IT, **QUICK)
result = probe(desk(refund_v3, retry))
assert result.score == 10
[(row.input, row.ours) for row in result.rows[8:12]]

# %% [markdown] lang="en"
# *Line lost*: 2000, for a refund of 1000. The bank had paid before the line was lost, and the retry paid again. How bad can it get? The line is lost three times:

# %%
bank.open("line", "line", "line")
answer = open_desk(refund_v3, retry).invoke(QUESTION, THREAD, **MING)["messages"][2]
assert bank.total() == 3000 and answer.status == "error"
answer.content

# %% [markdown] lang="en"
# Paid three times; and the model reads that it failed, and is to *try again*. After a `TimeoutError` nobody knows whether it failed. Retries without the next part are dangerous.
#
# ## 8. Idempotence
#
# The bank takes a key. It must be the same when the same wish is tried again, and another for another wish. Such a key is the **call's id**: the model made it once, and no retry changes it.


# %%
@refund_tool
def refund_v4(order_id: str, amount: int, reason: str, runtime: ToolRuntime[Context]) -> str:
    validate(order_id, amount, runtime.context.user_id)
    bank.pay(order_id, amount, key=runtime.tool_call_id)
    return "success"


result = probe(desk(refund_v4, retry))
assert result.score == 11
[(row.input, row.ours) for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# *Line lost, whole sum*: paid, and an error! The second try validates again, and by now nothing is left. So we look for the receipt **before** we validate. This is the finished tool.

# %% source="minilc.course.refunds:create_refund"
from minilc.course.refunds import create_refund

# %%
result = probe(desk(create_refund, retry))
assert result.score == 12
[(row.input, row.ours) for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# Not only retries run a tool twice. This one pays, and then asks whether to send a mail. When the run goes on, the node starts from its beginning. How much is paid without a key?

# %% source="minilc.course.refunds:asks_late"
from minilc.course.refunds import asks_late

# %%
from langgraph.types import Command

for keyed, paid in {False: 2000, True: 1000}.items():
    bank.open()
    agent = open_desk(asks_late(keyed))
    assert agent.invoke(QUESTION, THREAD, **MING)["__interrupt__"] and bank.total() == 1000
    agent.invoke(Command(resume="yes"), THREAD, **MING)
    assert bank.total() == paid

# %% [markdown] lang="en"
# The refund was paid twice, because somebody wanted a mail. With a key, once.
#
# Is the call's id enough? It comes from the model's side, and here every conversation has a `call_1`. Exercise 2 is about that.
#
# ## 9. Time-outs
#
# The wrapper of 13_middleware stops waiting, and the thread goes on. At our desk this thread holds money. `waiting` lets the bank wait for a bell. How much is paid when the model has its answer, and how much when the thread has ended?

# %%
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from minilc.course.refunds import time_out, waiting

bell, pool = Event(), ThreadPoolExecutor()
UNKNOWN = "The bank has not answered. It may still pay. Do not ask again; look the order up."
bank.open()
agent = open_desk(create_refund, time_out(pool, UNKNOWN), waiting(bell))
answer = agent.invoke(QUESTION, THREAD, **MING)["messages"][2]
assert answer.content == UNKNOWN and bank.total() == 0
bell.set(), pool.shutdown()
assert bank.total() == 1000
bank.pay("O1", 1000, key="call_2")
assert bank.total() == 2000

# %% [markdown] lang="en"
# So *failed* would be a lie. And *try again* is a second refund, as the last two lines show: the model's next call has a new id, and with it a new key. The text says **unknown**, and names a way to find out.
#
# An awaited tool is another matter. It is cancelled, and what comes after its `await` does not happen.

# %%
import asyncio

from minilc.course.refunds import awaited

bank.open()
with expect_error(TimeoutError, ""):
    await asyncio.wait_for(chat(awaited).ainvoke(QUESTION), 0.05)
await asyncio.sleep(0.3)
assert bank.total() == 0

# %% [markdown] lang="en"
# ## 10. A person before the money
#
# **Advice 5.** 13_middleware writes an approval by hand. LangChain has one: `HumanInTheLoopMiddleware`. Its question may be a function that sees the run, so that the person reads who is asking. What are they asked, and has the bank been?

# %%
from langchain.agents.middleware import HumanInTheLoopMiddleware


def wish(call, state, runtime):
    return f"{runtime.context.user_id} wants {call['args']['amount']} fen back"


ASK = {"allowed_decisions": ["approve", "edit", "reject"], "description": wish}
approval = HumanInTheLoopMiddleware({"create_refund": ASK})

bank.open()
agent = open_desk(create_refund, retry, approval)
paused = agent.invoke(QUESTION, THREAD, **MING)
assert bank.tries == 0 and len(paused["messages"]) == 2
(asked,) = paused["__interrupt__"][0].value["action_requests"]
asked

# %% [markdown] lang="en"
# Not yet. The `user_id` in there is what the model wrote, and the tool will drop it; the description has the real one.
#
# Three decisions: yes, no with a reason, and yes with another amount.

# %%
from minilc.course.refunds import decide, edited

YES, NO = {"type": "approve"}, {"type": "reject", "message": "Ask for a photo first."}
for decision, comes in [
    (YES, (1000, "success")),
    (NO, (0, "error")),
    (edited(500), (500, "success")),
]:
    answer = decide(decision, retry, approval)["messages"][2]
    assert (bank.total(), answer.status) == comes

# %% [markdown] lang="en"
# **Wait a minute.** The model asked for 1000, and 500 were paid. Does it know? LangChain's versions differ. This is yours: the amount in the model's own message, and whether a note stands before our answer.

# %% tags=["version"]
assert NO["message"] in decide(NO, retry, approval)["messages"][2].content
_, calls, answer, _ = decide(edited(500), retry, approval)["messages"]
assert "500 fen of order O1 are paid back" in answer.content
calls.tool_calls[0]["args"]["amount"], not answer.content.startswith("Refund")

# %% [markdown] lang="en"
# Older ones write 500 into the model's *own* message; newer ones leave it, and put a note before the answer. Our result names the amount, and is right with both.
#
# People err, too. What if they edit to 5000? And who is the user when a clerk says yes?

# %%
answer = decide(edited(5000), retry, approval)["messages"][2]
assert "Cannot refund 5000 fen: 3000 fen are left." in answer.content and bank.total() == 0
answer = decide(YES, retry, approval, context=Context("a clerk"))["messages"][2]
assert answer.content == "Cannot refund: this customer has no order O1."

# %% [markdown] lang="en"
# The second validation stands behind the person. And the context is *not* in the checkpoint: who resumes hands it over again. Keep the customer's beside the thread; that of the clerk who clicked would be the tool's user.
#
# The probe, with everything.

# %%
result = probe(desk(create_refund, retry, approval))
assert result.score == len(DAYS)
result

# %% [markdown] lang="en"
# ## 11. Results to reason on
#
# **Advice 6.** The user goes on asking. Which of four questions can be answered from what the model has read? We look for the fact in the text.

# %%
FACTS = {"Which number?": "R1", "How much?": "1000", "Which order?": "O1", "What is left?": "2000"}
texts = read(run), read(create_refund)
known = [[asked for asked, fact in FACTS.items() if fact in text] for text in texts]
assert known == [[], list(FACTS)]

# %% [markdown] lang="en"
# None, and all four. After `success` the model must guess or call again, and calling again is a second refund.
#
# ## 12. The picture
#
# One refund from its beginning to its end. The pause stands where it was: behind the model, before anything goes to the tool.

# %%
from minilc.course.refunds import with_pause

done = decide(YES, retry, approval)["messages"]
assert [message.type for message in done] == ["human", "ai", "tool", "ai"]
with_pause(done, asked["description"], "approve")

# %% [markdown] lang="en"
# ## 13. The judge
#
# minilc has no ready-made approval, but all that one is made of. The same desk in both worlds: an identity from the context, a key, a pause around the tool, a retry.


# %%
def story(lc):
    @lc.tool
    def refund(amount: int, runtime: lc.ToolRuntime[Context]) -> str:
        """Refund."""
        return runtime.context.user_id + bank.pay("O1", amount, runtime.tool_call_id)

    @lc.wrap_tool_call
    def ask(request, handler):
        assert lc.interrupt(request.tool_call["args"]) == "yes"
        try:
            return handler(request)
        except TimeoutError:
            return handler(request)

    bank.open("line")
    model = lc.ScriptedChatModel([lc.AIMessage("", tool_calls=[call("refund", ARGS)]), "好的。"])
    options = {"middleware": [ask], "checkpointer": lc.InMemorySaver()}
    agent = lc.create_agent(model, [refund], context_schema=Context, **options)
    paused = agent.invoke(QUESTION, THREAD, **MING)["__interrupt__"][0].value
    done = agent.invoke(lc.Command(resume="yes"), THREAD, **MING)
    return paused, bank.paid, bank.tries, done["messages"][2].content


# %%
result = twin(story, title="ask, lose the line, pay once")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# ## 14. Exercises
#
# The first is advices 4 and 6 in one: refuse, and say what would be right.

# %%
ex.show("production-1")

# %% stub="production-1"

# %% [markdown] lang="en"
# The second: a customer has a receipt, and no money.

# %%
ex.show("production-2")

# %% stub="production-2"

# %% [markdown] lang="en"
# The third is a retry of your own, which is worth it.

# %%
ex.show("production-3")

# %% stub="production-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# Names, descriptions and `Field` change what the model is sent, and refuse the wrong form; the second validation and the context refuse the wrong deed. Retries, time-outs and resumed nodes run a deed twice, and a key makes it one. A person sees it before, and the result says it after.
#
# And the weather of 北京? It needs little of this: who only reads may be asked twice.
#
# Two questions to end with. `ex.answer("production-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("production-1"), ex.quiz("production-2"))

# %% [markdown] lang="en"
# Next: [17_articles](17_articles.ipynb). Which of the articles' sentences hold, and on which version?
