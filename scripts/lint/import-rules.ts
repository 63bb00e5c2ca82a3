/**
 * Which folders may import which, as in docs/architecture.md. Pure: takes one import and returns the sentence that
 * refuses it.
 */
export type ImportEdge = {
  /** The importing file, from the root of the repository. */
  importer: string
  /** A path from the root of the repository, or a package name. */
  target: string
  reexport: boolean
}

type Rule = (edge: ImportEdge) => string | undefined

const isPath = (target: string) => /^(apps|packages|test|bench|scripts|\.\.)\//.test(target)
/** A test, or a test helper in the `testing/` folder of an app. */
const isTest = (file: string) => /\.test\.tsx?$|^apps\/[^/]+\/testing\//.test(file)

/** The package or app that a repository path or a package name belongs to. */
function ownerOf(path: string): string | undefined {
  return /^(?:apps|packages)\/([^/]+)/.exec(path)?.[1] ?? /^@hedgerow\/([^/]+)/.exec(path)?.[1]
}

/** The packages of this repository that each package or app may import, besides itself. */
const allowedOwners: Record<string, readonly string[]> = {
  contract: [],
  client: ['contract'],
  wireguard: [],
  netstack: [],
  enrolment: ['wireguard'],
  releases: [],
  http: [],
  vision: [],
  'second-look': ['contract'],
  ui: [],
  portal: ['contract', 'ui'],
  public: ['contract', 'ui'],
  'gateway-ui': ['contract', 'ui'],
  hub: ['contract', 'second-look', 'enrolment', 'http', 'releases', 'wireguard', 'netstack'],
  gateway: ['contract', 'second-look', 'enrolment', 'http', 'releases', 'vision', 'wireguard', 'netstack'],
}
const APPS = ['hub', 'portal', 'public', 'gateway', 'gateway-ui']

const packageDirection: Rule = ({ importer, target }) => {
  const from = ownerOf(importer)
  const to = ownerOf(target)
  if (!from || !to || from === to) return undefined
  const allowed = allowedOwners[from]
  if (!allowed || allowed.includes(to)) return undefined
  if (APPS.includes(from) && APPS.includes(to)) return `apps never import each other: ${from} imports ${to}`
  return `${from} may not import ${to}`
}

