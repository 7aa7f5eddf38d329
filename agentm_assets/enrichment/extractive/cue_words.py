"""Words that speak for a type, in English: general ones, no names of things.

Phrases are lower-case words joined by one blank, an apostrophe is `'`. They are looked for in prose
alone, whole words each, the longest at a place. What speaks for two types stands in both lists: the
coefficients weigh one list against the other.
"""

from typing import Final


def _phrases(text: str) -> frozenset[str]:
    return frozenset(" ".join(line.split()) for line in text.replace(",", "\n").split("\n")) - {""}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIKING: Final = _phrases("""
    i like, i love, i really like, i really love, i prefer, i'd rather, i would rather, i enjoy,
    i really enjoy, i hate, i dislike, i don't like, i can't stand, i'm a fan, i am a fan,
    big fan, i'm into, i'm not into, i adore, i always, i never, i usually, i tend to,
    i habitually, prefer, prefers, preferred, preference, likes, loves, enjoys, hates, dislikes,
    wants, favorite, favourite, favorites, favourites, is my go-to, my go to, my jam, my thing,
    i find it relaxing, helps me relax, makes me feel, make me feel, makes me happy, gives me,
    is a must for me, a must for me, keeps me, helps me, help me, motivates me, inspires me,
    inspires, i value, matters to me, important to me, means a lot to me, i'm passionate,
    passionate about, doesn't like, does not like, likes to, like to, i like that, i like how,
    what i like, which i like, which i really like, i'm fond of, personal taste, to my taste,
    don't want, do not want, doesn't want, no fan of, never wants, my passion, is my passion,
    been getting into, keeps me motivated, keep me, makes me, make me, give me, comforting,
    i like being able to, i usually use, i really want
""")

RULE: Final = _phrases("""
    we use, we always, we never, we decided, i decided, decided to, decided on, decided against,
    we agreed, agreed to, agreed on, agreed that, we chose, i chose, chose, we settled on,
    settled on, i've settled on, we've settled on, stick with, sticking with, stick to,
    going to stick with, from now on, going forward, in future, in the future, henceforth, always,
    never, must, must not, mustn't, may not, shall, should, should not, shouldn't, required,
    is required, are required, mandatory, forbidden, prohibited, allowed only, only allowed,
    not allowed, is not permitted, policy, policies, convention, conventions, rule, the rule is,
    rules, standard, standardise on, standardize on, our standard, guideline, guidelines,
    agreement, decision, by convention, as a rule, every time, each time, any time, anytime,
    whenever, instead of, turned down, ruled out, rejected, in favour of, in favor of,
    over the alternative, because, so that, no exceptions, without exception, without approval,
    needs approval, everyone, everybody, nobody, no one, the team, all new, every new,
    every change, i opted, opted for, opted to, we opted, rather than, instead
""")

LOOKUP: Final = _phrases("""
    is a, is an, are a, is the, refers to, stands for, means that, is called, are called,
    is known as, also known as, is defined as, definition, consists of, is made of, is based on,
    is part of, belongs to, is located, is at, is in, lives in, works at, works for, works as,
    supports, provides, returns, accepts, contains, includes, equals, defaults to, by default,
    the default, default, maximum, minimum, limit, limits, up to, at most, at least, per second,
    per minute, per hour, per day, per month, per year, costs, price, version, versions, released,
    since version, option, options, flag, flags, parameter, parameters, argument, arguments,
    attribute, attributes, property, properties, field, fields, value, values, syntax, command,
    query, function, method, methods, class, module, library, endpoint, api, documentation,
    documented, docs, reference, specification, spec, format, see also, more information,
    for example, e.g., such as, there are, there is, allows, lets you, can be used, is used to,
    used to, used for, works by, takes a, takes an, gives you, display, displays, print, prints,
    list, lists, show, shows, specify, specified, given, pattern, the pattern, this pattern,
    trick, the trick is, this trick, exactly that, helper, snippet, one-liner
""")

STEPS: Final = _phrases("""
    first, firstly, second step, first step, next step, last step, the next step, step one,
    step 1, step 2, step 3, step, steps, then, next, after that, afterwards, finally, lastly,
    once that, once you, once it, when that is done, when it's done, before you, after you,
    now you, you can now, you should now, you'll need, you will need, you need to, i needed to,
    make sure, ensure, check that, verify, confirm that, here's how, here is how, how to, how i,
    here's what i did, here is what i did, here's the recipe, recipe, recipes, procedure,
    checklist, check list, walkthrough, tutorial, guide, instructions, set up, setting up, setup,
    install, installing, installed, run, running, i ran, create, creating, i created, deploy,
    deploying, deployed, build, building, configure, configuring, configuration, download,
    downloading, downloaded, open, click, select, enter, paste, copy, add, adding, i added, save,
    start, starting, restart, export, import, clone, upload, uploading, sign in, log in, navigate,
    go to, wait for, repeat, button, the button, menu, settings, account, sign up, terminal,
    getting started, prerequisites, requirements, to do this, to do that, in order to,
    this worked, it worked, and it worked, worked for me, that worked
""")

