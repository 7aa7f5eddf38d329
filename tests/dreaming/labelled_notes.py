"""150 notes, labelled by hand: 50 that say nothing, 100 that do. Written for the slop detector.

Both kinds fill templates, both kinds are short, both kinds repeat phrases: shape tells nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Labelled:
    slug: str
    body: str
    is_slop: bool
    captured: str = "2026-05-01T09:00:00Z"


INCIDENT = """## What happened
{what}
## Cause
{cause}
## Fix
{fix}
## Follow-up
{follow}
"""
DECISION = """**Decision:** {what}
**Reason:** {cause}
**Alternatives:** {fix}
**Review date:** {follow}
"""

INCIDENTS = [
    ("The pump tripped the breaker at 06:40.", "A wet terminal block.", "Resealed gland G4."),
    ("Orders from Lyon arrived twice.", "The retry had no idempotency key.", "Sent order_id."),
    ("The label printer went offline.", "DHCP lease of 4 hours.", "Reserved 10.0.4.17."),
    ("Nightly export took 9 hours.", "A missing index on shipments.sku.", "Added idx_sku."),
    ("Two phones lost pairing.", "Android 16 rotates the address.", "Bond by IRK."),
    ("The lid sensor stuck.", "Limescale on the reed switch.", "Moved it above the seam."),
    ("Login failed for Ines.", "Her clock was 7 minutes slow.", "Turned on chrony."),
    ("Water leaked at station 3.", "A cracked O-ring, type EPDM 12x2.", "Replaced all of them."),
    ("Search returned nothing for Kyoto.", "NFC and NFD paths differed.", "Normalised to NFC."),
    ("The kettle boiled dry.", "Cut-off at 104 degrees is too late.", "Lowered it to 101."),
    ("Backups stopped on Sunday.", "The disk had 0 bytes left.", "Rotated after 14 days."),
    ("Invoice 2291 was empty.", "The template lost its loop.", "Restored invoice.j2."),
    ("CI hung at linking.", "lld and gold were mixed.", "Pinned lld 19."),
    ("Customs held pallet 88.", "HS code 851610 was missing.", "Added it to the label."),
    ("The scale drifted by 3 g.", "Warm-up takes 20 minutes.", "Zero it after warm-up."),
    ("Telemetry doubled on Monday.", "Opt-in banner fired on resize.", "Debounced the banner."),
    ("OTA bricked 12 boards.", "The signature was cut at 64 bytes.", "Sign the manifest."),
    ("Steam burnt a tester.", "The spout opens at 15 degrees.", "Ordered the 30 degree spout."),
    ("The fair demo froze.", "Watchdog fed from the wrong task.", "Feed it from main_loop."),
    ("Fan noise of 51 dB.", "Blade pass at 230 Hz.", "Seven blades instead of six."),
]
DECISIONS = [
    ("Firmware versions follow the calendar", "Support asks for the date anyway", "semver"),
    ("Thermistor NTC 10k stays", "The cheaper 100k drifted in the sauna test", "100k, PT1000"),
    ("Pairing window of 90 seconds", "Sixty was too short for older users", "60 s, no limit"),
    ("Postgres 17, no upgrade before May", "The extension for zones lags", "18 now"),
    ("Reviews stay under 300 lines", "Ines reads none that are longer", "no limit"),
    ("Presets are stored as TOML", "Comments must survive an edit", "JSON, YAML"),
    ("Steel from Ahlers, not Brandt", "Brandt missed 4 of 10 dates", "both by quarter"),
    ("No voice presets in 2026", "Three of 212 testers asked", "a beta in Q4"),
    ("Returns go through Rotterdam", "Customs in Hull takes nine days", "Hull, Antwerp"),
    ("Descaling at 40 litres", "Hard water of 18 dH clogs at 55", "by time"),
    ("Logs are kept for 35 days", "The auditor wants a month and slack", "14, 90"),
    ("Buttons are silk-screened", "Laser fades on ABS", "laser, inlay"),
    ("Zigbee is dropped", "Only 2 percent of hubs were paired", "keep, bridge"),
    ("One repo for app and firmware", "Protocol changes need both", "submodule"),
    ("The kettle rings at 70 dB", "The old one was not heard upstairs", "60 dB, vibrate"),
    ("Milk mode ends at 72 degrees", "Protein burns on at 78", "80, user choice"),
    ("Ship with a 1.2 m cord", "EN 60335 asks for under 1.25", "0.8 m, 1.5 m"),
    ("Ghent gets the spare boards", "Their rig breaks two a week", "Turin"),
    ("Lid magnets N42", "N35 opened on a tilt of 20 degrees", "N35, N52"),
    ("Release on Tuesdays", "Monday has the stand-up, Friday nobody", "Thursday"),
]
SHORT = [
    "Port 5433 is the second Postgres on vega.",
    "Marek is allergic to walnuts.",
    "The spare key hangs behind the fuse box in B2.",
    "`git worktree prune` frees the branch.",
    "ACME's fiscal year starts in February.",
    "Never restart hermes during payroll.",
    "Solder at 330 °C, lead-free.",
    "Wi-Fi at the fair: channel 11 only.",
    "Tea at 80, coffee at 94.",
    "Sofie owns the CAD licences.",
    "SKU 4410 has the short cord.",
    "Use UTF-8 without BOM for Brandt's portal.",
    "The alarm code changes every quarter; ask Tomas.",
    "Boil test needs 1.7 l of water.",
    "Descaler: citric acid, 20 g per litre.",
    "CAN bus is terminated in the lid.",
    "Ghent closes at 16:00 on Fridays.",
    "Invoice copies go to rita at the tax office.",
    "Rubber feet: 8 mm, glued, not screwed.",
    "The old logo must not be on the manual.",
    "Lab fridge holds the pH standards.",
    "No pushes to main after 15:00.",
    "HX711 needs a 10 Hz rate.",
    "Keep the sauna rig under 95 % humidity.",
    "Ticket prefix for firmware is KET.",
    "Yuki reads mail at night, Japan time.",
    "Van leaves Dock 4 at seven.",
    "Pantone 7461 C for the handle.",
    "Insulation class H, not F.",
    "Elena prefers a call to a chat.",
]
PROSE = [
    "We measured the flow at the spout with three fillings. At one litre the stream breaks after "
    "eleven centimetres, which wets the hand; with the wider lip it holds to nineteen.",
    "Hard water returns cluster in Kent and in Franconia. Of 64 kettles sent back in May, 51 had "
    "scale above the sensor, and none of those owners had seen the descaling light.",
    "The heater driver was chosen for its slope, not its price: the cheaper part rings at 40 kHz "
    "and the certification lab in Arnhem failed it twice.",
    "Ambient noise in the office hides the boil. We record at night, door shut, microphone at one "
    "metre, and discard takes in which the tram passes.",
    "Customers call the keep-warm mode by five names. In the manual it stays keep warm; support "
    "searches for holding, standby, thermos and nanny as well.",
    "The i2c bus hangs when the display is unplugged under power. Nine clock pulses free it, so "
    "the driver sends them before each start.",
    "Brandt ships in wood, Ahlers in cardboard. The forwarder charges by the crate, so Brandt's "
    "lower price is gone from six pallets on.",
    "For the audio test a sweep from 20 Hz to 8 kHz was enough; the boil has nothing above five. "
    "The gap pattern before boiling is what the classifier hears.",
    "Signing moved to the build server in June. The laptop key is revoked; whoever needs a test "
    "build asks Tomas for a slot, which takes a day.",
    "Two of the four presses in Turin were recalibrated. Parts from before week 22 have a lip that "
    "is 0.2 mm high and must be deburred by hand.",
    "The stand at the fair was lit from above, which made the steam invisible. Next year: a dark "
    "back wall and one lamp from the side.",
    "Opt-in wording was tested with 30 people. With the word telemetry a third agreed; with error "
    "reports it was two thirds, and nobody felt misled.",
    "Flash the board with the jumper on J3 and the battery out. With the battery in, the "
    "bootloader believes that it wakes from sleep and skips the handshake.",
    "A rollback needs the previous manifest and its signature. They lie in the bucket for 180 "
    "days; after that only a full image helps.",
    "The calibration weight is 200 g of class M1. Older sheets say 250, which was the weight that "
    "fell in 2024 and is off by nearly a gram.",
    "Elena counts a complaint when the customer writes twice. The dashboard counts threads, so its "
    "number is about a third lower, and both are right.",
    "Rust under the base came from the test brine, not from customers. Since we rinse the rig, no "
    "kettle has shown it in eleven weeks.",
    "The app asks for location because Android ties scanning to it. We explain it on the screen "
    "before, and since then refusals went from 40 to 12 percent.",
    "Matcha drinkers set 78 degrees and stop the kettle early anyway. A preset for them would save "
    "two taps, which Yuki tested with her tea circle in Uji.",
    "Firmware 26.05 grew by 9 kB through the new font. Subsetting it to Latin and kana brings back "
    "seven, at the cost of a build step.",
]
SERVERS = [
    f"Host {name} listens on port {port} for {what}; certificate until {until}."
    for name, port, what, until in (
        ("vega", 8443, "orders", "2027-01"),
        ("altair", 9443, "invoices", "2026-11"),
        ("deneb", 7443, "telemetry", "2027-03"),
        ("mizar", 6443, "updates", "2026-09"),
        ("alcor", 5443, "printing", "2027-06"),
        ("rigel", 4443, "backups", "2026-12"),
        ("spica", 3443, "payroll", "2027-02"),
        ("procyon", 2443, "mail", "2027-08"),
        ("capella", 1443, "chat", "2026-10"),
        ("pollux", 8843, "maps", "2027-04"),
    )
]

EMPTY_VALUES = (
    "",
    "TBD",
    "n/a",
    "TODO",
    "...",
    "[to be filled]",
    "-",
    "None",
    "<cause>",
    "unknown",
)
FILLER = [
    "This note captures important information about the topic that was discussed.",
    "There are several things to keep in mind here. More details will be added later.",
    "A summary of the session. Various points were covered and next steps were noted.",
    "Key takeaways: it is important to follow best practices and to keep things simple.",
    "This is a general overview of the relevant details. See above for more information.",
    "The work was completed successfully. Everything was done as expected.",
    "Important note. This should be remembered for future reference.",
    "Some updates were made. The changes improve the overall quality of the work.",
    "This document describes the process. Please refer to the process for more details.",
    "We discussed the issue and found a solution. The solution works well.",
    "Here is some useful information that may be helpful in the future.",
    "The task is in progress. Further steps will follow as needed.",
    "This memory contains information about the topic and its context.",
    "The session covered various topics and was productive overall.",
    "As discussed, the relevant things were noted and will be handled later.",
]


def labelled() -> list[Labelled]:
    notes: list[Labelled] = []
    for number, (what, cause, fix) in enumerate(INCIDENTS):
        body = INCIDENT.format(what=what, cause=cause, fix=fix, follow="None" if number % 2 else "")
        notes.append(Labelled(f"incident-{number}", body, False))
    for number, (what, cause, fix) in enumerate(DECISIONS):
        body = DECISION.format(what=what, cause=cause, fix=fix, follow="TBD")
        notes.append(Labelled(f"decision-{number}", body, False))
    for kind, texts in (("short", SHORT), ("prose", PROSE), ("server", SERVERS)):
        notes += [Labelled(f"{kind}-{n}", f"{text}\n", False) for n, text in enumerate(texts)]
    for number in range(20):
        template = INCIDENT if number < 12 else DECISION
        empty = [EMPTY_VALUES[(number + field) % len(EMPTY_VALUES)] for field in range(4)]
        body = template.format(what=empty[0], cause=empty[1], fix=empty[2], follow=empty[3])
        notes.append(Labelled(f"skeleton-{number}", body, True, "2026-06-01T09:00:00Z"))
    for number, text in enumerate(FILLER):
        heading = "# Summary\n" if number % 3 == 0 else ""
        notes.append(
            Labelled(f"filler-{number}", f"{heading}{text}\n", True, "2026-06-02T09:00:00Z")
        )
    for number in range(15):  # the same fact once more, with a word moved
        text = PROSE[number]
        copied = f"Note: {text}" if number % 2 else f"{text} This was noted again."
        notes.append(Labelled(f"copy-{number}", f"{copied}\n", True, "2026-06-03T09:00:00Z"))
    return notes
