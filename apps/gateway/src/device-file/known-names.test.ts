import { describe, expect, test } from 'vitest'
import { checkNames, type KnownNames } from './known-names.ts'
import { withoutPath } from './editor.ts'
import { nearest } from '../kernel/nearest.ts'
import { parseDeviceFile } from './parse.ts'

const VALVE = '{ driver: http, "on": { url: "http://127.0.0.1/1" }, "off": { url: "http://127.0.0.1/0" }'
const NOTHING: KnownNames = { frigate: undefined, programs: [], models: new Map() }

function told(text: string, known: Partial<KnownNames> = {}): string[] {
  const parsed = parseDeviceFile(text, { folder: '/', environment: {} })
  if (parsed.errors) throw new Error(parsed.errors[0]!.message)
  const { errors, warnings } = checkNames(parsed.value, parsed.names, { ...NOTHING, ...known })
  return [
    ...errors.map(({ line, message }) => `line ${line}: ${message}`),
    ...warnings.map(({ line, message }) => `warning: line ${line}: ${message}`),
  ]
}

const EYE = `
cameras:
  gate: { url: "http://127.0.0.1/x", zones: { rows: [[0, 0], [1, 0], [1, 1]] } }
  shed: { url: "http://127.0.0.1/y" }
sources: { eye: { cameras: [gate], model: demonstration } }
deterrents: { horn: ${VALVE}, watchedBy: [WATCH] } }
rules: [{ name: A, labels: [LABEL], cameras: [CAMERA], zones: [ZONE], fire: [horn] }]
`
const eye = (changes: Partial<Record<'WATCH' | 'LABEL' | 'CAMERA' | 'ZONE', string>> = {}) =>
  Object.entries({ WATCH: 'gate', LABEL: 'boar', CAMERA: 'gate', ZONE: 'rows', ...changes }).reduce(
    (text, [mark, name]) => text.replace(mark, name),
    EYE,
  )

describe('with an eye alone, everything is known', () => {
  test('a name that exists is fine, a label in any case too', () => {
    expect(told(eye())).toEqual([])
    expect(told(eye({ LABEL: 'BOAR' }))).toEqual([])
  })

  test.each([
    [{ WATCH: 'Gate' }, 'line 6: deterrents.horn.watchedBy.0: There is no camera Gate; the nearest is gate.'],
    [{ WATCH: 'gaet' }, 'line 6: deterrents.horn.watchedBy.0: There is no camera gaet; the nearest is gate.'],
    [{ WATCH: 'elsewhere' }, 'line 6: deterrents.horn.watchedBy.0: There is no camera elsewhere; there is gate.'],
    [
      { WATCH: 'shed' },
      'line 6: deterrents.horn.watchedBy.0: The eye does not look at shed: add it to sources.eye.cameras.',
    ],
    [{ CAMERA: 'GATE' }, 'line 7: rules.0.cameras.0: There is no camera GATE; the nearest is gate.'],
    [{ ZONE: 'Rows' }, 'line 7: rules.0.zones.0: There is no zone Rows; the nearest is rows.'],
    [{ LABEL: 'baor' }, 'line 7: rules.0.labels.0: There is no label baor; the nearest is boar.'],
    [{ LABEL: 'wolf' }, 'line 7: rules.0.labels.0: There is no label wolf; there is boar, cat, deer, fox, person.'],
  ])('%j is told with its line and the nearest name', (changes, words) => {
    expect(told(eye(changes))).toContain(words)
  })

  test('a learned name is a label once it passed; before, the error says what is missing', () => {
    const text = eye().replace('demonstration', 'nano')
    const models = new Map([['nano', ['horse', 'person']]])
    expect(told(text, { models })[0]).toContain('There is no label boar')
    const reason = '8 more corrections are needed.'
    expect(told(text, { models, learned: [{ name: 'boar', reason }] })).toEqual([
      'line 7: rules.0.labels.0: boar is a name that this gateway learns. 8 more corrections are needed.',
    ])
    expect(told(text, { models, learned: [{ name: 'boar', reason: undefined }] })).toEqual([])
  })

  test('a model gives the labels, must be there, and must know persons to watch', () => {
    const text = eye().replace('model: demonstration }', 'model: nano, labels: [boar, foks] }')
    const models = new Map([['nano', ['boar', 'fox']]])
    expect(told(text, { models })).toEqual([
      'line 5: sources.eye.labels.1: There is no label foks; the nearest is fox.',
      'line 6: deterrents.horn.watchedBy.0: Nothing looks for persons on gate.',
    ])
    expect(told(text, { models: new Map([['nano', ['boar', 'foks', 'person']]]) })).toEqual([])
    expect(told(text.replace('model: nano', 'model: nana'), { models })[0]).toBe(
      'line 5: sources.eye.model: There is no model nana; the nearest is nano. Add it with: hedgerow-gateway model add',
    )
  })

  test('second look and learning name labels, models and cameras', () => {
    const more =
      'secondLook: { labels: [boer], model: big }\nlearning: { alsoLearn: { Gate: [person], gate: [persn] } }\n'
    expect(told(eye() + more)).toEqual([
      'line 8: secondLook.labels.0: There is no label boer; the nearest is boar.',
      'line 8: secondLook.model: There is no model big. Add it with: hedgerow-gateway model add',
      'line 9: learning.alsoLearn.Gate: There is no camera Gate; the nearest is gate.',
      'line 9: learning.alsoLearn.gate.0: There is no label persn; the nearest is person.',
    ])
  })
})

