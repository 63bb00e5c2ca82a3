import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isCollection, parseDocument, type Document } from 'yaml'
import { template } from '../cli/init.ts'
import { applyEdits, NotEditable, type Path } from './edit-text.ts'
import { readYaml, writtenOf } from './yaml.ts'

const TAB = '\t'

/** As people write them: each has other habits. */
const HAND_WRITTEN = {
  block: `# The orchard, by the stream.
site:   { latitude: 47.5,longitude:   8.7 }   # not exactly

cameras:
  orchard:
    url: !file orchard.url   # a secret
    # zones as drawn
    zones:
      rows: [[0, 0.4], [1, 0.4], [1, 1]] # between the trees


      "the gate": [[0, 0], [1, 0], [1, 1]]
    masks:   # these move in the wind
      - [[0.8, 0], [1, 0], [1, 0.3]]   # the flag
      # and this one ticks
      - [[0, 0], [0.1, 0], [0.1, 0.1]] # the clock
  gate: { url: "rtsp://viewer:\${GATE_PASSWORD}@198.18.0.30/stream2" } # by the road

rules:
  # Water first.
  - name: Boar   # they come in October
    labels: [boar,   'deer'] # not foxes
    fire:
      - valve # the big one
      - "horn"
    seconds: 12

  # then noise
  -   name: Fox
      labels:
      - fox
      # a dog - or two
      - dog
      fire: [horn]
      enabled: no way
# the end
`,
  compact: `---
deterrents: {valve: {driver: shelly, address: 198.18.0.9, seconds: 8}, horn: {driver: tasmota,
    address: 198.18.0.10,  # behind the shed
    seconds: 3,
  }}
rules: [
  {name: a, labels: [x, y], fire: [valve]}, # one
  {name: b, labels: [z], fire: [horn],},
  # last
]
empty:
also: # nothing yet
nothing: ~
list:
-
- # nothing
- 1
tail: [ ]`,
  deep: `
top:
    four:
        five: |
          a text
            of lines
        six: >-
          folded
          text

        # before seven
        seven: "double \\"quoted\\" text"
        eight: 'it''s'
    nine:
    - - 1
      - 2   # two
    - - 3
    ten:
      -
        a: 1
        b: 2
      - a: 3 # three

        b: 4
        # the last of ten
    eleven: plain text, of
      two lines
# 2nd
next: {}
`,
  aliases: `zones: &all   # everywhere
  rows: [[0, 0], [1, 0], [1, 1]]
cameras:
  a: { url: "http://198.18.0.1/", zones: *all }
  b:
    zones: *all # too
    url: &u "http://198.18.0.2/"
  c: { url: *u }
list: [&one 1, &two 2, 3, *one]
`,
  one: 'rules:\n- name: only # this\n',
  comments: '# nothing yet\n---\n# really\n',
  'comments alone': '# nothing yet\n\n#site: { latitude: 1, longitude: 2 }\n  # really',
  nothing: '',
  init: template(),
}
const files = {
  ...HAND_WRITTEN,
  tabs: HAND_WRITTEN.block.replaceAll(' # ', ` #${TAB}`).replaceAll(/ +$/gm, TAB),
  windows: HAND_WRITTEN.block.replaceAll('\n', '\r\n'),
  'windows, deep': HAND_WRITTEN.deep.replaceAll('\n', '\r\n'),
  'without a last line end': HAND_WRITTEN.deep.trimEnd(),
}

const written = (text: string) => writtenOf(readYaml(text).yaml!.document)

const newValue = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constantFrom('plain', '# no comment', '{', 'a: b', '', '- x', '${NAME}', '!file some.txt', '*one', 'x\ny', 'null'),
  fc.array(fc.constantFrom('boar', 'deer', 1), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b c', '7', 'true', 'no'), fc.oneof(fc.integer(), fc.constant(['x', 'y'])), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  fc.array(fc.record({ name: fc.constantFrom('n', 'm'), labels: fc.constant(['x']) }, { noNullPrototype: true }), {
    maxLength: 2,
  }),
)

test.each(Object.keys(files))(
  'in the file %j an edit changes its value, and every other line keeps its bytes',
  (name) => {
    const text = files[name as keyof typeof files]
    const before = written(text)
    const paths = pathsOf(before ?? {}).filter((path) => path.length > 0)
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.option(newValue, { nil: undefined }), (path, value) => {
        const edited = editedOrRefused(text, path, value)
        // Only an alias or its anchor may be a reason to refuse.
        if (edited === undefined) return text.includes('*')
        expect(written(edited) ?? {}).toEqual(withValue(before, path, value) ?? {})
        const { above, below } = linesAround(text, path, isLonger(valueAt(before, path), value))
        expect(edited.slice(0, above.length)).toBe(above)
        expect(edited.slice(edited.length - below.length)).toBe(below)
        const lines = new Set(edited.split('\n'))
        const lost = text.split('\n').filter((line) => !lines.has(line) && line !== '')
        const isNew = valueAt(before, path) === undefined
        expect(lost.length).toBeLessThanOrEqual(isNew ? 1 : Infinity)
        expect(edited.replaceAll('\r\n', '')).not.toMatch(text.includes('\r\n') ? /[\r\n]/ : /\r/)
        return true
      }),
      { numRuns: 100 },
    )
  },
)