const entryPointsOnly: Rule = ({ importer, target }) => {
  const to = ownerOf(target)
  if (!to || ownerOf(importer) === to || /^(test|bench|scripts)\//.test(importer)) return undefined
  if (isPath(target)) return `import @hedgerow/${to} by its name, not by a path into it`
  return undefined
}

const pureCore: Rule = ({ importer, target }) => {
  if (!/^packages\/(wireguard|netstack|vision)\/src\//.test(importer) || isTest(importer)) return undefined
  if (/^packages\/[^/]+\/src\/(node|simulator)\//.test(importer)) return undefined
  if (target.startsWith('node:')) return 'the core of a pure package imports no node:*; only its node/ folder does'
  if (/^packages\/[^/]+\/src\/node\//.test(target))
    return 'the core of a protocol package does not import its node/ folder'
  return undefined
}

const nobleOnly: Rule = ({ importer, target }) => {
  if (!/^packages\/(wireguard|netstack)\/src\//.test(importer) || isTest(importer)) return undefined
  if (isPath(target) || target.startsWith('node:') || ownerOf(target) || target.startsWith('@noble/')) return undefined
  return `a protocol package depends on noble alone, not on ${target}`
}

const visionAlone: Rule = ({ importer, target }) =>
  importer.startsWith('packages/vision/src/') && !isTest(importer) && !isPath(target) && !target.startsWith('node:')
    ? `vision depends on nothing, not on ${target}`
    : undefined

const zodOnly: Rule = ({ importer, target }) => {
  if (!importer.startsWith('packages/contract/src/') || isTest(importer)) return undefined
  if (target === 'zod' || target.startsWith('packages/contract/')) return undefined
  return `contract imports zod only, not ${target}`
}

const browserOnly: Rule = ({ importer, target }) =>
  /^(apps\/(portal|public|gateway-ui)|packages\/ui)\/src\//.test(importer) &&
  !isTest(importer) &&
  target.startsWith('node:')
    ? 'the portal, the site, gateway-ui and ui run in a browser: no node:* there'
    : undefined

const featureAlone: Rule = ({ importer, target }) => {
  const from = /^apps\/portal\/src\/features\/([^/]+)\//.exec(importer)?.[1]
  if (!from) return undefined
  const to = /^apps\/portal\/src\/features\/([^/]+)/.exec(target)?.[1]
  if (to && to !== from) return `feature ${from} may not import feature ${to}`
  if (target.startsWith('apps/portal/src/') && !to) return 'a feature imports ./, #api/*, #parts/* and packages'
  return undefined
}

const portalGroundBelow: Rule = ({ importer, target }) => {
  const from = /^apps\/portal\/src\/(api|parts)\//.exec(importer)?.[1]
  if (!from) return undefined
  if (target.startsWith('apps/portal/src/features/')) return `${from}/ may not import a feature`
  return from === 'api' && target.startsWith('#parts/') ? 'api/ has no components: it may not import parts/' : undefined
}

const siteApart: Rule = ({ importer, target }) =>
  importer.startsWith('apps/public/src/') && target.startsWith('@mantine/')
    ? 'the public site does not load the portal kit'
    : undefined

/** The hub's common modules; every file of them may be imported. */
const HUB_GROUND = ['kernel', 'access', 'database', 'facts', 'http']

/** What opens a room of the hub. */
const MODULE = /^apps\/hub\/src\/[^/]+\/module\.ts$/

const hubMainFiles: Rule = ({ importer, target }) => {
  const from = /^apps\/hub\/src\/([^/]+)\//.exec(importer)?.[1]
  const to = /^apps\/hub\/src\/([^/]+)\/(.+)$/.exec(target)
  if (!from || !to || from === to[1] || HUB_GROUND.includes(to[1]!) || isTest(importer)) return undefined
  if (MODULE.test(importer)) return undefined
  return to[2] === `${to[1]}.ts` ? undefined : `${from} may import ${to[1]}/${to[1]}.ts, not ${to[1]}/${to[2]}`
}

/** What the ground imports, the whole hub needs; so it imports only other ground and the hub's settings. */
const hubGroundBelow: Rule = ({ importer, target }) => {
  const from = /^apps\/hub\/src\/([^/]+)\//.exec(importer)?.[1]
  const to = /^apps\/hub\/src\/([^/]+)\//.exec(target)?.[1]
  if (!from || !to || !HUB_GROUND.includes(from) || HUB_GROUND.includes(to) || isTest(importer)) return undefined
  return `${from}/ is below the other modules of the hub: it may not import ${to}/`
}

const compositionRoot: Rule = ({ importer, target }) =>
  /^apps\/hub\/src\/(hub|open-rooms)\.ts$/.test(target) &&
  importer.startsWith('apps/hub/src/') &&
  !/^apps\/hub\/src\/(hub|program)\.ts$/.test(importer) &&
  !isTest(importer)
    ? 'only program.ts builds the hub; a module gets what it needs as an argument'
    : undefined

const roomsOpenOnce: Rule = ({ importer, target }) =>
  MODULE.test(target) && importer !== 'apps/hub/src/hub.ts' && !MODULE.test(importer) && !isTest(importer)
    ? 'only hub.ts opens a room; only the module.ts of another room names what it gives'
    : undefined

const plainRequestsAlone: Rule = ({ importer, target }) =>
  /^packages\/http\/src\/plain\/(?!connection\.ts)/.test(target) &&
  !importer.startsWith('packages/http/src/plain/') &&
  !importer.startsWith('test/fuzz/')
    ? 'the reader of plain requests has one entrance, plain/connection.ts'
    : undefined

const noBarrels: Rule = ({ importer, target, reexport }) =>
  reexport && !/^packages\/[^/]+\/src\/((node|rendered)\/)?index\.ts$/.test(importer)
    ? `no barrels but a package's index.ts: import ${target} where it is used`
    : undefined

const testsStayOut: Rule = ({ importer, target }) =>
  /^(apps|packages)\//.test(importer) &&
  !isTest(importer) &&
  /^(test\/|bench\/|scripts\/|apps\/[^/]+\/testing\/|#testing\/)/.test(target)
    ? 'product code does not import tests, benches or scripts'
    : undefined

const rules: readonly Rule[] = [
  packageDirection,
  entryPointsOnly,
  pureCore,
  nobleOnly,
  visionAlone,
  zodOnly,
  browserOnly,
  featureAlone,
  portalGroundBelow,
  siteApart,
  compositionRoot,
  roomsOpenOnce,
  hubGroundBelow,
  hubMainFiles,
  plainRequestsAlone,
  noBarrels,
  testsStayOut,
]

/** The first rule that the import breaks, as a sentence; undefined when it breaks none. */
export function findBreach(edge: ImportEdge): string | undefined {
  for (const rule of rules) {
    const message = rule(edge)
    if (message) return message
  }
  return undefined
}