CURE: Final = _phrases("""
    error, errors, error message, the following error, this error, got this error, exception,
    traceback, stack trace, stacktrace, warning, warnings, failed, fails, fail, failing, failure,
    failures, broke, broken, breaks, breaking, crash, crashed, crashes, crashing, hang, hangs,
    hung, hanging, freezes, froze, timeout, timed out, times out, bug, bugs, buggy, issue with,
    problem, problems, the problem, the problem was, the cause, root cause, caused by,
    the cause was, the culprit, culprit, because of a, turned out, turns out, it turned out,
    it turns out, fix, fixed, fixes, fixing, the fix, the fix was, fixed by, fixed it,
    i fixed this, solved, solution, the solution, resolve, resolved, resolves, workaround,
    work around, worked around, cure, cured, mended, repaired, repair, debug, debugging,
    troubleshoot, troubleshooting, symptom, symptoms, didn't work, doesn't work, did not work,
    does not work, don't work, wouldn't work, not working, stopped working, no longer works,
    no longer, wrong, incorrect, incorrectly, unexpected, unexpectedly, unexpected result,
    corrupt, corrupted, lost all, not found, permission denied, refused, unable to, couldn't,
    could not, missing, regression, reverted, rolled back, went away, gone after, avoid this,
    i tried, tried this, no matter what, mysterious, mysteriously, strange, weird,
    for some reason, slow, slowly, poor performance, leak, leaked, leaking, denied, disk full,
    is full, out of memory
""")

MAYBE: Final = _phrases("""
    idea, an idea, i have an idea, what if, maybe, perhaps, might, might be, could, could be,
    would be, it would be, it'd be, would be nice, would be cool, would be great, would be fun,
    would be interesting, would love to, i'd love to, we'd love to, i'd like to, i would like to,
    we'd like to, want to try, wants to try, i want to, we want to, i'd want, worth trying,
    worth a try, worth exploring, worth investigating, someday, some day, one day, at some point,
    in future, in the future, later, eventually, plan to, plans to, planning to, planning on,
    planning, my plan, the plan, i'm planning, hope to, hopes to, hoping to, hopefully, intend to,
    intends to, thinking of, thinking about, thought about, i was thinking, considering, consider,
    wonder, wonders, wondering, i wonder, could we, should we, can we, why not, how about,
    what about, let's try, let's, looking into, look into, i'll look, i'll start, i'll try,
    we'll try, we could, i could, you could, one could, we might, i might, experiment with,
    experiment, exploring, proposal, propose, proposed, suggest, suggestion, suggested,
    brainstorm, brainstorming, potential, potentially, possible, possibly, possibility, gap,
    not decided, undecided, not sure yet, open question, nice to have, wish, wishlist, dream of,
    can't wait, looking forward, my goal is, goal is to, next year, next month, next week, if we,
    going to try, gonna, gonna try, bucket list, next time, i plan to, i'm thinking,
    i am thinking, i'm considering, we're considering, we're planning, ideally
""")

IMPERATIVES: Final = _phrases("""
    add, allow, append, apply, ask, attach, bake, boil, build, bump, buy, call, change, check,
    choose, clean, clear, click, clone, close, combine, commit, compare, compile, configure,
    confirm, connect, convert, cook, copy, create, cut, define, delete, deploy, disable, download,
    drag, edit, enable, enter, export, fill, find, follow, generate, get, give, go, grab, heat,
    import, insert, install, keep, launch, leave, let, log, look, make, mix, move, name, navigate,
    notify, open, paste, pick, place, pour, press, publish, pull, push, put, rebuild, record,
    remove, rename, repeat, replace, restart, review, rinse, rotate, run, save, scan, select,
    send, serve, set, sign, start, stir, stop, switch, tag, take, tell, test, turn, type, update,
    upgrade, upload, use, verify, visit, wait, wash, watch, write
""")

DOINGS: Final = _phrases("""
    adding, baking, building, compiling, configuring, connecting, cooking, creating, deploying,
    downloading, exporting, generating, hosting, importing, installing, joining, launching,
    making, migrating, moving, packaging, publishing, recording, releasing, renewing, restoring,
    rotating, running, serving, setting, signing, starting, storing, switching, transcribing,
    trying, updating, upgrading, uploading
""")
"""First words of a title that tells what is done: "Setting up a mirror"."""

FAILING: Final = _phrases("""
    error, errors, fix, fixes, fixed, fixing, fail, fails, failed, failing, failure, broken, bug,
    crash, crashes, crashing, problem, issue, warning, warnings, exception, timeout, workaround,
    solved, debugging, troubleshooting, missing, wrong, slow, full, stuck, refused, denied
""")
"""Words of a title that says something was broken."""

FIRST_PERSON: Final = frozenset({"i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "myself"})
WE: Final = frozenset({"we", "we're", "we've", "we'd", "we'll", "our", "us", "ours"})
SECOND_PERSON: Final = frozenset({"you", "you're", "you've", "you'd", "you'll", "your", "yours"})

PAST: Final = _words("""
    was were had did went came got made took said saw found gave told felt left kept began ran
    bought brought thought met won lost paid sent spent wrote became grew knew held set read
    happened started ended used visited tried moved finished released launched shipped announced
    attended joined received decided wanted
""")

MOMENT: Final = _phrases("""
    today, yesterday, tonight, this morning, this afternoon, this evening, this week,
    this weekend, this month, this year, last night, last week, last weekend, last month,
    last year, last fri, last monday, last tuesday, last wednesday, last thursday, last friday,
    last saturday, last sunday, next week, next month, next year, tomorrow,
    the day after tomorrow, recently, just now, right now, currently, at the moment,
    the other day, a few days ago, a week ago, days ago, weeks ago, months ago, so far
""")
"""Times that are so only from where the writer stands."""

LASTING: Final = _phrases("""
    always, never, every, each, usually, generally, in general, any, all, by default, whenever,
    must, should, is a, is an, are, means
""")

FUNCTION_WORDS: Final = _words("""
    the a an of to in and or is are was were be been it its this that these those for on with as
    at by from but not if then than so we i you he she they his her their my your our has have had
    do does did can will would could should may must no yes when where which who what how why there
    here into over under after before because while about all any each every more most some such
    only own same too very just also out up down off again one two
""")
"""Words that English text of any subject is full of."""