test('what a changed rule has in common with the one before stays as it is written; a new one stands below', () => {
  const { block } = HAND_WRITTEN
  const boar = { name: 'Boar', labels: ['boar', 'fox'], fire: ['valve', 'horn'], seconds: 20, hours: '22:00-06:00' }
  const changed = applyEdits(block, [{ path: ['rules', 0], value: boar }])
  expect(changed).toBe(
    block
      .replace("[boar,   'deer'] # not", '[boar, fox] # not')
      .replace('seconds: 12\n', 'seconds: 20\n    hours: "22:00-06:00"\n'),
  )
  const added = applyEdits(block, [{ path: ['rules', 2], value: { name: 'Deer', labels: ['deer'], fire: ['horn'] } }])
  expect(added).toBe(block.replace('no way\n', 'no way\n  - name: Deer\n    labels: [deer]\n    fire: [horn]\n'))
  expect(applyEdits(added, [{ path: ['rules', 2] }])).toBe(block)
  expect(applyEdits(block, [{ path: ['rules', 0] }])).toBe(block.replace(/ {2}- name: Boar[^]*seconds: 12\n/, ''))
})

test('a new key comes after the comments of the last one, so what these switch off still belongs to it', () => {
  const edited = applyEdits(template(), [{ path: ['site'], value: { latitude: 1, longitude: 2 } }])
  const on = edited.replaceAll(/^#(?= {2}frigate: .*:5000|applications:| {2}router)/gm, '')
  expect(written(on)).toEqual({
    site: { latitude: 1, longitude: 2 },
    sources: { api: { loopbackNeedsToken: false }, frigate: { url: 'http://127.0.0.1:5000' } },
    applications: { router: { url: 'http://192.168.1.1' } },
  })
  const added = applyEdits('a:\n  b: 1\n  # of a\n\n# of both\n#  c: 2\n# d\n#e:\n#  f: 3\n', [
    { path: ['g'], value: 4 },
  ])
  expect(added).toBe('a:\n  b: 1\n  # of a\n\n# of both\n#  c: 2\ng: 4\n# d\n#e:\n#  f: 3\n')
})

test('a file of comments alone gets its first key at the end', () => {
  expect(applyEdits('# nothing\n#site: {}', [{ path: ['a', 'b'], value: 1 }])).toBe(
    '# nothing\n#site: {}\na:\n  b: 1\n',
  )
})

test('a part with an alias is refused with its path', () => {
  const edit = () => applyEdits(HAND_WRITTEN.aliases, [{ path: ['cameras', 'b', 'zones', 'rows'], value: [] }])
  expect(edit).toThrow(NotEditable)
  expect(edit).toThrow(/^cameras\.b\.zones\.rows cannot be changed here.*Change it as text, under Configuration\.$/)
})

/** Undefined when the edit is refused. */
function editedOrRefused(text: string, path: Path, value: unknown): string | undefined {
  try {
    return applyEdits(text, [{ path, value }])
  } catch (error) {
    if (error instanceof NotEditable) return undefined
    throw error
  }
}

/** The text above and below what an edit may touch: the key with its value, or the group that it comes into. */
function linesAround(text: string, path: Path, hasNewEntry = false): { above: string; below: string } {
  const document = parseDocument(text, { customTags: [{ tag: '!file', resolve: (each: string) => each }] })
  let at = path
  while (at.length > 0 && (!document.hasIn(at) || isOnly(document, at))) at = at.slice(0, -1)
  const node = document.getIn(at, true) as { range?: [number, number, number] } | undefined
  if (at.length === 0 || !node?.range) return { above: '', below: '' }
  const holder = document.getIn(at.slice(0, -1), true) as { items?: { key?: { value: unknown; range: [number] } }[] }
  const key = holder.items?.find((pair) => String(pair.key?.value) === String(at.at(-1)))?.key
  const [first] = (key?.range ?? node.range) as [number]
  const start = text.slice(0, first).search(/(?:^|(?<=\n))[^\n]*$|-[ \r]*\n *$/)
  const [last] = /(?:\n[ \t\r]*(?:#[^\n]*)?)*$/.exec(text.slice(0, node.range[1]))!
  // A new entry comes after the comments of the last one.
  const from = document.hasIn(path) && !hasNewEntry ? node.range[1] - last.length : node.range[1] - 1
  const end = text.indexOf('\n', Math.max(from, start))
  return { above: text.slice(0, start), below: end < 0 ? '' : text.slice(end + 1) }
}

/** Whether a list or a group gets an entry that it has not. */
function isLonger(before: unknown, value: unknown): boolean {
  if (typeof before !== 'object' || typeof value !== 'object' || before === null || value === null) return false
  return Object.keys(value).some((key) => !Object.hasOwn(before, key))
}

/** Its deletion leaves an empty group behind the key of the group. */
function isOnly(document: Document, path: Path): boolean {
  const holder = document.getIn(path.slice(0, -1), true)
  return isCollection(holder) && holder.items.length === 1
}

/** All values, and a place for a new one in each group and list. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value))
    return [path, ...value.flatMap((each, index) => pathsOf(each, [...path, index])), [...path, value.length]]
  if (typeof value !== 'object' || value === null) return [path]
  const own = Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))
  return [path, ...own, [...path, 'new'], [...path, 'new', 'deep er']]
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value)
}

function withValue(values: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const copy: Record<string, unknown> = structuredClone((values ?? {}) as Record<string, unknown>)
  if (value === undefined && valueAt(values, [key, ...rest]) === undefined) return values
  const inner = withValue(copy[key], rest, value)
  if (inner !== undefined) copy[key] = inner
  else if (Array.isArray(copy)) copy.splice(Number(key), 1)
  else delete copy[key]
  return copy
}
