import type { CameraChange } from '@hedgerow/contract/device-interface'
import { expect, test } from 'vitest'
import { cameraEdits } from './edit-camera.ts'
import { applyEdits, NotEditable } from './edit-text.ts'
import { readYaml, writtenOf } from './yaml.ts'

const written = (text: string) => writtenOf(readYaml(text).yaml!.document)
const editCamera = (text: string, name: string, change: CameraChange) =>
  applyEdits(text, cameraEdits(written(text), name, change))

const triangle = (at: number): [number, number][] => [
  [at, 0],
  [1, 0],
  [1, 0.5],
]

const BLOCK = `# The orchard, by the stream
cameras:
  orchard:
    url: !file orchard.url   # a secret
    zones:
      rows: [[0, 0.4], [1, 0.4], [1, 1]] # between the trees
    masks:
      - [[0.8, 0], [1, 0], [1, 0.3]]   # the flag
      - [[0, 0], [0.1, 0], [0.1, 0.1]] # the clock


  gate: { url: "rtsp://viewer:\${GATE_PASSWORD}@198.18.0.30/stream2" } # by the road

sources:
    eye: { cameras:   [orchard, 'gate'] }
`

test('a mask is added and removed on a line of its own; everything else keeps its bytes', () => {
  const added = editCamera(BLOCK, 'orchard', {
    masks: [
      [
        [0.8, 0],
        [1, 0],
        [1, 0.3],
      ],
      [
        [0, 0],
        [0.1, 0],
        [0.1, 0.1],
      ],
      triangle(0.25),
    ],
  })
  expect(added).toBe(BLOCK.replace('# the clock\n', '# the clock\n      - [[0.25, 0], [1, 0], [1, 0.5]]\n'))
  const flag: [number, number][] = [
    [0.8, 0],
    [1, 0],
    [1, 0.3],
  ]
  const removed = editCamera(added, 'orchard', { masks: [triangle(0.25), flag] })
  expect(removed).toBe(added.replace('      - [[0, 0], [0.1, 0], [0.1, 0.1]] # the clock\n', ''))
  expect(editCamera(removed, 'orchard', { masks: [flag, triangle(0.25)] })).toBe(removed)
  const none = editCamera(removed, 'orchard', { masks: [] })
  expect(written(none)).toMatchObject({ cameras: { orchard: { masks: [] } } })
  expect(none).toContain('# between the trees')
})

test('zones are changed, added and removed one by one, also in a group on one line', () => {
  const changed = editCamera(BLOCK, 'orchard', { zones: { rows: triangle(0.1), 'by the gate': triangle(0.2) } })
  expect(changed).toBe(
    BLOCK.replace(
      '[[0, 0.4], [1, 0.4], [1, 1]] # between the trees\n',
      '[[0.1, 0], [1, 0], [1, 0.5]] # between the trees\n      by the gate: [[0.2, 0], [1, 0], [1, 0.5]]\n',
    ),
  )
  const begun = editCamera(BLOCK, 'gate', { zones: { road: triangle(0) }, masks: [triangle(0.3)] })
  expect(begun).toBe(
    BLOCK.replace(
      '/stream2" } # by',
      '/stream2", zones: { road: [[0, 0], [1, 0], [1, 0.5]] }, masks: [[[0.3, 0], [1, 0], [1, 0.5]]] } # by',
    ),
  )
  expect(editCamera(begun, 'gate', { zones: { lane: triangle(0) } })).toBe(begun.replace('{ road: ', '{ lane: '))
})

test('the last zone and the last mask go alone: comments and spacing around them stay', () => {
  const text = `# top
cameras:
  orchard:   { url: "http://198.18.0.1/" }   # odd   spacing


  gate:
    url: "http://198.18.0.2/"
    zones: # these
      # between the trees

      rows: [[0, 0.4],   [1, 0.4], [1, 1]]   # a note
    # about masks
    masks:
      - [[0, 0], [1, 0], [1, 1]]
sources:   { api: {} }
`
  expect(editCamera(text, 'gate', { zones: {}, masks: [] })).toBe(
    text
      .replace('zones: #', 'zones: {} #')
      .replace('rows: [[0, 0.4],   [1, 0.4], [1, 1]]   # a note', '# a note')
      .replace('masks:\n      - [[0, 0], [1, 0], [1, 1]]', 'masks: []'),
  )
  const windows =
    'cameras:\r\n  a:\r\n    url: "http://198.18.0.1/"\r\n    zones:\r\n      # one\r\n      b: [[0, 0], [1, 0], ' +
    '[1, 1]]\r\n'
  expect(editCamera(windows, 'a', { zones: {} })).toBe(
    windows.replace('zones:', 'zones: {}').replace('      b: [[0, 0], [1, 0], [1, 1]]\r\n', ''),
  )
  const zone: [number, number][] = [
    [0, 0],
    [1, 0],
    [1, 0.5],
  ]
  const added = editCamera(windows, 'a', { zones: { b: zone, c: zone }, masks: [zone] })
  expect(added).toContain('      c: [[0, 0], [1, 0], [1, 0.5]]\r\n')
  expect(added).not.toMatch(/(?<!\r)\n/)
})

test('an alias is not edited: the edit would also change its anchor', () => {
  const text = 'cameras:\n  a: &one { url: "http://198.18.0.1/" }\n  b: *one\n'
  expect(() => editCamera(text, 'b', { masks: [triangle(0)] })).toThrow(NotEditable)
})

test('what is empty is not written where there was nothing', () => {
  expect(editCamera(BLOCK, 'gate', { zones: {}, masks: [], objectMasks: [] })).toBe(BLOCK)
})
