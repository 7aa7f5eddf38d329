"""English words whose forms share no stem: "went" is asked for as "go", "children" as "child".

The stemmer cuts endings and knows nothing of these. The list is closed: verbs that change their
vowel and the plurals in use; forms that only differ by a regular ending are left out.
"""

from functools import cache

from agentm_assets.index.lexical_terms import words

_FORMS = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun
bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred
bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung
come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|give gave given|go went gone|grind ground|grow grew grown|hang hung|hear heard
hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant
leap leapt|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant
meet met|mistake mistook mistaken|overcome overcame|override overrode overridden
overwrite overwrote overwritten|pay paid|rebuild rebuilt|redo redid redone|rethink rethought
rewrite rewrote rewritten|ride rode ridden|ring rang rung|rise rose risen|run ran|say said
see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|speed sped|spend spent|spill spilt|spin spun|spoil spoilt|spring sprang sprung
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|swear swore sworn|sweep swept
swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|undertake undertook undertaken|undo undid undone
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound
withdraw withdrew withdrawn|write wrote written
child children|man men|woman women|person people|foot feet|tooth teeth|goose geese|mouse mice
wife wives|life lives|knife knives|leaf leaves|shelf shelves|wolf wolves|half halves|loaf loaves
thief thieves|calf calves|good better best|bad worse worst|far further|index indices
matrix matrices|vertex vertices|criterion criteria|analysis analyses|crisis crises
"""


def other_forms(term: str) -> tuple[str, ...]:
    """The other forms of an indexed term, as terms; none for nearly all."""
    return _others().get(term, ())


@cache
def _others() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in _FORMS.replace("\n", "|").split("|"):
        forms = list(dict.fromkeys(words(line)))
        for form in forms:
            known = found.setdefault(form, [])
            known += [other for other in forms if other != form and other not in known]
    return {form: tuple(others) for form, others in found.items() if others}