describe('with Frigate', () => {
  const frigate = new Map([
    ['gate_cam', { zones: ['front_yard'], labels: ['person', 'dog'], seesPersons: true }],
    ['barn', { zones: [], labels: ['dog'], seesPersons: false }],
  ])
  const text = (watch: string, rule: string, cameras = '') => `
sources: { frigate: { url: "http://127.0.0.1:5000"${cameras} } }
deterrents: { horn: ${VALVE}, watchedBy: [${watch}] } }
rules: [{ name: A, labels: [dog], fire: [horn], ${rule} }]
`
  test('its cameras, zones and objects are known by its configuration', () => {
    expect(told(text('gate_cam', 'cameras: [gate_cam], zones: [front_yard]'), { frigate })).toEqual([])
    expect(told(text('Gate Cam', 'zones: [yard]'), { frigate })).toEqual([
      'line 3: deterrents.horn.watchedBy.0: There is no camera Gate Cam; the nearest is gate_cam.',
      'line 4: rules.0.zones.0: There is no zone yard; there is front_yard.',
    ])
    expect(told(text('barn', 'cameras: [barn]'), { frigate })).toEqual([
      'line 3: deterrents.horn.watchedBy.0: Nothing looks for persons on barn.',
    ])
    expect(told(text('gate_cam', 'cameras: [gate_cam]', ', cameras: [barm]'), { frigate })[0]).toBe(
      'line 2: sources.frigate.cameras.0: There is no camera barm; the nearest is barn.',
    )
  })

  test('a camera that the file leaves out still watches', () => {
    expect(told(text('gate_cam', 'cameras: [barn]', ', cameras: [barn]'), { frigate })).toEqual([])
    expect(told(text('barn', 'cameras: [gate_cam]', ', cameras: [barn]'), { frigate })).toEqual([
      'line 3: deterrents.horn.watchedBy.0: Nothing looks for persons on barn.',
      'line 4: rules.0.cameras.0: There is no camera gate_cam; there is barn.',
    ])
  })

  test('while it does not answer, its names are not checked, and that is said', () => {
    expect(told(text('gate', 'cameras: [gate]'))).toEqual([
      'warning: line 3: deterrents.horn.watchedBy.0: Frigate has not said whether it has the camera gate.',
      'warning: line 4: rules.0.cameras.0: Frigate has not said whether it has the camera gate.',
    ])
  })

  test('while it does not answer, the nearest of all known names is told', () => {
    const more = 'cameras: { gate: {}, shed: { url: "http://127.0.0.1/x" } }\n'
    const rule = 'cameras: [Yrad], zones: [Front-Yard]'
    const seen = { cameras: ['yard'], labels: ['dog', 'roe deer'], zones: ['front_yard'] }
    const down = more + text('gaet', rule, ', cameras: [Gate, baarn]').replace('labels: [dog]', 'labels: [ro-deer]')
    const frigateHasNot = 'Frigate has not said whether it has the camera'
    expect(told(down, { seen })).toEqual(
      [
        `warning: line 3: sources.frigate.cameras.0: ${frigateHasNot} Gate; the nearest is gate.`,
        `warning: line 3: sources.frigate.cameras.1: ${frigateHasNot} baarn.`,
        'warning: line 4: deterrents.horn: Nothing looks at shed, so programs and people in the hub cannot fire ' +
          'horn. `watchedBy` names the cameras that matter.',
        `warning: line 4: deterrents.horn.watchedBy.0: ${frigateHasNot} gaet; the nearest is gate.`,
        'warning: line 5: rules.0.labels.0: No source has reported the label ro-deer yet; the nearest is roe deer.',
        `warning: line 5: rules.0.cameras.0: ${frigateHasNot} Yrad; the nearest is yard.`,
        'warning: line 5: rules.0.zones.0: No source has reported the zone Front-Yard yet; the nearest is front_yard.',
      ].filter((line) => !line.includes('Nothing looks at')),
    )
  })

  test('a camera that is only listed is told when no source has it', () => {
    const listed = `cameras: { Barn: {} }\n${text('Barn', 'cameras: [gate_cam]')}`
    expect(told(listed, { frigate })).toEqual([
      'line 4: deterrents.horn.watchedBy.0: There is no camera Barn; the nearest is barn.',
      'warning: line 1: cameras.Barn: No source has this camera; the nearest is barn.',
    ])
  })
})

