"""Words that are capitalised without being names."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SCAFFOLDING: Final = _words("""
    action actions answer background bug caution cause caveat caveats change changes conclusion
    context decision decisions description details done error example examples expected fact facts
    fix fixme follow-up goal goals hint how impact important info issue lesson lessons links nb note
    notes observed ok open options outcome overview plan problem ps question questions rationale
    reason reasons reference references remark result results resolution root see setup solution
    source sources status step steps summary symptom symptoms tip tips tldr todo todos update usage
    verification warning warnings what when where why wip workaround
""")
"""What templates and people write in front of the matter."""

NO_NAMES: Final = _words("""
    a about after all also although an and another any are as at be because been before both but by
    can could did do does each either else every few finally first for from had has have having he
    her here his how however i i'd i'll i'm i've if in instead into is it it's its just last later
    let's many may maybe me might more most much must my never next no none nor not now of off on
    once one only or other our out over per perhaps please second several shall she should since so
    some somebody someone something sometimes still such than that that's the their them then there
    these they they're third this those though through thus to today together tomorrow too two
    under unless until up upon us use very via was we we're we've were what when where whether which
    while who whose why will with within without would yes yesterday yet you your
""")
"""Function words of English, capitalised at the start of a quoted or bracketed sentence."""
