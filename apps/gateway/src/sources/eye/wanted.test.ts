import { Tracker } from '@hedgerow/vision'
import { expect, test } from 'vitest'
import { camerasSettings } from '../../cameras/schema.ts'
import { eyeSettings } from './schema.ts'
import { TRACKING } from './tracking.ts'
import { createWanted } from './wanted.ts'

const OF_MODEL = { person: 0.5, animal: 0.4 }
const size = { width: 640, height: 360 }

function wanted(camera: object = {}, eye: object = {}) {
  const url = 'http://127.0.0.1/'
  const settings = { ...camerasSettings.parse({ a: { url, ...camera } })['a']!, url }
  return createWanted(settings, eyeSettings.parse({ cameras: ['a'], ...eye }), () => OF_MODEL)
}

/** The lowest score, in tenths, with which something with this label is a detection. */
function leastOf(label: string, camera?: object, eye?: object): number | undefined {
  const box = { x: 0.4, y: 0.4, width: 0.1, height: 0.2 }
  const isEnough = (score: number) => {
    const tracker = new Tracker(TRACKING)
    const seen = [0, 200, 400].flatMap((at) => tracker.update([{ box, label, score }], at).seen)
    return seen.some(wanted(camera, eye).track)
  }
  return [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].find(isEnough)
}

test('the score is that of the model for the label; the file says another one', () => {
  expect(['person', 'dog', 'car'].map((label) => leastOf(label))).toEqual([0.5, 0.4, 0.6])
  expect(leastOf('dog', {}, { minimumScore: 0.7 })).toBe(0.7)
  expect(leastOf('dog', {}, { minimumScore: 0.7, scores: { animal: 0.3 } })).toBe(0.3)
  expect(leastOf('dog', { minimumScore: 0.8 }, { scores: { animal: 0.3 } })).toBe(0.8)
  expect(leastOf('dog', { minimumScore: 0.8, scores: { dog: 0.2 } })).toBe(0.2)
})

test('size and shape must fit the label; an object mask is about where it stands', () => {
  const box = { x: 0.4, y: 0.4, width: 0.1, height: 0.4 }
  const seen = (label: string) => ({ box, label, score: 0.9 })
  const isWanted = (label: string, camera?: object, eye?: object) => wanted(camera, eye).sighting(seen(label), size)
  expect(isWanted('person')).toBe(true)
  expect(isWanted('person', {}, { sizes: { person: { minimumArea: 0.05 } } })).toBe(false)
  expect(isWanted('dog', {}, { sizes: { person: { minimumArea: 0.05 } } })).toBe(true)
  expect(isWanted('dog', {}, { sizes: { animal: { maximumArea: 0.03 } } })).toBe(false)
  expect(isWanted('dog', { sizes: {} }, { sizes: { animal: { minimumShape: 1 } } })).toBe(false)
  const upper = [
    [
      [0, 0],
      [1, 0],
      [1, 0.7],
      [0, 0.7],
    ],
  ]
  const lower = [
    [
      [0, 0.7],
      [1, 0.7],
      [1, 1],
      [0, 1],
    ],
  ]
  expect(isWanted('dog', { objectMasks: upper })).toBe(true)
  expect(isWanted('dog', { objectMasks: lower })).toBe(false)
})

test('animal among the labels is any animal', () => {
  const { label } = wanted({}, { labels: ['animal', 'car'] })
  expect(['boar', 'car', 'person', 'bicycle'].map(label)).toEqual([true, true, false, false])
})