describe('with programs', () => {
  const text = (cameras: string) => `
sources: { api: { loopbackNeedsToken: false } }
cameras: { ${cameras} }
deterrents: { horn: ${VALVE}, watchedBy: [yard] } }
rules: [{ name: A, labels: [boar], cameras: [yard], zones: [anything], fire: [horn] }]
`
  test('a camera is known once a program has reported it, or is listed', () => {
    expect(told(text(''), { programs: ['yard'] })).toEqual([])
    expect(told(text(''), { programs: ['Yard'] })).toContainEqual(
      expect.stringContaining(
        'line 4: deterrents.horn.watchedBy.0: There is no camera yard; the nearest is Yard. Write',
      ),
    )
    expect(told(text('yard: {}'))).toEqual([
      'warning: line 4: deterrents.horn.watchedBy.0: No program has reported the camera yard yet. Until one ' +
        'does, horn does not fire.',
    ])
  })
})

describe('a deterrent without watchedBy', () => {
  const file = (cameras: string, sources: string, watchedBy = '') =>
    `cameras: ${cameras}\nsources: ${sources}\ndeterrents:\n  horn:\n    { driver: http, "on": { url: ` +
    `"http://127.0.0.1/1" }, "off": { url: "http://127.0.0.1/0" }${watchedBy} }\n`
  const shed = '{ shed: { url: "http://127.0.0.1/x" }, gate: { url: "http://127.0.0.1/y" } }'
  const eye = (more: string) => `{ eye: { cameras: [gate]${more} } }`
  const nobody = [
    'warning: line 4: deterrents.horn: No camera watches horn: it fires whether a person is there or not.',
  ]
  const blind = (camera: string) => [
    `warning: line 4: deterrents.horn: Nothing looks at ${camera}, so programs and people in the hub cannot fire ` +
      `horn. \`watchedBy\` names the cameras that matter.`,
  ]
  test.each<[string, string, string[], Partial<KnownNames>?]>([
    ['no camera', file('{}', '{}'), nobody],
    ['an eye that knows no persons', file('{ gate: { url: "http://127.0.0.1/y" } }', eye('')), nobody],
    ['watchedBy without a camera', file(shed, eye(', model: demonstration'), ', watchedBy: []'), nobody],
    ['a camera that the eye leaves out', file(shed, eye(', model: demonstration')), blind('shed')],
    ['cameras without a source', file('{ shed: { url: "http://127.0.0.1/x" } }', '{}'), blind('shed')],
    ['one that no program has reported', file('{ yard: {} }', '{ api: {} }'), blind('yard')],
    ['one that a program reports in another case', file('{ yard: {} }', '{ api: {} }'), [], { programs: ['Yard'] }],
    ['watchedBy', file(shed, eye(', model: demonstration'), ', watchedBy: [gate]'), []],
  ])('%s is told at its own line', (_what, text, warnings, known) => {
    expect(told(text, known)).toEqual(warnings)
  })
})

test('where programs may report anything, what is near to a known name is told', () => {
  const text = (camera: string, label: string, zone = 'path') => `
sources: { api: { loopbackNeedsToken: false } }
cameras: { yard: {} }
deterrents: { horn: ${VALVE}, watchedBy: [] } }
rules: [{ name: A, labels: [${label}], cameras: [${camera}], zones: [${zone}], fire: [horn] }]
`
  const seen = { cameras: ['pond'], labels: ['boar', 'wolf'], zones: ['path'] }
  const rest = (all: string[]) => all.filter((line) => !line.includes('No camera watches'))
  const known = { seen, programs: ['pond'] }
  expect(rest(told(text('pond', 'wolf'), known))).toEqual([])
  expect(rest(told(text('pond', 'lynx', 'tunnel'), known))).toEqual([])
  expect(rest(told(text('Yard', 'wlof', 'Path'), known))).toEqual([
    'line 5: rules.0.cameras.0: There is no camera Yard; the nearest is yard. Write a camera that a program ' +
      'reports below `cameras`, as `NAME: {}`.',
    'warning: line 5: rules.0.labels.0: No source has reported the label wlof yet; the nearest is wolf.',
    'warning: line 5: rules.0.zones.0: No source has reported the zone Path yet; the nearest is path.',
  ])
  expect(rest(told(text('"yrad"', 'persn')))).toContain(
    'warning: line 5: rules.0.labels.0: No source has reported the label persn yet; the nearest is person.',
  )
  // Such a name cannot stand below `cameras`.
  expect(rest(told(text('"Kuhst\u00e4lle"', 'boar'), { programs: ['kuhstaelle'] }))).toEqual([
    'warning: line 5: rules.0.cameras.0: No program has reported the camera Kuhst\u00e4lle yet; the nearest is ' +
      'kuhstaelle.',
  ])
})

