"""Word lists that tell references and identifiers from prose of the same shape."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDERS = _words("""
    agent app apps archive assets bin blog build calendar chapter chapters cmd config content
    data demo desk dir dist doc docs documentation draft drafts etc examples file files
    folder guide guides home images img inbox include journal lib libs media misc notes page
    pages path personal post posts procedural projects public reference resources script scripts
    section semantic spec specs src standards static sub tasks test tests tmp usr var vendor
    wiki
""")
"""First halves of `a/b` that are folders of a tree far more often than accounts."""


PAIR_WORDS = _words("""
    after am and before black client close down either false gb he her him his http https in
    input kb kg km left mb minus neither new no not off old on open or out output per plus pm
    pros read right server she start stop tcp they true udp up white with without write yes
""")
"""First halves of `a/b` that are one word of a pair: `and/or`, `client/server`."""


PAGE_ENDS = _words("""
    adoc csv doc docx htm html jpeg jpg json markdown md mdx org pdf png rst svg
    toml txt xml yaml yml
""")
"""Endings of second halves of `a/b` that make it a file."""


SITE_PAGES = _words("""
    about accelerator account advisories apps articles assets blog business careers changelog
    codesearch codespaces collections contact copilot customer-stories dashboard discussions edu
    education enterprise enterprises events explore features gist gists git-guides
    github-copilot home images integrations invitations issues join join-github legal login
    logos logout marketplace mention mine mobile models new new-organization newsroom nonprofit
    notifications oauth open-source organizations orgs partners password_reset personal plans
    premium-support pricing privacy pulls raw readme recovery repos repositories resources
    search search-advanced security sessions settings showcases signin signup site sitemap.xml
    solutions sponsors stars startups status support team teams terms topics trending user
    user-attachments users watching why-github
""")
"""First path segments of github.com that are pages of the site, not accounts."""


CONNECTING = _words("""
    about add added address addresses after against and as at because before besides between
    blocked blocking blocks broke but by cf closing depends duplicate duplicates during except
    filed fixing following for from in into introduced land landed landing like merge merged
    merges merging of on open opened or out over per post re ref reference references refs
    related reopen reopened reopens report reported revert reverted reverts ship shipped since
    so supersedes than then this through to towards track tracked tracking tracks under unlike
    until via vs when where which while with without
""")
"""Words after which a number of the note's own repository may stand without a cue. After any
other word it counts something else: "we are #1", "PKCS #11", "log #56"."""


NOT_LOGINS = _words("""
    all apply author autowired bean brief category channel charset class classmethod component
    const constant constructor container controller copyright dataclass decorator default
    deprecated description doc edge entity everyone example exception export extends file
    fixture font-face function generated global head here hookimpl ignore import inheritdoc
    inject interface internal keyframes latest layer license link main master media memberof
    method module name namespace next nightly nonnull note nullable overload override package
    page param private property protected public readonly return returns room safevarargs scope
    see service since stable starting-style static staticmethod supports suppresswarnings
    tailwind team template test throws todo ts-expect-error ts-ignore ts-nocheck type typedef
    types version
""")
"""What stands after an `@` without being a person: CSS at-rules, doc comments and annotations,
"everybody", versions."""


PACKAGE_SCOPES = _words("""
    angular ant-design apollo astrojs aws-cdk aws-sdk azure babel biomejs capacitor chakra-ui
    changesets cloudflare codemirror commitlint contentful datadog electron emotion esbuild
    eslint expo fastify firebase floating-ui fontsource fortawesome google-cloud graphql-codegen
    grpc hapi headlessui heroicons hono hookform ionic jest jsr koa lerna lit mantine mapbox
    mdx-js modelcontextprotocol mui nestjs next ngrx node-red nuxt nuxtjs nx octokit
    opentelemetry parcel parcel-watcher playwright popperjs preact prisma radix-ui react-native
    react-navigation reduxjs remix-run rollup scope semantic-release sentry shopify sindresorhus
    storybook stripe supabase sveltejs swc tailwindcss tanstack tauri-apps testing-library trpc
    tsconfig turf types typescript-eslint vercel vite vitejs vitest vue vueuse webassemblyjs
    xstate
""")
"""Scopes of the npm registry, under which `@scope/name` is a package and not a team."""


DOMAIN_ENDS = _words("""
    ai app at au be biz br ca ch cn co com cz de dev dk edu es eu example fi fr gov ie in info int
    io it jp kr local mil net nl no nz org page pl pt ru se tech tv uk us xyz
""")
"""Last parts of a dotted name in prose that make it a domain."""


FILE_ENDS = _words("""
    bash bin c cc cfg conf cpp css csv db gz h hpp html ini ipynb java jpg js json jsx lock log lua
    mjs pdf png py rb rs rst scss sh sql svg swift tar toml ts tsx txt xml yaml yml zip
""")
"""Last parts of a file name: no name by themselves."""


FUNCTION_WORDS = _words("""
    a an and as at be by for from if in is it no not of off on or out that the this to up with
""")
"""Parts of an identifier by which nobody asks for it."""


NOT_CAMEL = _words("arxiv biorxiv ipados macos medrxiv opensuse tvos visionos watchos webos")
"""Words of prose that begin like camelCase."""


CODE_NOUNS = _words("""
    class classes component decorator enum error event exception field function hook interface
    method module object property protocol struct subclass trait type variable
""")
"""Words beside which a capitalised two-part word is an identifier and not a brand."""
