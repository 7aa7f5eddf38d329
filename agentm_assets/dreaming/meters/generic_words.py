"""Words that a note about anything may have, and that say nothing about what it is about."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS: Final = _words(
    """
    a about above after again all also although an and another any are as at be because been
    before being below between both but by can could did do does doing done down during each
    either else ever every few for from further had has have having he her here hers him his how
    however i if in into is it its itself just least less let like many may me might more most
    much must my neither no nor not now of off often on once one only onto or other others our
    out over own per rather same shall she should since so some still such than that the their
    them then there these they this those through thus to too under until up upon us very was we
    were what when where whether which while who whom whose why will with within without would
    yes yet you your
    """
)

GENERIC: Final = _words(
    """
    according accordingly account accurate achieve achieved across action actions activities
    activity actual actually add added adding addition additional additionally address addressed
    adjusted adjustment aim allow allows already analysis approach approaches appropriate area
    areas aspect aspects available aware background based basic basically become behavior
    behaviour best better bit brief briefly bring broad capture captured captures capturing care
    case cases certain change changed changes clear clearly collected comment comments common
    complete completed completely comprehensive concept conclusion conclusions consider
    consideration considered contain contained containing contains content contents context
    continue continued correct correctly cover covered covers created crucial current currently
    data deal dealt decided decision decisions describe described describes description desired
    detail detailed details determine determined develop developed development different discuss
    discussed discussing discussion discussions document documentation documented documents
    effective effectively efficient effort ensure ensured ensures entry essential etc evaluate
    evaluated event events everything example examples expected experience explain explained
    explanation explore explored fact factors facts far feature features feedback figure final
    finally find findings fine first focus follow followed following follows form found future
    gain general generally get gets getting give given gives giving go goal goals going good
    great group handle handled handles happen happened help helped helpful helps high highlight
    highlighted highlights idea ideas identified identify impact implement implementation
    implemented implementing importance important importantly improve improved improvement
    improvements improves improving include included includes including information initial
    input insight insights instance intended interest interesting involved involves issue issues
    item items job keep keeping kept key kind know knowledge known large last later lead learn
    learned learning learnings lesson lessons level list little long look looked looking looks
    lot made main maintain major make makes making manage managed management manner material
    matter matters mean meaningful means meeting memory mention mentioned method methods mind
    minor moving multiple namely nature necessary need needed needs new next nice note noted
    notes noteworthy nothing number objective obtained occur occurred okay ongoing open optimal
    option options order organized outcome outcomes outline outlined output overall overview
    part particular particularly parts people perform performance performed perhaps person
    pertinent place plan planned planning plans please plenty point points possible potential
    practice practices prepared present previous previously primary principle principles prior
    priority probably problem problems procedure proceed process processed processes productive
    progress project proper properly proposed provide provided provides providing purpose put
    quality question questions quick quickly quite range ready real really reason reasons
    receive received recent recently record recorded refer reference referenced references
    regard regarding regular related relevant remain remaining remains remember remembered
    reminder report require required requirement requirements requires resolution resolve
    resolved resource resources respective response result results review reviewed right robust
    role said same satisfactory say section see seen separate series session sessions set
    several short show shown shows significant similar simple simply single situation situations
    small smoothly solution solutions solved something specific specifically stage start started
    state statement status step steps strategy strong structure stuff subject success successful
    successfully sufficient suggested suggestion suitable summarized summary sure take takeaway
    takeaways taken takes task tasks team term terms text thing things think thought thoughts
    time times today together took topic topics toward towards track try turn type types
    understand understanding understood update updated updates use used useful user uses using
    usual usually valuable value various view way ways well whole wide work worked working works
    worth write written
    """
)


def says_something(word: str) -> bool:
    """Is the (case-folded) word neither grammar nor filler?"""
    return len(word) > 2 and word not in FUNCTION_WORDS and word not in GENERIC