test('a file of one mistake after the other is compared for a moment only', () => {
  const name = (index: number) => `${'x'.repeat(90)}${index}`
  const names = Array.from({ length: 60 }, (_, index) => name(index))
  const cameras = names.map((one) => `"${one}": { url: "http://127.0.0.1/" }`).join(', ')
  const rules = Array.from({ length: 100 }, (_, index) => {
    const wrong = Array.from({ length: 20 }, (_each, at) => `"${'y'.repeat(90)}${index} ${at}"`).join(', ')
    return `  - { name: r${index}, labels: [boar], cameras: [${wrong}], fire: [horn] }`
  })
  const text =
    `cameras: { ${cameras} }\nsources: { eye: { cameras: [${names.join(', ')}], model: demonstration } ` +
    `}\ndeterrents: { horn: ${VALVE} } }\nrules:\n${rules.join('\n')}\n`
  expect(told(text)).toHaveLength(20)
})

test('the nearest name differs in case, in signs or in few letters', () => {
  expect(nearest('Gate', ['shed', 'gate'])).toBe('gate')
  expect(nearest('front yard', ['back_yard', 'Front_Yard'])).toBe('Front_Yard')
  expect(nearest('kuhstaelle', ['Kuhställe'])).toBe('Kuhställe')
  for (const near of ['gaet', 'agte', 'gaaet', 'gtea']) expect(nearest(near, ['gate'])).toBe('gate')
  expect(nearest('yrda', ['barn', 'yard'])).toBe('yard')
  expect(nearest('fix', ['cow', 'fox'])).toBe('fox')
  expect(nearest('gate', ['gate', 'barn'])).toBeUndefined()
  expect(nearest('gate', ['barn'])).toBeUndefined()
  expect(nearest('', ['a'])).toBe('a')
  expect(nearest('gate', [])).toBeUndefined()
})

describe('a file that somebody made to be slow', () => {
  test('has its names checked soon, however often they are named', () => {
    const zones = Array.from({ length: 900 }, (_, index) => `z${index}: [[0, 0], [1, 0], [1, 1]]`).join(', ')
    const cameras = Array.from(
      { length: 40 },
      (_, index) => `  c${index}: { url: "http://a.example/", zones: ${index === 0 ? `&z { ${zones} }` : '*z'} }`,
    )
    const names = Array.from({ length: 40 }, (_, index) => `c${index}`)
    const labels = Array.from({ length: 200 }, (_, index) => `other${index}`).join(', ')
    const asked = Array.from({ length: 4_000 }, () => 'z0').join(', ')
    const text = [
      'cameras:',
      ...cameras,
      `sources: { api: {}, eye: { cameras: [${names.join(', ')}], model: demonstration } }`,
      `deterrents: { horn: ${VALVE} } }`,
      `rules: [{ name: A, labels: [${labels}], zones: [${asked}], fire: [horn] }]`,
    ].join('\n')
    const parsed = parseDeviceFile(text, { folder: '/', environment: {} })
    if (parsed.errors) throw new Error(parsed.errors[0]!.message)
    const startedAt = performance.now()
    checkNames(parsed.value, parsed.names, NOTHING)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })

  test('hides no error behind its warnings', () => {
    const far = Array.from({ length: 30 }, (_, index) => `  far${index}: {}`).join('\n')
    const findings = told(eye({ WATCH: 'Gate', CAMERA: 'gaet' }).replace('cameras:\n', `cameras:\n${far}\n`))
    expect(findings.filter((line) => !line.startsWith('warning'))).toEqual([
      'line 36: deterrents.horn.watchedBy.0: There is no camera Gate; the nearest is gate.',
      'line 37: rules.0.cameras.0: There is no camera gaet; the nearest is gate.',
    ])
    expect(findings).toHaveLength(22)
  })
})

test('an error beside a field of a form has no keys of the file', () => {
  const inForm = (message: string) =>
    withoutPath({ line: 1, column: 1, path: ['rules', 0], message: `rules.0: ${message}` })
  expect(inForm('There is no label wolf; there is boar, cat.')).toBe('No detector of this gateway says wolf.')
  expect(inForm('There is no label wolf.')).toBe('No detector of this gateway says wolf.')
  expect(inForm('There is no label baor; the nearest is boar.')).toBe('There is no label baor; the nearest is boar.')
  expect(inForm('Hours that follow the sun need `site` with latitude and longitude.')).toBe(
    'Hours that follow the sun need the latitude and longitude of the place, under Rules.',
  )
})
