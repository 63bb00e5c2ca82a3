import { reportDetections } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { validationInSteps } from './validation-in-steps.ts'

const inSteps = validationInSteps(reportDetections.body!)!
const batchOf = (count: number, change: (index: number) => object = () => ({})) => ({
  detections: Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    camera: 'gate',
    label: 'deer',
    severity: 'detection',
    score: 0.5,
    startedAt: '2026-05-01T10:00:00Z',
    ...change(index),
  })),
})

test('a long list has the same result as the schema alone, and others have their turns meanwhile', async () => {
  const body = batchOf(500, () => ({ camera: ' gate\u200b ' }))
  const expected = reportDetections.body!.parse(structuredClone(body))
  let turns = 0
  let timer = setImmediate(function count() {
    turns++
    timer = setImmediate(count)
  })
  expect(inSteps.isFor(body)).toBe(true)
  expect(await inSteps.validate(body)).toEqual([])
  clearImmediate(timer)
  expect(body).toEqual(expected)
  expect(turns).toBeGreaterThan(10)
})

test('the first step with a mistake names it by its place in the whole list', async () => {
  const body = batchOf(400, (index) => (index === 130 || index === 300 ? { score: 2 } : {}))
  expect((await inSteps.validate(body)).map(({ path }) => path)).toEqual([['detections', 130, 'score']])
})

test.each([
  ['a list that is too long', batchOf(501), ['detections']],
  ['a field beside the list', { ...batchOf(30), other: 1 }, []],
])('%s is found before its items are looked at', async (_what, body, path) => {
  expect((await inSteps.validate(body)).map((issue) => issue.path)).toEqual([path])
})

test.each([
  ['no object', z.string()],
  ['no list', z.strictObject({ name: z.string() })],
  ['a rule over the whole list', z.strictObject({ ids: z.array(z.string()).refine((ids) => new Set(ids).size > 1) })],
  ['a rule over the whole body', z.strictObject({ ids: z.array(z.string()) }).refine(() => true)],
])('a schema with %s is validated at once', (_what, schema) => {
  expect(validationInSteps(schema)).toBeUndefined()
})
