import { expect, test } from 'vitest'
import { createProgramCameras } from './program-cameras.ts'

test('a camera of a program looks for two minutes after the last word about it, whatever its case', () => {
  let now = 0
  const noted: string[] = []
  const cameras = createProgramCameras({ names: ['Yard'], note: (name) => void noted.push(name), clock: () => now })
  const states = (told: Parameters<typeof cameras.watch>[0] = new Map()) => [...cameras.watch(told)]
  expect(states(new Map([['Yard', 'off']]))).toEqual([['Yard', 'silent']])
  cameras.heard('yard')
  now = 119_999
  expect(states()).toEqual([['yard', 'looking']])
  expect(states(new Map([['YARD', 'dark']]))).toEqual([['yard', 'dark']])
  now = 120_000
  expect(states(new Map([['yard', 'looking']]))).toEqual([['yard', 'silent']])
  for (; now < 7_000_000; now += 60_000) cameras.heard('yard')
  expect(noted).toEqual(['yard', 'yard'])
  for (let index = 0; index < 400; index++) cameras.heard(`camera ${index}`)
  expect(cameras.names()).toHaveLength(256)
})
